#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Ratios, measured side by side in one go: bench/run.py --ponk build/release/ponk [--only NAME…]

Each comparison takes turns (ours, theirs, ours, …), so that a busy machine hurts both alike, and
reports medians. Nothing is asserted: the goals stand beside the figures. Everything happens in a
scratch folder with its own PONK_HOME.
"""
import argparse
import os
import sys

sys.path.insert(0, os.path.dirname(os.path.abspath(__file__)))
import measures
from bench_place import Place


class Report:
    def __init__(self):
        self.rows = []

    def add(self, what, ours, theirs, result, goal="", met=None):
        word = "" if met is None else ("met" if met else "MISSED")
        self.rows.append((what, ours, theirs, result, goal, word))
        print("  %-52s %s" % (what, result), flush=True)

    def skip(self, what, why):
        self.rows.append((what, "", "", "skipped: " + why, "", ""))
        print("  %-52s skipped: %s" % (what, why), flush=True)

    def show(self):
        head = ("what", "ponk", "other", "result", "goal", "")
        skipped = [row for row in self.rows if row[3].startswith("skipped")]
        table = [head] + [row for row in self.rows if row not in skipped]
        widths = [max(len(row[column]) for row in table) for column in range(6)]
        print()
        for row in table:
            print("  ".join(cell.ljust(width) for cell, width in zip(row, widths)).rstrip())
        for row in skipped:
            print("%s: %s" % (row[0], row[3]))


def main():
    parser = argparse.ArgumentParser(description="Measure ponk beside what people use otherwise.")
    parser.add_argument("--ponk", required=True)
    parser.add_argument("--only", nargs="*", choices=sorted(measures.ALL), help="a part of it")
    parser.add_argument("--repeat", type=int, default=15, help="turns per comparison (default 15)")
    parser.add_argument("--files", type=int, default=10000, help="files of the snapshot comparison")
    parser.add_argument("--megabytes", type=int, default=1024, help="size of the first snapshot")
    parser.add_argument("--log-megabytes", type=int, default=512, help="size of the log")
    parser.add_argument("--scratch", help="where to work (default: a new folder in TMPDIR)")
    options = parser.parse_args()
    report = Report()
    place = Place(options)
    print("%d cores, %s; %d turns each" % (os.cpu_count(), place.machine(), options.repeat))
    try:
        for name in options.only or measures.ALL:
            measures.ALL[name](place, report)
    finally:
        place.close()
    report.show()


if __name__ == "__main__":
    main()
