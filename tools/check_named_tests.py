#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Checks that the tests exist which documents name: tools/check_named_tests.py [ROOT]

A name in backquotes is `tests/FOLDER/test_x.py`, `src/FOLDER/x_test.cpp`, or the name of such a file alone. Each
promise (a row of docs/design/promises.md) names one or more. Prints each problem as file:line: message and exits 1
when there is one.
"""
import os
import re
import sys

from check_layers import tracked_files

NAME = re.compile(r"`((?:[\w.-]+/)*(?:test_\w+\.py|\w+_test\.(?:cpp|py)))`")
ROW = re.compile(r"\| ([A-Z])(\d+) \|")


def problems_of(document, text, files):
    """(line, message) of each; `files` are the paths of the tree."""
    alone = {os.path.basename(path) for path in files}
    last = {}
    for number, line in enumerate(text.splitlines(), 1):
        names = NAME.findall(line)
        for name in names:
            # Placeholders of rules, such as `x_test.cpp`.
            if name not in files and name not in alone and not name.startswith(("x_test.", "test_x.")):
                yield number, f"there is no test '{name}'"
        row = ROW.match(line)
        if not row or not document.endswith("promises.md"):
            continue
        if not names:
            yield number, f"the promise {row[1]}{row[2]} names no test"
        if int(row[2]) != last.get(row[1], 0) + 1:
            yield number, f"a promise is missing before {row[1]}{row[2]}"
        last[row[1]] = int(row[2])


def main():
    root = sys.argv[1] if len(sys.argv) > 1 else os.path.dirname(os.path.dirname(os.path.abspath(__file__)))
    files = {str(path) for path in tracked_files(root)}
    bad = 0
    for path in sorted(files):
        if not path.endswith(".md"):
            continue
        with open(os.path.join(root, path), encoding="utf-8") as file:
            for line, message in problems_of(path, file.read(), files):
                print(f"{path}:{line}: {message}")
                bad += 1
    return 1 if bad else 0


if __name__ == "__main__":
    sys.exit(main())
