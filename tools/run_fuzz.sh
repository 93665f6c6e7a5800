#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0
# tools/run_fuzz.sh SECONDS: builds every fuzz target, then runs each for so long, as many at once as there
# are cores. Finds are kept: new inputs in .cache/fuzz/NAME, crashes in build/asan/fuzz-found/crashes/NAME-…
# The walk begins the same each time, so that a change is judged by what it changed; SEED=0 takes a new one.
set -euo pipefail
cd "$(dirname "$0")/.."
duration=$1
if [[ ! $duration =~ ^[1-9][0-9]*$ ]]; then
    echo "run_fuzz.sh: '$duration' is no number of seconds" >&2
    exit 2
fi
tools/build.sh asan fuzz_targets
mkdir -p build/asan/fuzz-found/crashes build/asan/fuzz-found/logs .cache/fuzz

one() {
    local program=$1 duration=$2 name
    name=$(basename "$program")
    name=${name#fuzz_}
    mkdir -p ".cache/fuzz/$name"
    local seeds=()
    [[ -d fuzz/seeds/$name ]] && seeds=("fuzz/seeds/$name")
    if "$program" -seed="${SEED:-1}" -max_total_time="$duration" -timeout=10 -rss_limit_mb=2048 -print_final_stats=1 \
        -artifact_prefix="build/asan/fuzz-found/crashes/$name-" ".cache/fuzz/$name" "${seeds[@]}" \
        >"build/asan/fuzz-found/logs/$name.log" 2>&1; then
        printf '  %-24s %12s inputs, no complaint\n' "$name" \
            "$(sed -n 's/^stat::number_of_executed_units: *//p' "build/asan/fuzz-found/logs/$name.log")"
    else
        printf '  %-24s FAILED, see build/asan/fuzz-found/logs/%s.log\n' "$name" "$name"
        tail -n 30 "build/asan/fuzz-found/logs/$name.log"
        return 1
    fi
}
export -f one

mapfile -t programs < <(find build/asan/fuzz -type f -name 'fuzz_*' -perm -u+x | sort)
if [[ ${#programs[@]} == 0 ]]; then
    echo "run_fuzz.sh: no fuzz target was built in build/asan/fuzz" >&2
    exit 1
fi
echo "${#programs[@]} fuzz targets, $duration s each"
printf '%s\0' "${programs[@]}" | xargs -0 -P "$(nproc)" -I {} bash -c 'one "$1" "$2"' one {} "$duration"
