# SPDX-License-Identifier: Apache-2.0
"""Two builds of ponk in one run: the one that is measured and an earlier one (--before)."""
import argparse
import collections
import os
import resource

import load_values
import tracking_servers
from bench_place import Place, Times, take_turns
from tracking import CLIENTS, TURNS, load, standing_still, writes


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


def processor_time(pid):
    """Seconds that each kind of thread of a process has used, by the names that it gives them."""
    used = collections.Counter()
    for thread in os.listdir("/proc/%d/task" % pid):
        with open("/proc/%d/task/%s/stat" % (pid, thread)) as stream:
            name, rest = stream.read().split("(", 1)[1].rsplit(")", 1)
        used[name] += sum(map(int, rest.split()[11:13])) / os.sysconf("SC_CLK_TCK")
    return used


def profile_batches(place, server, report):
    """What bounds log-batch: where a call's processor time goes, and how much of the machine's is in use."""
    def of_load_tool():
        used = resource.getrusage(resource.RUSAGE_CHILDREN)
        return used.ru_utime + used.ru_stime

    before, tool = processor_time(server.pid), of_load_tool()
    runs = server.make_runs(server.make_experiment("profile"), CLIENTS)
    done = load(place, server, "log-batch", place.options.seconds, runs)
    share = processor_time(server.pid) - before
    share["the clients"] = of_load_tool() - tool
    each = {name: seconds / done["calls"] * 1e6 for name, seconds in share.most_common() if seconds >= 0.01 * share.total()}
    report.fact("log-batch, processor time of a call",
                ", ".join("%s %.0f" % item for item in each.items()) + " us",
                "%.0f%% of %d cores in use" % (100 * share.total() / done["seconds"] / os.cpu_count(), os.cpu_count()))


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
    with standing_still(servers[1:]):
        profile_batches(place, servers[0], report)
