#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0
# tools/run_fuzz.sh SECONDS: builds every fuzz target, then runs each for so long, as many at once as there
# are cores. New inputs are kept in .cache/fuzz/NAME, crashes in build/asan/fuzz-found/crashes/NAME-…
# The walk begins the same each time, so that a change is judged by what it changed; SEED=0 takes a new one.
# tools/run_fuzz.sh seeds: runs only the inputs in fuzz/seeds/NAME, each once. That explores nothing, so CI can rely on it.
set -euo pipefail
cd "$(dirname "$0")/.."
duration=$1
if [[ $duration != seeds && ! $duration =~ ^[1-9][0-9]*$ ]]; then
    echo "run_fuzz.sh: '$duration' is neither a number of seconds nor 'seeds'" >&2
    exit 2
fi
tools/build.sh asan fuzz_targets
mkdir -p build/asan/fuzz-found/crashes build/asan/fuzz-found/logs .cache/fuzz

one() {
    local program=$1 duration=$2 name
    name=$(basename "$program")
    name=${name#fuzz_}
    local seeds=() limits=(-max_total_time="$duration") found=(".cache/fuzz/$name")
    [[ -d fuzz/seeds/$name ]] && seeds=("fuzz/seeds/$name")
    if [[ $duration == seeds ]]; then
        if [[ ${#seeds[@]} == 0 ]]; then
            echo "  $name: fuzz/seeds/$name is missing" >&2
            return 1
        fi
        limits=(-runs=0) found=()
    else
        mkdir -p "${found[@]}"
    fi
    if "$program" -seed="${SEED:-1}" "${limits[@]}" -timeout=10 -rss_limit_mb=2048 -print_final_stats=1 \
        -artifact_prefix="build/asan/fuzz-found/crashes/$name-" "${found[@]}" "${seeds[@]}" \
        >"build/asan/fuzz-found/logs/$name.log" 2>&1; then
        printf '  %-24s %12s inputs, no failure\n' "$name" \
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
if [[ $duration == seeds ]]; then what="their seeds"; else what="$duration s each"; fi
echo "${#programs[@]} fuzz targets, $what"
printf '%s\0' "${programs[@]}" | xargs -0 -P "$(nproc)" -I {} bash -c 'one "$1" "$2"' one {} "$duration"
