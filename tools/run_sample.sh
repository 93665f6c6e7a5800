#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0
# Trains the MNIST sample as a run on this machine and shows what ponk knows of it.
set -euo pipefail
cd "$(dirname "$0")/.."
ponk=$(realpath "$1")

# The sample asks for `python3`. Where another one stands first on the path and lacks NumPy, the
# system's comes before it.
if ! python3 -c 'import numpy' 2>/dev/null; then
    echo "python3 ($(command -v python3)) has no NumPy; using /usr/bin/python3" >&2
    export PATH="/usr/bin:$PATH"
fi

say() { printf '\n\033[1m%s\033[0m\n' "$*"; }
[[ -t 1 && -z ${NO_COLOR:-} ]] || say() { printf '\n== %s\n' "$*"; }

cd samples/mnist
say "ponk submit -c local train.py    (in samples/mnist)"
"$ponk" experiment submit -c local train.py
/usr/bin/python3 ../../tools/show_run.py "$ponk" last
