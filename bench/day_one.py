# SPDX-License-Identifier: Apache-2.0
"""A repository of 2026: its sources travel; an environment of 5 GB and ignored data of 3 GB (sparse) stay."""
import os
import subprocess
import time

from bench_place import Times, take_turns

GOAL_FIRST = 1.5
GOAL_AGAIN = 0.1
GOAL_COPY = 1.2


def sparse(path, size):
    os.makedirs(os.path.dirname(path), exist_ok=True)
    with open(path, "wb") as file:
        file.truncate(size)


def sources(folder, amount, mark):
    for number in range(amount):
        path = os.path.join(folder, "src", "part%03d" % (number // 20), "module%05d.py" % number)
        os.makedirs(os.path.dirname(path), exist_ok=True)
        with open(path, "w") as file:
            file.write("# %s %d\n" % (mark, number) + "value = %d\n" % number * 60)
    with open(os.path.join(folder, "train.py"), "w") as file:
        file.write("# %s\n" % mark)


def repository(place, name, amount):
    folder = os.path.join(place.folder, name)
    sources(folder, amount, name)
    for number in range(30000):
        sparse(os.path.join(folder, ".venv/lib/p%03d/f%05d.so" % (number // 100, number)), 170000)
    for number in range(30):
        sparse(os.path.join(folder, "data/part%02d.bin" % number), 100 << 20)
    with open(os.path.join(folder, ".gitignore"), "w") as file:
        file.write("data/\n.venv/\n")
    return folder


def disk_of_last_run(place, folder):
    run = place.ask("history", "last", cwd=folder)["run_id"]
    path = os.path.join(place.home, "runs", run, "work")
    until, seen = time.monotonic() + 20, None
    while time.monotonic() < until:  # what is unchanged goes right after the end
        done = subprocess.run(["du", "-s", "--block-size=1", path], capture_output=True)
        now = int(done.stdout.split()[0])
        if done.returncode == 0 and now == seen:
            return now
        seen = now
        time.sleep(0.5)
    return seen


def day_one(place, report):
    place.ask("runs")  # starts the daemon
    ours, theirs = [], []
    for turn in range(3):
        folder = repository(place, "repository%d" % turn, 2000)
        place.run(["git", "init", "-q"], folder)
        ours.append(place.time([place.ponk, "submit", "train.py"], folder))
        theirs.append(place.time(["git", "add", "-A"], folder))
    report.ratio("first submit, 2,000 sources, .venv, data: git add", Times(ours), Times(theirs), GOAL_FIRST)
    again, bare = take_turns(place.options.repeat,
                             lambda: place.time([place.ponk, "submit", "train.py"], folder),
                             lambda: place.time(["python3", "train.py"], folder))
    report.extra("second submit: python3", again, bare, GOAL_AGAIN)
    disk = disk_of_last_run(place, folder)
    report.fact("disk of an ended run that wrote nothing", "", "%d kB" % (disk // 1000), "its new files", disk < 100000)
    folder = os.path.join(place.folder, "many")
    ours, theirs = [], []
    for turn in range(3):
        sources(folder, 50000, "many%d" % turn)
        theirs.append(place.time(["cp", "-r", "--reflink=auto", folder, os.path.join(place.folder, "copy%d" % turn)]))
        ours.append(place.time([place.ponk, "submit", "train.py"], folder))
    report.ratio("submit, 50,000 new sources: cp -r --reflink=auto", Times(ours), Times(theirs), GOAL_COPY)
    again, bare = take_turns(5, lambda: place.time([place.ponk, "submit", "train.py"], folder),
                             lambda: place.time(["cp", "-r", "--reflink=auto", folder, os.path.join(place.folder, "c%f" % time.time())]))
    report.ratio("submit again, 50,000 sources: cp -r --reflink=auto", again, bare, GOAL_COPY)
