# SPDX-License-Identifier: Apache-2.0
"""Reads ponk's YAML with the readers at hand and compares values and types.

    yaml_round_trip.py PATH_OF_yaml_lines [--count N] [--seed S]

Readers: Python's ruamel.yaml (YAML 1.2), PyYAML (YAML 1.1) and libfyaml's fy-tool. Exits 77
(skipped) without any of them.
"""

import argparse
import json
import random
import shutil
import subprocess
import sys

TRICKY = ["yes", "No", "on", "Off", "y", "n", "null", "Null", "~", "true", "False", "3.6", "1e5",
          "12", "-1", "+1", ".5", "5.", "0x1f", "0o17", "017", "1_000", "12:30:00", "2026-03-01",
          "2026-03-01T12:30:05Z", "2026-03-01 12:30", ".inf", "-.inf", ".nan", "", " ", " x", "x ",
          "a: b", "a:", ":", ":a", "a #b", "#a", "- a", "-", "--", "---", "...", "? a", "?", "&a",
          "*a", "!a", "!!str", "|", "|-", ">", "%a", "@a", "`a", "{a", "[a]", "]", "}", ",", "'a'",
          '"a"', "\\", "a\\nb", "=", "<<", "a\tb", "\ta", "a\t", "one\ntwo", "one\ntwo\n",
          "one\n\n", "\none", "\n", " one\ntwo", "one\n  two", "one \ntwo", "one\n\ttwo", "a\rb",
          "a\r\nb", "\x00", "\x1b[0m", "\x7f", "\x85", "\x9b", "\u2028", "\u2029", "\ufeff", "é",
          "日本", "\U0001f600", "\uffff", "# c\nd", "- a\n- b", "a: 1\nb: 2", "--- a\nb", "x" * 300,
          "word " * 60, "k" * 1500, "infinity", "NaN", "0b1", "1e", "e1", "1.2.3", "0197f3a1", "12e34"]


def make(rng, depth=0):
    kind = rng.random()
    if depth > 3 or kind < 0.45:
        return rng.choice(TRICKY) if rng.random() < 0.7 else rng.choice(
            [None, True, False, 0, 7, -3, 2**62, 1.0, 0.5, -2.25e-9, 1e300, 1e16, 123456789.125])
    size = rng.randint(0, 4)
    if kind < 0.7:
        return [make(rng, depth + 1) for _ in range(size)]
    return {rng.choice(TRICKY): make(rng, depth + 1) for _ in range(size)}


def same(left, right):
    if type(left) is not type(right):
        return False
    if isinstance(left, list):
        return len(left) == len(right) and all(map(same, left, right))
    if isinstance(left, dict):
        return list(left) == list(right) and all(same(left[key], right[key]) for key in left)
    return left == right


def readers():
    found = {}
    try:
        from ruamel.yaml import YAML
        reader = YAML(typ="safe", pure=True)
        reader.version = (1, 2)
        found["ruamel.yaml"] = reader.load
    except ImportError:
        pass
    try:
        import yaml
        found["PyYAML"] = yaml.safe_load
    except ImportError:
        pass
    if shutil.which("fy-tool"):
        def by_tool(text):
            done = subprocess.run(["fy-tool", "--dump", "-m", "json", "-"], input=text.encode(),
                                  stdout=subprocess.PIPE, check=True)
            return json.loads(done.stdout)
        found["fy-tool"] = by_tool
    return found


def main():
    arguments = argparse.ArgumentParser()
    arguments.add_argument("program")
    arguments.add_argument("--count", type=int, default=1000)
    arguments.add_argument("--seed", type=int, default=1)
    options = arguments.parse_args()
    found = readers()
    if not found:
        print("skipped: neither ruamel.yaml, PyYAML nor fy-tool is installed")
        sys.exit(77)

    rng = random.Random(options.seed)
    documents = TRICKY + [[text] for text in TRICKY] + [{text: text} for text in TRICKY]
    documents += [make(rng) for _ in range(options.count)]
    lines = "".join(json.dumps(document) + "\n" for document in documents)
    done = subprocess.run([options.program], input=lines.encode(), stdout=subprocess.PIPE, check=True)
    texts = [json.loads(line) for line in done.stdout.splitlines()]
    wrong = 0
    for name, read in found.items():
        for document, text in zip(documents, texts):
            try:
                value = read(text)
            except Exception as error:  # a reader's refusal is a finding like any other
                value = error
            if not same(document, value):
                wrong += 1
                if wrong <= 10:
                    print("%s: %r became\n%s\nread as %r" % (name, document, text, value))
    print("%d documents, readers: %s, %d wrong" % (len(documents), ", ".join(found), wrong))
    sys.exit(1 if wrong or len(texts) != len(documents) else 0)


if __name__ == "__main__":
    main()
