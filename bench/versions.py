# SPDX-License-Identifier: Apache-2.0
"""Two builds of ponk in one run: the one that is measured and an earlier one (--before)."""
import argparse

import load_values
import tracking_servers
from bench_place import Place, Times, take_turns
from tracking import TURNS, standing_still, writes


def versions(place, report):
    if not place.options.before:
        report.skip("versions", "--before names no earlier build")
        return
    before = Place(argparse.Namespace(**{**vars(place.options), "ponk": place.options.before}))
    try:
        compare_submits(place, before, report)
        compare_writes(place, before, report)
    finally:
        before.close()


def compare_submits(place, before, report):
    def submit(one):
        project = one.project("noop", {"noop.py": "pass\n"})
        return lambda: one.time([one.ponk, "submit", "-c", "local", "noop.py"], project)

    ours, theirs = take_turns(place.options.repeat * 2, submit(place), submit(before))
    report.ratio("submit of a no-op, warm daemon : the build before", ours, theirs)


def compare_writes(place, before, report):
    servers = [tracking_servers.Ponk(one) for one in (place, before)]
    for what, expected_of in (("log-metric", load_values.metric_points), ("log-batch", load_values.batch_points)):
        seconds = {server: [] for server in servers}
        for _ in range(TURNS):
            for server in servers:
                with standing_still([other for other in servers if other is not server]):
                    # The load tool of the measured build drives both, so that they get the same requests.
                    rate = writes(place, server, what, expected_of)["rate"]
                seconds[server].append(1 / rate)
        ours, theirs = (Times(seconds[server]) for server in servers)
        report.add("%s, 8 clients : the build before" % what,
                   "%.0f / %.0f a second" % (1 / ours.best, 1 / ours.median),
                   "%.0f / %.0f a second" % (1 / theirs.best, 1 / theirs.median),
                   "%.2fx / %.2fx the rate" % (theirs.best / ours.best, theirs.median / ours.median))
