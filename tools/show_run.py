#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""The verdict on a run of the MNIST sample: tools/show_run.py PONK RUN

Shows what `ponk history info` shows (record, metrics, curves), then whether the run is what it should
be and what to try next. Fails when it has not completed or read fewer than nine digits of ten.
"""
import json
import os
import subprocess
import sys


def main(ponk, name):
    info = [ponk, "history", "info", name, "-o"]
    subprocess.run(info + ["table"], check=True)
    run = json.loads(subprocess.run(info + ["json"], stdout=subprocess.PIPE, check=True).stdout)
    accuracy = run.get("accuracy") or 0.0
    good = run["status"] == "Completed" and run["exit_code"] == 0 and accuracy >= 0.9
    print("\nRun %s: %s, exit code %s, %s" % (run["run_id"], run["status"], run["exit_code"], run["duration"]))
    print("Accuracy %.4f: %s" % (accuracy, "as it should be (0.9 or more)" if good else "NOT as it should be"))
    shown = os.path.relpath(ponk, os.getcwd())
    print("\nNext, in %s:" % os.getcwd())
    for words, why in (
        ("submit train.py --epochs 20 --hidden 128", "another run"),
        ("ui", "the Workbench page in the browser"),
        ("history list", "all runs with their metrics"),
        ("logs last", "every byte the script wrote"),
        ("history download last -a outputs/loss.png -d /tmp", "a file that it made"),
        ("--help", "what else there is"),
    ):
        print("  %-72s %s" % (shown + " " + words, why))
    return 0 if good else 1


if __name__ == "__main__":
    if len(sys.argv) != 3:
        sys.exit(__doc__)
    sys.exit(main(sys.argv[1], sys.argv[2]))
