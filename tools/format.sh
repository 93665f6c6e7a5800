#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0
# tools/format.sh write|check: clang-format over every C++ file that git knows or would add.
set -euo pipefail
cd "$(dirname "$0")/.."
mapfile -d '' files < <(git ls-files -z --cached --others --exclude-standard -- 'src/*.[ch]pp' 'fuzz/*.cpp' 'tests/*.[ch]pp' 'bench/*.cpp')
[[ ${#files[@]} -gt 0 ]] || exit 0
if [[ $1 == write ]]; then
    clang-format -i "${files[@]}"
else
    clang-format --dry-run --Werror "${files[@]}"
    echo "${#files[@]} files are formatted"
fi
