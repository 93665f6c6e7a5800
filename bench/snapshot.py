#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""The snapshot module alone beside git: bench/snapshot.py --tool build/release/bench/ponk_snapshot_tool

Whole processes are timed, ours and git's in turn, and medians are shown: a busy machine hurts both.
"""
import argparse
import itertools
import os
import random
import shutil
import statistics
import subprocess
import sys
import tempfile
import time

ENVIRONMENT = {**os.environ, "GIT_CONFIG_GLOBAL": "/dev/null", "GIT_AUTHOR_NAME": "a", "GIT_AUTHOR_EMAIL": "a@example.org",
               "GIT_COMMITTER_NAME": "a", "GIT_COMMITTER_EMAIL": "a@example.org"}


def run(*words, cwd=None):
    began = time.perf_counter()
    done = subprocess.run(words, cwd=cwd, env=ENVIRONMENT, check=True, stdout=subprocess.PIPE, text=True)
    return time.perf_counter() - began, done.stdout


def many_files(folder, count):
    for index in range(count):
        below = os.path.join(folder, "package%d" % (index // 100))
        os.makedirs(below, exist_ok=True)
        with open(os.path.join(below, "module%d.py" % index), "w") as stream:
            stream.write("# module %d\n" % index * 40)


def large_files(folder, megabytes):
    """Half noise (weights, images), half text (tables), in files from 256 KiB to 64 MiB."""
    source = random.Random(1)
    words = [b"%d,%f,label%d\n" % (i, source.random(), i % 7) for i in range(5000)]
    left = megabytes << 20
    os.makedirs(folder)
    for index, size in enumerate(itertools.cycle([64 << 20, 16 << 20, 4 << 20, 256 << 10])):
        size = min(size, left)
        with open(os.path.join(folder, "file%d" % index), "wb") as stream:
            if index % 2 == (index // 4) % 2:
                stream.write(source.randbytes(size))
            else:
                text = b"".join(source.choices(words, k=20000))
                stream.write((text * (size // len(text) + 1))[:size])
        left -= size
        if left <= 0:
            return


def report(what, ours, theirs, goal):
    ratio = ours / theirs
    print("%-44s ponk %9.1f ms   git %9.1f ms   %.2fx (%.1f times as fast)   goal %s"
          % (what, ours * 1e3, theirs * 1e3, ratio, 1 / ratio, goal), flush=True)


def again(options, place):
    project, store, cache = (os.path.join(place, name) for name in ("many", "store", "cache"))
    many_files(project, options.files)
    run("git", "init", "-q", cwd=project)
    run("git", "add", ".", cwd=project)
    run("git", "commit", "-qm", "all", cwd=project)
    time.sleep(3)  # files written just now are not trusted by either
    take = [options.tool, "take", store, project, cache]
    first, output = run(*take)
    print("first snapshot of %d small files: %.1f ms" % (options.files, first * 1e3))
    run("git", "status", cwd=project)
    run(*take)
    ours, theirs, copies = [], [], []
    for turn in range(options.repeat):
        ours.append(run(*take)[0])
        theirs.append(run("git", "status", "--porcelain", cwd=project)[0])
    report("second snapshot of %d files : git status" % options.files, statistics.median(ours),
           statistics.median(theirs), "<= 1.0x")
    print("  best of each: %.1f ms, %.1f ms" % (min(ours) * 1e3, min(theirs) * 1e3))
    identity = output.split()[0]
    for turn in range(5):
        copy = os.path.join(place, "copy")
        copies.append(run(options.tool, "materialise", store, identity, copy)[0])
        shutil.rmtree(copy)
    print("materialise %d files: %.1f ms (median of 5), %.1f (best)"
          % (options.files, statistics.median(copies) * 1e3, min(copies) * 1e3))


def first(options, place):
    project = os.path.join(place, "large")
    large_files(project, options.megabytes)
    ours, theirs = [], []
    for turn in range(options.large_repeat):
        store = os.path.join(place, "store%d" % turn)
        seconds, output = run(options.tool, "take", store, project, os.path.join(place, "cache%d" % turn))
        ours.append(seconds)
        run("git", "init", "-q", cwd=project)
        theirs.append(run("git", "add", ".", cwd=project)[0])
        shutil.rmtree(os.path.join(project, ".git"))
        if turn + 1 < options.large_repeat:
            shutil.rmtree(store)
    report("first snapshot of %d MB : git add" % options.megabytes, statistics.median(ours),
           statistics.median(theirs), "<= 0.33x")
    copy = os.path.join(place, "copy")
    seconds, _ = run(options.tool, "materialise", store, output.split()[0], copy)
    print("materialise %d MB: %.1f ms" % (options.megabytes, seconds * 1e3))


def main():
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--tool", required=True)
    parser.add_argument("--files", type=int, default=10000)
    parser.add_argument("--megabytes", type=int, default=1024)
    parser.add_argument("--repeat", type=int, default=31)
    parser.add_argument("--large-repeat", type=int, default=3)
    parser.add_argument("--scratch", help="where to work (default: a new folder in TMPDIR)")
    parser.add_argument("--only", choices=["again", "first"])
    options = parser.parse_args()
    options.tool = os.path.realpath(options.tool)
    place = tempfile.mkdtemp(prefix="ponk-bench-", dir=options.scratch)
    try:
        for part in (again, first):
            if options.only in (None, part.__name__):
                part(options, place)
    finally:
        shutil.rmtree(place)


if __name__ == "__main__":
    sys.exit(main())
