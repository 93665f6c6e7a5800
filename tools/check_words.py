#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Finds words that readers stumble over in text for people: tools/check_words.py [ROOT]

Text for people is: string literals of two words or more in src/ and python/ (not of tests), and the
documents, without their code. Prints each place as file:line: message and exits 1 when there is one.
"""
import os
import re
import sys

from check_layers import Problems, tracked_files

# What to find, and what to write instead.
WORDS = [
    (r"anew", "again"),
    (r"mend(?:s|ed|ing)?", "fix"),
    (r"by and by", "automatically, later"),
    (r"for (?:want|lack) of", "out of, without, because … is missing"),
    (r"wish(?:es|ed)?", "request"),
    (r"settles?|settled", "the exact word: wait, resolve, compact, decide"),
    (r"(?:a|the|this|that|your|each|every|another|other|that) box(?:es)?", "machine, host"),
    (r"cancelled|cancelling", "canceled, canceling: as the state of a run is written"),
    (r"2017 form|as in 2017", "a sentence that a reader of today understands"),
    (r"(?<!there )(?<!There )(?:is|are) no(?! (?:longer|more|one)\b)(?= [a-z])", "is not a …"),
    (r"(?:is|are) there already|(?:is|are) here already", "already exists"),
    (r"is made of", "uses, consists of"),
    (r"was told|is told|are told", "reported, shown, given"),
    (r"let us in|let in", "accepted, refused the login"),
]
FORBIDDEN = [(re.compile(r"\b(?:%s)\b" % pattern), instead) for pattern, instead in WORDS]

# Comments and characters have quotes that open no literal.
CPP = re.compile(
    r'//[^\n]*|/\*.*?\*/|(?<![0-9a-fA-F])\'(?:\\.|[^\'\\\n])+\'|^\s*#[^\n]*'
    r'|R"(?P<mark>[^ ()\\\t\n]*)\((?P<raw>.*?)\)(?P=mark)"|"(?P<text>(?:\\.|[^"\\\n])*)"',
    re.DOTALL | re.MULTILINE)
PYTHON = re.compile(r'#[^\n]*|"""(?P<raw>.*?)"""|"(?P<text>(?:\\.|[^"\\\n])*)"|(?P<single>\'(?:\\.|[^\'\\\n])*\')', re.DOTALL)
CODE = re.compile(r"^```.*?^```|^    [^\n]*|`[^`\n]*`", re.DOTALL | re.MULTILINE)
# Old words are the subject here, or the text is that of others.
FREE = ("CHANGELOG.md", "changes/", "docs/corpus.md", "docs/adr/")


def blanked(text):
    return re.sub(r"[^\n]", " ", text)


def literals(source, grammar):
    """(position, text) of each literal; those that follow each other directly are one."""
    found = []
    end = None
    for match in grammar.finditer(source):
        groups = match.groupdict()
        text = next((groups[name] for name in ("text", "raw", "single") if groups.get(name) is not None), None)
        if text is None:
            continue
        if found and end is not None and not source[end : match.start()].strip():
            found[-1] = (found[-1][0], found[-1][1] + text)
        else:
            found.append((match.start(), text))
        end = match.end()
    return found


def texts_of(path, source):
    if path.endswith(".md"):
        return [(0, CODE.sub(lambda match: blanked(match.group(0)), source))]
    grammar = PYTHON if path.endswith(".py") else CPP
    return [(place, text) for place, text in literals(source, grammar) if len(text.split()) > 1]


def is_for_people(path):
    name = os.path.basename(path)
    if path.startswith(FREE) or path == "tools/check_words.py":
        return False
    if path.endswith(".md"):
        return path.startswith("docs/") or path.startswith("samples/") or "/" not in path
    if not path.startswith(("src/", "python/")) or "/testing/" in path:
        return False
    if name.endswith(("_test.cpp", "_test_support.hpp", "_test_support.cpp", "_test.py")):
        return False
    return name.endswith((".cpp", ".hpp", ".py"))


def slips(path, source):
    """(line, word, instead) of each forbidden word."""
    for place, text in texts_of(path, source):
        for pattern, instead in FORBIDDEN:
            for match in pattern.finditer(text):
                line = source.count("\n", 0, place) + 1
                if path.endswith(".md"):
                    line += text.count("\n", 0, match.start())
                yield line, match.group(0), instead


def main(root):
    problems = Problems()
    count = 0
    for path in tracked_files(root):
        if not is_for_people(path):
            continue
        count += 1
        with open(os.path.join(root, path), encoding="utf-8") as stream:
            source = stream.read()
        for line, word, instead in slips(path, source):
            problems.error(path, line, "'%s' in text for people; better: %s" % (word, instead))
    print("%d files checked, %d errors" % (count, problems.errors))
    return 1 if problems.errors else 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1] if len(sys.argv) > 1 else os.path.join(os.path.dirname(os.path.abspath(__file__)), "..")))
