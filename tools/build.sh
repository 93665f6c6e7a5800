#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0
# tools/build.sh PRESET [TARGET…]: configures when needed, with the options in CONFIGURE, and builds with
# all cores.
set -euo pipefail
cd "$(dirname "$0")/.."
preset=$1
shift
log=build/$preset/configure.log
mkdir -p "build/$preset"
if [[ ! -f build/$preset/build.ninja ]]; then
    echo "Configuring $preset …" >&2
    if ! cmake --preset "$preset" ${CONFIGURE:-} >"$log" 2>&1; then
        cat "$log" >&2
        exit 1
    fi
fi
targets=()
[[ $# -gt 0 ]] && targets=(--target "$@")
began=$(date +%s)
NINJA_STATUS="[$preset %f/%t %es] " cmake --build --preset "$preset" -j "${JOBS:-$(nproc)}" "${targets[@]}" >&2
seconds=$(($(date +%s) - began))
if [[ $seconds -gt 1 ]]; then echo "Built $preset in $seconds s" >&2; fi
