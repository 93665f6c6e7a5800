#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0
# tools/guide.sh PONK: builds the user guide into build/guide/site, and fails if a link, an anchor, a command or an
# option that it names does not exist. MkDocs is installed once into .cache/guide-venv.
set -euo pipefail
cd "$(dirname "$0")/.."
ponk=$(realpath "$1")
venv=.cache/guide-venv
if ! cmp -s docs/guide/requirements.txt "$venv/installed"; then
    /usr/bin/python3 -m venv --clear "$venv"
    if ! "$venv/bin/pip" install -q --disable-pip-version-check -r docs/guide/requirements.txt >"$venv/pip.log" 2>&1; then
        tail -n 5 "$venv/pip.log" >&2
        echo "guide.sh: MkDocs cannot be installed from PyPI: see $venv/pip.log, then repeat 'make guide'" >&2
        exit 1
    fi
    cp docs/guide/requirements.txt "$venv/installed"
fi
/usr/bin/python3 tools/make_guide.py "$ponk" build/guide
/usr/bin/python3 tools/check_guide.py "$ponk"
"$venv/bin/mkdocs" build --quiet --strict --config-file docs/guide/mkdocs.yml
/usr/bin/python3 tools/check_guide.py --site build/guide/site
echo "The guide is build/guide/site/index.html"
