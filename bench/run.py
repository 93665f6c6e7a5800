#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Ratios, measured side by side in one go: bench/run.py --ponk build/release/ponk [--only NAME…]

Each comparison takes turns (ours, theirs, ours, …), so that a busy machine hurts both alike, and
reports the best and the median of each. Nothing is asserted: the goals stand beside the figures. Everything happens in a
scratch folder with its own PONK_HOME.
"""
import argparse
import os
import sys

sys.path.insert(0, os.path.dirname(os.path.abspath(__file__)))
import measures
from bench_place import Place, both


class Report:
    """The rows of the table. A goal is met by the median, or by the best alone, which is said."""

    def __init__(self):
        self.rows = []

    def add(self, what, ours, theirs, result, goal="", met=""):
        self.rows.append((what, ours, theirs, result, goal, met))
        print("  %-52s %s" % (what, result or ours), flush=True)

    @staticmethod
    def verdict(best, median):
        return "met" if median else ("met by the best" if best else "MISSED")

    def extra(self, what, ours, theirs, goal):
        best, median = ours.best - theirs.best, ours.median - theirs.median
        self.add(what, both(ours), both(theirs), "+%.1f / +%.1f ms" % (best * 1000, median * 1000),
                 "at most +%.0f ms" % (goal * 1000), self.verdict(best <= goal, median <= goal))

    def ratio(self, what, ours, theirs, goal=None):
        best, median = ours.best / theirs.best, ours.median / theirs.median
        self.add(what, both(ours), both(theirs), "%.2fx / %.2fx" % (best, median),
                 "at most %.1fx" % goal if goal else "", self.verdict(best <= goal, median <= goal) if goal else "")

    def faster(self, what, ours, theirs, goal=None):
        best, median = theirs.best / ours.best, theirs.median / ours.median
        self.add(what, both(ours), both(theirs), "%.1fx / %.1fx faster" % (best, median),
                 "at least %.0fx" % goal if goal else "", self.verdict(best >= goal, median >= goal) if goal else "")

    def rate(self, what, megabytes, ours, theirs=None, goal=None):
        best, median = megabytes / ours.best, megabytes / ours.median
        self.add(what, both(ours), both(theirs) if theirs else "", "%.0f / %.0f MB/s, every byte" % (best, median),
                 "at least %d MB/s" % goal if goal else "", self.verdict(best >= goal, median >= goal) if goal else "")

    def fact(self, what, ours, result, goal="", met=None):
        self.add(what, ours, "", result, goal, "" if met is None else self.verdict(met, met))

    def skip(self, what, why):
        self.rows.append((what, "", "", "skipped: " + why, "", ""))
        print("  %-52s skipped: %s" % (what, why), flush=True)

    def show(self):
        head = ("what", "ponk (best / median)", "other", "result", "goal", "")
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
    parser.add_argument("--before", help="an earlier build of ponk, to be measured beside it (--only versions)")
    parser.add_argument("--only", nargs="*", choices=sorted(measures.ALL), help="a part of it")
    parser.add_argument("--repeat", type=int, default=15, help="turns per comparison (default 15)")
    parser.add_argument("--files", type=int, default=10000, help="files of the snapshot comparison")
    parser.add_argument("--megabytes", type=int, default=1024, help="size of the first snapshot")
    parser.add_argument("--log-megabytes", type=int, default=2048, help="size of the log")
    parser.add_argument("--points", type=int, default=1000000, help="metric points of one script")
    parser.add_argument("--seconds", type=int, default=5, help="of each load on a tracking server")
    parser.add_argument("--runs", type=int, default=100000, help="runs of the search")
    parser.add_argument("--series", type=int, default=1000000, help="points of the chart")
    parser.add_argument("--many-points", type=int, default=10000000, help="points over HTTP into --many-runs")
    parser.add_argument("--many-runs", type=int, default=200)
    parser.add_argument("--curves", type=int, nargs=3, default=(100, 20, 100000), metavar=("RUNS", "KEYS", "POINTS"),
                        help="of one answer with the curves of all of them (makes a database of 5 bytes a point)")
    parser.add_argument("--page", type=int, nargs=3, default=(100000, 1500, 10000000), metavar=("RUNS", "METRICS", "POINTS"),
                        help="what the page shows, beside the pages of others")
    parser.add_argument("--waiting-runs", type=int, default=10000, help="runs that wait for their turn")
    parser.add_argument("--scratch", help="where to work (default: a new folder in TMPDIR)")
    options = parser.parse_args()
    report = Report()
    place = Place(options)
    print("%d cores, %s; load %.1f when it began" % (os.cpu_count(), place.machine(), os.getloadavg()[0]))
    try:
        for name in options.only or measures.ALL:
            measures.ALL[name](place, report)
    finally:
        place.close()
    report.show()


if __name__ == "__main__":
    main()
