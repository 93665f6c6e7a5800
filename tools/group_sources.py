#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""group_sources.py MOST FILE…: which sources of a module can be compiled as one.

Prints one group per line, its files apart by ',', each group of at most MOST files. What a file
declares in its unnamed namespace must not be a word of another file in the group, nor a type of the
headers that one reads: then it means the same there as alone, whatever it is. A group is of one namespace. Files with macros of
their own stay alone.
"""
import functools
import os
import re
import sys

NAMESPACE = re.compile(r"^namespace ([\w:]+) \{$", re.M)
UNNAMED = re.compile(r"^namespace \{$(.*?)^\}  // namespace$", re.M | re.S)
NAMED = re.compile(r"(?:template.*?>\s*)?(?:struct|class|enum class|enum|using|namespace)\s+(\w+)")
OTHER = re.compile(r"[^=(]*?(\w+)(?:\[[^\]]*\])*\s*(?:\(|=|\{|;)")
# What clang-format leaves at the margin and is no declaration of its own.
IGNORED = re.compile(r"\s|//|#|\}|using \w+::|namespace \w+ =|TEST|INSTANTIATE|MATCHER|RC_GTEST|template")
HEADER_TYPE = re.compile(r"^\s*(?:struct|class|enum class|using)\s+(\w+)", re.M)
INCLUDE = re.compile(r'^#include "([^"]+)"', re.M)
# A comment's words and a text's are nobody's names.
NO_CODE = re.compile(r'//[^\n]*|R"\((?:.|\n)*?\)"|"(?:\\.|[^"\\\n])*"')
ROOT = os.path.join(os.path.dirname(os.path.abspath(__file__)), "..", "src")


@functools.lru_cache(maxsize=None)
def types_of(header):
    """The types that a header of ours declares, and those that it reads."""
    try:
        with open(os.path.join(ROOT, header), encoding="utf-8") as file:
            text = file.read()
    except OSError:
        return frozenset()
    return frozenset(HEADER_TYPE.findall(text)).union(*map(types_of, INCLUDE.findall(text)))


class Source:
    def __init__(self, path):
        with open(path, encoding="utf-8") as file:
            text = file.read()
        self.path = path
        namespace = NAMESPACE.search(text)
        self.namespace = namespace.group(1) if namespace else ""
        self.alone = re.search(r"^#define", text, re.M) is not None
        code = NO_CODE.sub('""', text)
        self.words = set(re.findall(r"[A-Za-z_]\w*", code)).union(*map(types_of, INCLUDE.findall(text)))
        self.own = set()
        for part in UNNAMED.finditer(text):
            for line in NO_CODE.sub('""', part.group(1)).split("\n"):
                if line and not IGNORED.match(line):
                    found = NAMED.match(line) or OTHER.match(line)
                    if found:
                        self.own.add(found.group(1))


class Group:
    def __init__(self, namespace):
        self.namespace, self.paths, self.own, self.words = namespace, [], set(), set()

    def takes(self, source, most):
        if self.namespace != source.namespace or self.alone or len(self.paths) == most:
            return False
        return not (self.own & source.words or source.own & self.words)

    def add(self, source):
        self.paths.append(source.path)
        self.alone = source.alone
        self.own |= source.own
        self.words |= source.words


def main():
    most = int(sys.argv[1])
    groups = []
    for source in map(Source, sys.argv[2:]):
        group = None if source.alone else next((g for g in groups if g.takes(source, most)), None)
        if group is None:
            group = Group(source.namespace)
            groups.append(group)
        group.add(source)
    for group in groups:
        print(",".join(group.paths))


if __name__ == "__main__":
    main()
