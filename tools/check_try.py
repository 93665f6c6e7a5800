#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Finds every TRY that stands in a braced initializer behind another element: tools/check_try.py [ROOT]

Compilers forget to destroy the elements before it when it leaves the function (docs/pitfalls.md), so what
they own leaks. Prints each place as file:line: message and exits 1 when there is one.
"""
import os
import re
import sys

from check_layers import Problems, tracked_files

# What has brackets without meaning them: comments, raw strings, strings, characters (but not 1'000).
QUIET = re.compile(r'//[^\n]*|/\*.*?\*/|R"([^ ()\\\t\n]*)\(.*?\)\1"|"(?:\\.|[^"\\\n])*"|(?<![0-9a-fA-F])\'(?:\\.|[^\'\\\n])+\'', re.DOTALL)
TOKEN = re.compile(r"\bTRY\s*\(|[][(){};,]")
OPENING = {")": "(", "]": "[", "}": "{"}


def without_texts(source):
    """The same length and lines, with blanks for what QUIET matches."""
    return QUIET.sub(lambda match: re.sub(r"[^\n]", " ", match.group(0)), source)


class Bracket:
    def __init__(self, kind):
        self.kind = kind
        self.commas = 0
        self.is_block = False  # has a statement of its own, unlike an initializer
        self.suspects = []  # places of TRY behind a comma


def late_tries(source):
    """Positions of each TRY in an initializer behind another element."""
    found = set()
    stack = []
    for match in TOKEN.finditer(without_texts(source)):
        token = match.group(0)
        if token.startswith("TRY"):
            # Whether a brace around it is a block is known at its end.
            for bracket in stack:
                if bracket.kind == "{" and bracket.commas:
                    bracket.suspects.append((match.start(), list(stack)))
            stack.append(Bracket("("))
        elif token in "([{":
            stack.append(Bracket(token))
        elif token in OPENING:
            if not stack or stack[-1].kind != OPENING[token]:
                return sorted(found)  # brackets in macros: nothing to rely on from here
            closed = stack.pop()
            if closed.kind == "{" and not closed.is_block:
                for place, around in closed.suspects:
                    inside = around[around.index(closed) + 1 :]
                    if not any(bracket.is_block for bracket in inside):
                        found.add(place)
        elif stack and token == ",":
            stack[-1].commas += 1
        elif stack and stack[-1].kind == "{":
            stack[-1].is_block = True
    return sorted(found)


def main(root):
    problems = Problems()
    count = 0
    for path in tracked_files(root):
        if not path.startswith(("src/", "bench/", "fuzz/")) or not path.endswith((".cpp", ".hpp")):
            continue
        count += 1
        with open(os.path.join(root, path), encoding="utf-8") as stream:
            source = stream.read()
        for place in late_tries(source):
            line = source.count("\n", 0, place) + 1
            problems.error(path, line, "TRY behind another element of an initializer leaks that element when it fails: take its value before")
    print("%d files looked at, %d errors" % (count, problems.errors))
    return 1 if problems.errors else 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1] if len(sys.argv) > 1 else os.path.join(os.path.dirname(os.path.abspath(__file__)), "..")))
