# SPDX-License-Identifier: Apache-2.0
"""The curves of many runs in one answer: what they cost the daemon, and what decoding all points costs."""
import os
import subprocess
import time

import tracking_servers
from bench_place import Times
from waiting_runs import Daemon

GOAL_SECONDS = 0.3
TURNS = 5


def processor_seconds(pid):
    with open("/proc/%d/stat" % pid) as stream:
        words = stream.read().rpartition(")")[2].split()
    return (int(words[11]) + int(words[12])) / os.sysconf("SC_CLK_TCK")


def tool_of(place):
    for folder in ("bench", ""):
        tool = os.path.join(os.path.dirname(place.ponk), folder, "ponk_curves_tool")
        if os.path.exists(tool):
            return tool
    raise RuntimeError("ponk_curves_tool is not beside this ponk; build it: tools/build.sh release ponk_curves_tool")


def curves(place, report):
    runs, keys, points = place.options.curves
    place.stop_daemon()
    place.ask("runs")  # makes the home
    place.stop_daemon()
    history = os.path.join(place.home, "history")
    if os.path.isdir(history):
        os.rename(history, history + ".empty")
    # Run by itself it also measures; here it only fills.
    subprocess.run([tool_of(place), history, str(runs), str(keys), str(points), "fill"], check=True, stdin=subprocess.DEVNULL)
    place.ask("runs")
    daemon = Daemon(os.path.join(place.home, "daemon.sock"))
    pid = daemon.ask("GET", "/daemon")["pid"]
    time.sleep(2)  # what a daemon does when it has started
    what = {"runs": ["01955211aa03700080000000%08x" % number for number in range(runs)],
            "keys": ["metric%02d" % number for number in range(keys)], "width": 800}

    def taken(**more):
        before = processor_seconds(pid)
        size = daemon.size_of("POST", "/curves", {**what, **more})
        return processor_seconds(pid) - before, size

    for name, more, goal in (("", {}, GOAL_SECONDS), (", relative times", {"x": "relative"}, None),
                             (", smoothed: all points are decoded", {"smooth": 0.6}, None)):
        answers = [taken(**more) for _ in range(TURNS)]
        times = Times([seconds for seconds, _ in answers])
        report.fact("curves of %d x %d x %d points%s" % (runs, keys, points, name),
                    "%.2f / %.2f s CPU of the daemon" % (times.best, times.median),
                    "%.0f MB of answer" % (answers[0][1] / 1e6),
                    "at most %.1f s" % goal if goal else "", times.median <= goal if goal else None)
    report.fact("  resident memory of the daemon then", "%.1f MB" % (tracking_servers.resident([pid]) / 1e6), "")
    place.stop_daemon()
