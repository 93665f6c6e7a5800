#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Shows a run in the terminal: tools/show_run.py PONK RUN

A table of its metrics, the curve of its loss, its verdict and what to try next. Uses the command
line for the run and the daemon's API (docs/design/api.md) for the points of a curve. Fails when
the run has not completed or read fewer than nine digits of ten.
"""
import http.client
import json
import os
import shutil
import socket
import subprocess
import sys

LEVELS = "▁▂▃▄▅▆▇█"


class UnixConnection(http.client.HTTPConnection):
    def __init__(self, path):
        super().__init__("ponk", timeout=20)
        self.path = path

    def connect(self):
        self.sock = socket.socket(socket.AF_UNIX, socket.SOCK_STREAM)
        self.sock.settimeout(self.timeout)
        self.sock.connect(self.path)


def ask(ponk, *words):
    return json.loads(subprocess.run([ponk, *words, "-o", "json"], stdout=subprocess.PIPE, check=True).stdout)


def metric_points(ponk, run_id):
    connection = UnixConnection(ask(ponk, "daemon", "status")["socket"])
    connection.request("GET", "/api/v1/runs/%s/metrics" % run_id)
    answer = connection.getresponse()
    body = json.loads(answer.read())
    if answer.status != 200:
        sys.exit("show_run.py: %s" % body["error"]["message"])
    return body["metrics"]


def curve(points, width, height=8):
    """The values as rows of block characters, highest row first, with a scale on the left."""
    values = [point[2] for point in points]
    columns = min(width, len(values))
    means = []
    for column in range(columns):
        part = values[column * len(values) // columns : (column + 1) * len(values) // columns]
        means.append(sum(part) / len(part))
    low, high = min(0.0, min(means)), max(means)
    span = (high - low) or 1.0
    rows = []
    for row in range(height - 1, -1, -1):
        line = ""
        for mean in means:
            eighths = int(round((mean - low) / span * height * 8)) - row * 8
            line += " " if eighths <= 0 else LEVELS[min(eighths, 8) - 1]
        scale = "%8.3f" % (low + span * (row + 1) / height) if row in (height - 1, 0) else " " * 8
        rows.append("%s │%s" % (scale, line))
    rows.append(" " * 9 + "└" + "─" * columns)
    rows.append(" " * 10 + "step %d%sstep %d" % (points[0][0], " " * max(1, columns - 16), points[-1][0]))
    return rows


def main(ponk, name):
    run = ask(ponk, "history", "info", name)
    metrics = metric_points(ponk, run["run_id"])
    width = shutil.get_terminal_size((80, 24)).columns

    print("\nMetrics of run %s\n" % run["run_id"])
    print("  %-16s %10s %8s" % ("metric", "latest", "points"))
    for key in sorted(metrics):
        print("  %-16s %10.4f %8d" % (key, metrics[key]["latest"], metrics[key]["count"]))
    if "loss" in metrics:
        print("\nloss\n")
        print("\n".join(curve(metrics["loss"]["points"], max(20, min(100, width - 12)))))

    print("\nRun %s: %s, exit code %s, %s" % (run["run_id"], run["status"], run["exit_code"], run["duration"]))
    accuracy = run.get("accuracy") or 0.0
    good = run["status"] == "Completed" and run["exit_code"] == 0 and accuracy >= 0.9
    print("Accuracy %.4f: %s" % (accuracy, "as it should be (0.9 or more)" if good else "NOT as it should be"))
    shown = os.path.relpath(ponk, os.getcwd())
    print("\nNext, in %s:" % os.getcwd())
    for words, why in (
        ("submit train.py --epochs 20 --hidden 128", "another run"),
        ("history list", "all runs with their metrics"),
        ("logs last", "every byte the script wrote"),
        ("history download last outputs/loss.png", "a file that it made"),
        ("--help", "what else there is"),
    ):
        print("  %-62s %s" % (shown + " " + words, why))
    return 0 if good else 1


if __name__ == "__main__":
    if len(sys.argv) != 3:
        sys.exit(__doc__)
    sys.exit(main(sys.argv[1], sys.argv[2]))
