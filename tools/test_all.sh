#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0
# Everything CI checks, one step after another. Stops at the first step that fails. Its last lines name every
# step of the list with its result, so that no step can be left out unseen.
#     STEPS="unit e2e" tools/test_all.sh     only those steps
#     FULL=1 tools/test_all.sh               also what takes long: matrices, storms, fuzzing, installers
set -uo pipefail
cd "$(dirname "$0")/.."
jobs=${JOBS:-$(nproc)}
release=build/release/ponk
full=${FULL:-0}
# Property tests walk the same way each time; RC_PARAMS="" takes another walk.
export RC_PARAMS=${RC_PARAMS-seed=1} PONK_TEST_FULL=$full
declare -A result=() seconds=()
order=()
selected=0
steps=(format tree release page dependencies guide packages e2e e2e-long mlflow corpus storm storm-tracking
       asan-build unit integration docker host ssh slurm gpu fuzz-seeds tsan-build tsan)
only_full=(headers environment fuzz storm-remote)
[[ $full == 1 ]] && steps+=("${only_full[@]}")

for wanted in ${STEPS:-}; do
    if [[ " ${steps[*]} ${only_full[*]} " != *" $wanted "* ]]; then
        echo "test_all.sh: there is no step '$wanted'; steps: ${steps[*]} ${only_full[*]}" >&2
        exit 2
    fi
done

summary() {
    echo
    echo "Steps of make test$([[ $full == 1 ]] && echo -full):"
    for name in "${order[@]}"; do
        printf '  %-14s %-11s %6s s\n' "$name" "${result[$name]:-not run}" "${seconds[$name]:-0}"
    done
}

# A failure, a signal (CI's time limit is one) and the end print the same list.
at_end() {
    local code=$?
    [[ -n $beside ]] && kill -- "-$beside" 2>/dev/null
    summary
    if [[ $code == 0 ]]; then
        echo "make test: all $selected steps passed"
    else
        echo "make test: FAILED in step '${current:-}'. Repeat it alone with: make test STEPS=${current:-}" >&2
    fi
    exit "$code"
}

step() {
    local name=$1 began=$EPOCHSECONDS
    shift
    [[ " ${order[*]} " == *" $name "* ]] || return 0
    printf '\n== %s: %s\n' "$name" "$*"
    current=$name
    result[$name]=unfinished
    mkdir -p build/test-logs
    if "$@" 2>&1 | tee "build/test-logs/$name.log"; then
        result[$name]=ok seconds[$name]=$((EPOCHSECONDS - began))
        return 0
    fi
    result[$name]=FAILED seconds[$name]=$((EPOCHSECONDS - began))
    printf '\nThe end of build/test-logs/%s.log:\n' "$name"
    grep -v -E '^\[[a-z]* ?[0-9]+/|^ *[0-9]+/[0-9]+ Test .*Passed|PASSED' "build/test-logs/$name.log" | tail -n 40
    exit 1
}

# tests PRESET [OPTION…]: ctest, and which cases had no place to run: their programs say why in build/PRESET/Testing.
tests() {
    local preset=$1 code=0
    shift
    ctest --preset "$preset" -j "$jobs" "$@" || code=$?
    sed -n 's/^\[  SKIPPED \] \([A-Za-z0-9_/]*\.[A-Za-z0-9_/]*\)$/skipped: \1/p' "build/$preset/Testing/Temporary/LastTest.log" | sort -u
    return "$code"
}

# Builds for sanitizers, in the time that suites spend waiting: they run when no other process wants the processor.
build_beside() {
    [[ -z ${STEPS:-} ]] || return 0
    mkdir -p build/test-logs
    # A process group but not a session: kernels share the processor out among sessions first.
    set -m
    chrt --idle 0 bash -c 'tools/build.sh asan test_programs fuzz_targets && tools/build.sh tsan thread_tests' \
        >build/test-logs/beside.log 2>&1 &
    beside=$!
    set +m
}
# Builds in the foreground what is still missing, with its messages: two builds in one folder would collide.
build_asan() {
    if [[ -n $beside ]]; then
        kill -- "-$beside" 2>/dev/null
        while kill -0 -- "-$beside" 2>/dev/null; do sleep 0.2; done
    fi
    tools/build.sh asan test_programs fuzz_targets
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

# The shape of the tree, which no compiler is needed for.
check_tree() {
    local check
    for check in check_layers.py check_layers_test.py check_try.py check_try_test.py check_words.py check_words_test.py check_named_tests.py check_named_tests_test.py check_guide_test.py group_sources_test.py; do
        /usr/bin/python3 "tools/$check" || return 1
    done
    mkdir -p build
    /usr/bin/python3 tools/pack_samples.py samples build/samples.zip
}

# by_size CI FULL: the first in CI, the second in make test-full.
by_size() { if [[ $full == 1 ]]; then echo "$2"; else echo "$1"; fi; }

storm() {
    /usr/bin/python3 tests/storms/storm.py --ponk "$release" --kills "$(by_size 60 2000)" --runs "$(by_size 15 500)" --seed "${SEED:-1}"
}
storm_tracking() {
    /usr/bin/python3 tests/storms/storm_tracking.py --ponk "$release" --kills "$(by_size 20 200)" --seed "${SEED:-1}"
}
storm_remote() {
    /usr/bin/python3 tests/integration/host/storm_remote.py --ponk "$release" --cuts 500 --seed "${SEED:-1}"
}
page() {
    tools/page.sh && tools/pytest.sh "$release" tests/browser
}
lease_storm() {
    build/asan/tests/integration/gpu/lease_storm -n "$(by_size 200 1000)" -s "${SEED:-1}"
}

# Files of tests/e2e that build environments, fill disks or wait for GPUs: half of its time.
long=(environments full_disk gpu gpu_queue gpu_required gpu_verdict gpu_view integrity)
e2e_quick() {
    tools/pytest.sh "$release" tests/e2e $(printf -- '--ignore=tests/e2e/test_%s.py ' "${long[@]}")
}
e2e_long() {
    tools/pytest.sh "$release" $(printf 'tests/e2e/test_%s.py ' "${long[@]}")
}

beside="" current=""
for name in "${steps[@]}" $([[ -n ${STEPS:-} ]] && echo "${only_full[@]}"); do
    [[ -n ${STEPS:-} && " $STEPS " != *" $name "* ]] && continue
    [[ " ${order[*]} " == *" $name "* ]] || order+=("$name")
done
selected=${#order[@]}
trap at_end EXIT
trap 'exit 143' TERM
trap 'exit 130' INT

step format tools/format.sh check
step tree check_tree
# What users get, without a warning.
step release env CONFIGURE="-DPONK_WERROR=ON" tools/build.sh release ponk ponk_next
build_beside
# The page: types, texts, size, and what people do with it in a browser.
step page page
step dependencies check_dependencies
step guide tools/guide.sh "$release"
step packages tools/pytest.sh "$release" tests/integration/packages
step e2e e2e_quick
step e2e-long e2e_long
step mlflow tools/pytest.sh "$release" tests/integration/mlflow
step corpus tools/pytest.sh "$release" tests/corpus
step storm storm
step storm-tracking storm_tracking
# All compiled tests are built once, with the address and undefined-behaviour sanitizers.
step asan-build build_asan
# Twice the cores: some wait most of the time.
step unit tests asan -L unit -j $((2 * jobs))
step integration tests asan -L integration
step docker tools/pytest.sh "$release" tests/integration/docker
step host tools/pytest.sh "$release" tests/integration/host
step ssh tools/pytest.sh "$release" tests/integration/ssh
step slurm tools/pytest.sh "$release" tests/integration/slurm
# GPU leases: processes of two users on real lock files.
step gpu lease_storm
step fuzz-seeds tools/run_fuzz.sh seeds
step tsan-build tools/build.sh tsan thread_tests
step tsan tools/without_aslr.sh ctest --preset tsan -j "$jobs"
step headers tools/build.sh dev check_headers
step environment tools/pytest.sh build/asan/tests/integration/environment/prepare_probe tests/integration/environment
step fuzz tools/run_fuzz.sh "${SECONDS_EACH:-60}"
step storm-remote storm_remote
