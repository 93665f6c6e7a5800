#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0
# tools/tidy.sh JOBS: clang-tidy over the sources of build/dev's compile commands, tests left out.
set -euo pipefail
cd "$(dirname "$0")/.."
git ls-files -z -- 'src/*.cpp' | grep -zv -e '_test\.cpp$' -e '_library\.cpp$' |
    xargs -0 -n 4 -P "$1" clang-tidy -p build/dev --quiet
