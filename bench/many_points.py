# SPDX-License-Identifier: Apache-2.0
"""A great many points in a great many runs, over HTTP: what they cost on the disk, and how fast they are drawn."""
import os
import time

import load_values
import tracking_servers
from tracking import Different, compare_points, load, timed

KEYS = load_values.KEYS_OF_BATCH


def size_of(folder):
    """Without the copy of the database that is made each day: whether it falls into a measurement is chance."""
    return sum(os.path.getsize(os.path.join(path, name)) for path, _, names in os.walk(folder)
               for name in names if os.path.basename(path) != "backups")


def expected(kind, client, points):
    """One key of a run, as it was sent."""
    import struct
    narrow = (lambda value: struct.unpack("f", struct.pack("f", value))[0]) if kind == "floats" else (lambda value: value)
    return {"metric 0": {(n // KEYS, load_values.time(client, n // KEYS), narrow(load_values.value(client, n)))
                         for n in range(0, points, KEYS)}}


def fill(place, report, kind, points, goal):
    options = place.options
    each = max(KEYS, points // options.many_runs)
    server = tracking_servers.Ponk(place)
    runs = server.make_runs(server.make_experiment("many " + kind), options.many_runs)
    before = size_of(place.home)
    result = load(place, server, kind, each, runs)
    server.close()  # and all of the log is in the database
    bytes_each = (size_of(place.home) - before) / (each * len(runs))
    what = "%d points in %d runs, %s" % (each * len(runs), len(runs), kind)
    report.fact(what, "%.0f s" % result["seconds"], "%.2f bytes a point, %.0f points/s" % (
        bytes_each, each * len(runs) / result["seconds"]), "under %d bytes" % goal, bytes_each < goal)
    server = tracking_servers.Ponk(place)
    for client in (0, len(runs) - 1):
        compare_points(server, runs[client], expected(kind, client, each))
    for count in (1, 10):
        fields = {"run_ids": runs[:count], "metric_key": "metric 3", "max_results": 1000}
        taken, answer = timed(server, 15, "GET", "metrics/get-history-bulk-interval", fields)
        if not answer.get("metrics"):
            raise Different("an empty chart")
        report.fact("chart of %d of them at 1000 pixels" % count, "%.1f / %.1f ms" % (taken.best * 1000, taken.median * 1000),
                    "", "under 50 ms", taken.median < 0.05)
    taken, _ = timed(server, 15, "GET", "runs/get", {"run_id": runs[-1]})
    report.fact("runs/get of one of them", "%.2f / %.2f ms" % (taken.best * 1000, taken.median * 1000), "")
    report.fact("resident memory of the daemon", "%.1f MB" % (tracking_servers.resident(server.pids()) / 1e6), "")
    server.close()


def many_points(place, report):
    # What a point takes does not depend on how many there are: the second kind need not be as many.
    for kind, points, goal in (("floats", place.options.many_points, 6),
                               ("doubles", min(place.options.many_points, 100_000_000), 9)):
        began = time.monotonic()
        fill(place, report, kind, points, goal)
        print("    %s took %.0f s in all" % (kind, time.monotonic() - began))
