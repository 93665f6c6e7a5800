#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0
# The page: types, catalogues, build, sizes. Nothing of an installed package runs while it is installed.
set -euo pipefail
cd "$(dirname "$0")/../web"
in_node() { ../tools/node.sh "$@"; }
# Installed again only when the list of packages is another one.
if ! cmp -s package-lock.json node_modules/.ponk-lock; then
    in_node npm ci --no-audit --no-fund
    cp package-lock.json node_modules/.ponk-lock
fi
in_node npm run check
in_node npm run build
