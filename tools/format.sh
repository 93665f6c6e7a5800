#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0
# tools/format.sh write|check: clang-format over every C++ file that git knows or would add.
set -euo pipefail
cd "$(dirname "$0")/.."
mapfile -d '' files < <(git ls-files -z --cached --others --exclude-standard -- 'src/*.[ch]pp' 'fuzz/*.cpp' 'tests/*.[ch]pp' 'bench/*.cpp')
[[ ${#files[@]} -gt 0 ]] || exit 0
on_all() { printf '%s\0' "${files[@]}" | xargs -0 -n 50 -P "$(nproc)" clang-format "$@"; }
if [[ $1 == write ]]; then
    on_all -i
else
    on_all --dry-run --Werror
    echo "${#files[@]} files are formatted"
fi
