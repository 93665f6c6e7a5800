#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0
# Everything CI asks, one step after another. Stops at the first step that fails, and ends with one
# line per step in any case. STEPS="unit e2e" runs only those. LIMIT=80: suites of other machines and storms
# that would not be over after so many minutes are left out, which the summary says.
set -uo pipefail
cd "$(dirname "$0")/.."
jobs=${JOBS:-$(nproc)}
began_all=$EPOCHSECONDS
release=build/release/ponk
names=() results=() times=()
summary() {
    echo
    echo "Steps of make test:"
    for i in "${!names[@]}"; do printf '  %-14s %-7s %6s s\n' "${names[$i]}" "${results[$i]}" "${times[$i]}"; done
}

step() {
    local name=$1 began=$EPOCHSECONDS
    shift
    if [[ -n ${STEPS:-} && " $STEPS " != *" $name "* ]]; then return; fi
    printf '\n== %s: %s\n' "$name" "$*"
    names+=("$name")
    mkdir -p build/test-logs
    if "$@" 2>&1 | tee "build/test-logs/$name.log"; then
        results+=("ok") times+=($((EPOCHSECONDS - began)))
    else
        results+=("FAILED") times+=($((EPOCHSECONDS - began)))
        summary
        printf '\nThe end of build/test-logs/%s.log:\n' "$name"
        grep -v -E '^\[[a-z]* ?[0-9]+/|^ *[0-9]+/[0-9]+ Test .*Passed|PASSED' "build/test-logs/$name.log" | tail -n 40
        echo "make test: step '$name' failed. Repeat it alone with: make test STEPS=$name" >&2
        exit 1
    fi
}

left_out=""
# step_of MINUTES NAME COMMAND…: a suite that takes about so long.
step_of() {
    local minutes=$1 name=$2
    shift
    if [[ -n ${STEPS:-} && " $STEPS " != *" $name "* ]]; then return; fi
    if (((EPOCHSECONDS - began_all) / 60 + minutes > ${LIMIT:-1000000})); then
        names+=("$name") results+=("no time") times+=(0)
        left_out+=" $name"
        return
    fi
    step "$@"
}

# tests PRESET [OPTION…]: ctest, and which cases had no place to run: their programs say why in build/PRESET/Testing.
tests() {
    local preset=$1 code=0
    shift
    ctest --preset "$preset" -j "$jobs" "$@" || code=$?
    sed -n 's/^\[  SKIPPED \] \([A-Za-z0-9_/]*\.[A-Za-z0-9_/]*\)$/skipped: \1/p' "build/$preset/Testing/Temporary/LastTest.log" | sort -u
    return "$code"
}

# Builds for sanitizers and fuzzers, in the time that suites spend waiting: they run when nobody else wants to.
beside=""
build_beside() {
    [[ -z ${STEPS:-} ]] || return 0
    mkdir -p build/test-logs
    # A group of processes but no session: kernels share the processor out among sessions first.
    set -m
    chrt --idle 0 bash -c 'tools/build.sh asan fuzz_targets && tools/build.sh asan unit_tests && tools/build.sh tsan thread_tests' \
        >build/test-logs/beside.log 2>&1 &
    beside=$!
    set +m
    trap 'kill -- "-$beside" 2>/dev/null' EXIT
}
# What that did not build yet, or could not, is built here, with its messages: two do not build in one folder.
fuzz_build() {
    if [[ -n $beside ]]; then
        kill -- "-$beside" 2>/dev/null
        while kill -0 -- "-$beside" 2>/dev/null; do sleep 0.2; done
    fi
    tools/build.sh asan fuzz_targets
}

# The binary may need what every distribution has, and nothing else.
check_dependencies() {
    local foreign
    foreign=$(objdump -p "$release" | awk '/NEEDED/ {print $2}' |
        grep -v -E '^(libc|libm|libpthread|libdl|librt|libresolv|ld-linux[a-z0-9_-]*)\.so\.[0-9]+$' || true)
    if [[ -n $foreign ]]; then
        echo "$release needs" $foreign >&2
        return 1
    fi
    ls -l "$release"
}

storm() {
    /usr/bin/python3 tests/storms/storm.py --ponk "$release" --kills 200 --runs 50 --seed "${SEED:-1}"
}

storm_tracking() {
    /usr/bin/python3 tests/storms/storm_tracking.py --ponk "$release" --kills 40 --seed "${SEED:-1}"
}

# Its packages by name, where they are missing; users are made for it and removed again.
ssh_suite() {
    tools/install_needs.sh test && tools/pytest.sh "$release" tests/integration/ssh
}

# Files of tests/e2e that build environments, fill disks or wait for GPUs: half of its time.
long=(environments full_disk gpu gpu_queue gpu_required gpu_verdict gpu_view integrity)
e2e_quick() {
    tools/pytest.sh "$release" tests/e2e $(printf -- '--ignore=tests/e2e/test_%s.py ' "${long[@]}")
}
e2e_long() {
    tools/pytest.sh "$release" $(printf 'tests/e2e/test_%s.py ' "${long[@]}")
}

step format tools/format.sh check
# Where nothing is built yet it is built in one go; a developer's folder stays as it is.
step build env CONFIGURE="-DPONK_PRECOMPILE=ON -DPONK_TOGETHER=ON" tools/build.sh dev
# Twice the cores: some wait most of the time.
step unit tests dev -L 'unit|tree' -j $((2 * jobs))
# Takes minutes and finds little: only when asked for.
[[ ${STEPS:-} == *headers* ]] && step headers tools/build.sh dev check_headers
step release tools/build.sh release ponk ponk_next
build_beside
step dependencies check_dependencies
step integration tests dev -LE 'unit|tree|slow'
step e2e e2e_quick
step_of 7 mlflow tools/pytest.sh "$release" tests/integration/mlflow
step_of 8 e2e-long e2e_long
step_of 2 storm-tracking storm_tracking
# Where these would be left out something is wrong with the machine.
step_of 12 fuzz-build fuzz_build
step_of 6 fuzz tools/run_fuzz.sh 10
step_of 12 asan-build tools/build.sh asan unit_tests
step_of 12 asan tests asan
step_of 12 tsan-build tools/build.sh tsan thread_tests
step_of 12 tsan tools/without_aslr.sh ctest --preset tsan -j "$jobs"
step_of 5 corpus tools/pytest.sh "$release" tests/corpus
step_of 10 docker tools/pytest.sh "$release" tests/integration/docker
step_of 6 box tools/pytest.sh "$release" tests/integration/box
# Four minutes of package installers: only when asked for (a run in a container prepares one above).
[[ ${STEPS:-} == *environment* ]] && step environment tools/pytest.sh build/dev/tests/integration/environment/prepare_probe tests/integration/environment
# Leases: 1,000 processes of two users on real lock files.
step_of 3 gpu tests dev -L gpu -j 1
step_of 6 storm storm
step_of 10 ssh ssh_suite
summary
echo "make test: all ${#names[@]} steps passed${left_out:+ but those without time:$left_out}"
