#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0
# tools/pytest.sh PONK FOLDER [WORD…]: the tests of that folder against that binary, with Debian's pytest
# and NumPy. What only PyPI has (pyspark, jmespath, playwright, validators) is installed once into .cache/venv; where that fails,
# the tests that need it skip with their reason.
set -euo pipefail
cd "$(dirname "$0")/.."
ponk=$(realpath "$1")
shift
extra=(jmespath==1.0.1 openapi-spec-validator==0.7.1)
[[ ${PONK_TEST_SPARK:-0} == 1 ]] && extra+=(pyspark==3.5.3)
# Drives Debian's Chromium; it brings no browser of its own.
[[ " $* " == *" tests/browser"* ]] && extra+=(playwright==1.65.2)
export PLAYWRIGHT_SKIP_BROWSER_DOWNLOAD=1
if [[ ! -x .cache/venv/bin/python ]]; then
    /usr/bin/python3 -m venv --system-site-packages .cache/venv
fi
stamp=.cache/venv/installed
if [[ $(cat "$stamp" 2>/dev/null || true) != "${extra[*]}" ]]; then
    if .cache/venv/bin/pip install -q --disable-pip-version-check "${extra[@]}" >.cache/venv/pip.log 2>&1; then
        echo "${extra[*]}" >"$stamp"
    else
        echo "PyPI cannot be reached (.cache/venv/pip.log); tests that need ${extra[*]} will skip" >&2
    fi
fi
# Tests marked `full` are for make test-full.
selection=()
[[ ${PONK_TEST_FULL:-0} == 1 ]] || selection=(-m "not full")
PONK_BIN=$ponk exec .cache/venv/bin/python -m pytest -q -p no:cacheprovider "${selection[@]}" "$@"
