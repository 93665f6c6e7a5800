# SPDX-License-Identifier: Apache-2.0
"""The comparisons of bench/run.py: each takes a Place and a Report."""
import glob
import hashlib
import json
import os
import shutil
import subprocess
import time

import machines
from bench_place import CommandFailed, Times, both, take_turns
from curves import curves
from day_one import day_one
from docker_measures import submit_docker
from many_points import many_points
from mlflow_environment import mlflow_environment
from page import page
from tracking import tracking
from versions import versions
from waiting_runs import waiting_runs

NO_OP = "pass\n"
PACKAGES = 100
ROOT = os.path.join(os.path.dirname(os.path.abspath(__file__)), "..")
BLOCK = (bytes(range(32, 127)) * 11038)[:1048575] + b"\n"
WRITER = """import os, sys
block = (bytes(range(32, 127)) * 11038)[:1048575] + b"\\n"
for number in range(int(sys.argv[1])):
    data = (b"%08d" % number) + block[8:]
    while data:
        data = data[os.write(1, data):]
"""
POINTS = """import ponk
for step in range(%d):
    ponk.log("loss", 1.0 / (step + 1), step=step)
"""


def version(place, report):
    ours, theirs = take_turns(place.options.repeat * 2, lambda: place.time([place.ponk, "version"]),
                              lambda: place.time(["git", "--version"]))
    report.ratio("ponk version : git --version", ours, theirs)


def submit_warm(place, report):
    project = place.project("noop", {"noop.py": NO_OP})
    ours, theirs = take_turns(place.options.repeat * 2,
                              lambda: place.time([place.ponk, "submit", "-c", "local", "noop.py"], project),
                              lambda: place.time(["python3", "noop.py"], project))
    report.extra("submit of a no-op, warm daemon : bare python3", ours, theirs, 0.015)
    try:
        timings = place.ask("history", "info", "last", cwd=project).get("timings")
        print("    phases of the last one, ms: %s" % timings)
    except (CommandFailed, ValueError) as problem:
        print("    %s" % problem)


def package_list(place, report):
    """A command with and without a Python on PATH, of which interpreter and packages are recorded."""
    project = place.project("command", {})
    bare = place.project("bare-path", {})
    os.symlink(shutil.which("true"), os.path.join(bare, "true"))
    environment = os.path.join(place.folder, "packages")
    place.run(["python3", "-m", "venv", "--without-pip", environment])
    site = glob.glob(os.path.join(environment, "lib/python3*/site-packages"))[0]
    for number in range(PACKAGES):
        os.mkdir(os.path.join(site, "package_%d-1.0.dist-info" % number))

    def submit(extra):
        return place.time([place.ponk, "submit", "--", "true"], project, extra)

    def with_packages():
        return submit({"VIRTUAL_ENV": environment, "PATH": environment + "/bin:" + bare})

    def for_the_first_time():
        shutil.rmtree(os.path.join(place.home, "envs", ".installed"), ignore_errors=True)
        return with_packages()

    with_packages()
    had = place.ask("history", "info", "last", cwd=project)["environment"]
    if had["packages"] != PACKAGES:
        raise CommandFailed("%s packages are recorded instead of %d" % (had["packages"], PACKAGES))
    first, again, nothing = take_turns(place.options.repeat * 2, for_the_first_time, with_packages, lambda: submit({"PATH": bare}))
    report.extra("record %d packages of a new environment : no Python" % PACKAGES, first, nothing, 0.020)
    report.extra("  and of one that was recorded before : no Python", again, nothing, 0.002)


def submit_cold(place, report):
    project = place.project("noop", {"noop.py": NO_OP})

    def ours():
        place.stop_daemon()
        return place.time([place.ponk, "submit", "-c", "local", "noop.py"], project)

    cold, bare = take_turns(place.options.repeat, ours, lambda: place.time(["python3", "noop.py"], project))
    report.extra("submit of a no-op, no daemon yet : bare python3", cold, bare, 0.040)


def submit_mlflow(place, report):
    what = "submit of a no-op : mlflow run of the same"
    try:
        environment = mlflow_environment()
    except (subprocess.SubprocessError, OSError) as problem:
        report.skip(what, "mlflow cannot be installed (%s)" % type(problem).__name__)
        return
    project = place.project("noop-mlflow", {
        "noop.py": NO_OP, "MLproject": "name: noop\nentry_points:\n  main:\n    command: python3 noop.py\n"})
    extra = {"PATH": environment + "/bin:/usr/bin:/bin", "GIT_PYTHON_REFRESH": "quiet", "MLFLOW_DISABLE_TELEMETRY": "true",
             "MLFLOW_TRACKING_URI": "sqlite:///" + os.path.join(place.folder, "mlflow.db")}
    plain = place.project("noop", {"noop.py": NO_OP})
    ours, theirs = take_turns(3, lambda: place.time([place.ponk, "submit", "-c", "local", "noop.py"], plain),
                              lambda: place.time(["mlflow", "run", "--env-manager", "local", project], project, extra))
    report.faster(what, ours, theirs)


def run_timing(place, project):
    """The snapshot and materialise phases of one more run, in seconds."""
    run = json.loads(place.run([place.ponk, "submit", "-o", "json", "-c", "local", "noop.py"], project)[1])
    return run["timings"]["snapshot"] / 1000.0, run["timings"]["materialise"] / 1000.0


def snapshot_again(place, report):
    project = place.project("many", {"noop.py": NO_OP})
    for number in range(place.options.files):
        folder = os.path.join(project, "d%03d" % (number // 100))
        if number % 100 == 0:
            os.makedirs(folder)
        with open(os.path.join(folder, "f%05d.txt" % number), "w") as stream:
            stream.write("file %d\n" % number * (number % 40 + 1))
    for words in (["init", "-q"], ["add", "."], ["commit", "-q", "-m", "all"]):
        place.run(["git", *words], project)
    time.sleep(3)  # files written just now are not trusted by either
    copies = []

    def ours():
        snapshot, materialise = run_timing(place, project)
        copies.append(materialise)
        return snapshot

    def copy_by_hand():
        to = os.path.join(place.folder, "cp-%d" % len(os.listdir(place.folder)))
        return place.time(["cp", "-r", project, to])

    again, status, hand = take_turns(max(5, place.options.repeat // 3), ours,
                                     lambda: place.time(["git", "status", "--porcelain"], project), copy_by_hand)
    report.ratio("snapshot of %d unchanged files : git status" % place.options.files, again, status, 1.0)
    report.ratio("  and the run's own copy of them : cp -r", Times(copies[1:]), hand)
    shutil.rmtree(project)


def snapshot_first(place, report):
    def tree(name):
        project = place.project(name, {"noop.py": NO_OP})
        for number in range(max(1, place.options.megabytes // 16)):
            with open(os.path.join(project, "part%03d.bin" % number), "wb") as stream:
                stream.write(os.urandom(16 << 20))
        return project

    ours, theirs = [], []
    for turn in range(3):  # each turn on fresh bytes, so that nothing is known already
        project = tree("big%d" % turn)
        ours.append(run_timing(place, project)[0])
        place.run(["git", "init", "-q"], project)
        theirs.append(place.time(["git", "add", "."], project))
        shutil.rmtree(project)
    report.faster("first snapshot of %d MB : git add" % place.options.megabytes, Times(ours), Times(theirs), 3.0)


def hash_of_log(megabytes):
    digest = hashlib.sha256()
    for number in range(megabytes):
        digest.update((b"%08d" % number) + BLOCK[8:])
    return digest.hexdigest()


def log_path(place, report):
    """A script that writes as fast as it can: how fast the run is over, all of its bytes stored and
    durable, while the terminal's side is read too; then the same bytes out of the store."""
    project = place.project("log", {"writer.py": WRITER})
    size = place.options.log_megabytes
    expected = hash_of_log(size)

    def hashed(words):
        began = time.perf_counter()
        with subprocess.Popen(words, cwd=project, env=place.environment, stdin=subprocess.DEVNULL,
                              stdout=subprocess.PIPE, stderr=subprocess.DEVNULL) as process:
            digest = hashlib.sha256()
            while True:
                block = process.stdout.read(1 << 20)
                if not block:
                    break
                digest.update(block)
        if process.returncode != 0 or digest.hexdigest() != expected:
            raise CommandFailed("'%s' did not give what the script wrote" % " ".join(words))
        return time.perf_counter() - began

    def to_file():
        target = os.path.join(place.folder, "plain.log")
        with open(target, "wb") as stream:
            seconds = place.run(["python3", "writer.py", str(size)], project, stdout=stream)[0]
            began = time.perf_counter()
            os.fsync(stream.fileno())
            seconds += time.perf_counter() - began
        os.unlink(target)
        return seconds

    ours, again, plain = [], [], []
    for _ in range(3):
        plain.append(to_file())
        ours.append(hashed([place.ponk, "submit", "-c", "local", "writer.py", str(size)]))
        run = place.ask("history", "info", "last", cwd=project)
        if run["evidence"]["log_sha256"] != expected or run["evidence"]["log_length"] != size << 20:
            raise CommandFailed("the stored log is not what the script wrote")
        again.append(hashed([place.ponk, "logs", "last"]))
        place.run([place.ponk, "history", "delete", "--yes", run["run_id"]], project)
    report.rate("log of %d MB by submit : python3 > file, fsync" % size, size, Times(ours), Times(plain), 200)
    report.rate("  the same log again by ponk logs", size, Times(again))


def metrics(place, report):
    count = place.options.points
    project = place.project("metrics", {"points.py": POINTS % count})
    seconds, _ = place.run([place.ponk, "submit", "-c", "local", "points.py"], project)
    run = place.ask("history", "info", "last", cwd=project)
    report.fact("%d points by ponk.log, whole run" % count, "%.1f s" % seconds,
                "%.1f s after the script's end" % (seconds - run["duration_ms"] / 1000.0))
    shown = [place.time([place.ponk, "history", "info", "last", "-o", "table"], project) for _ in range(5)]
    report.fact("  history info of it, with its curve", both(Times(shown)), "")
    resident, _ = resident_memory(place)
    report.fact("  resident memory of the daemon then", "%.1f MB" % resident, "", "at most 60 MB", resident <= 60)


def resident_memory(place):
    pid = place.ask("daemon", "status")["pid"]
    figures = {}
    with open("/proc/%d/smaps_rollup" % pid) as stream:
        for line in stream:
            words = line.split()
            if words[0] in ("Rss:", "Pss:"):
                figures[words[0]] = int(words[1]) / 1024.0
    return figures["Rss:"], figures["Pss:"]


def memory(place, report):
    place.stop_daemon()
    project = place.project("noop", {"noop.py": NO_OP})
    place.time([place.ponk, "submit", "-c", "local", "noop.py"], project)
    time.sleep(3)
    resident, own = resident_memory(place)
    report.fact("resident memory of an idle daemon after a run", "%.1f MB" % resident, "%.1f MB its own share" % own,
                "at most 20 MB", resident <= 20)


ALL = {
    "version": version,
    "submit-warm": submit_warm,
    "packages": package_list,
    "submit-cold": submit_cold,
    "submit-mlflow": submit_mlflow,
    "tracking": tracking,
    "many-points": many_points,
    "snapshot-again": snapshot_again,
    "snapshot-first": snapshot_first,
    "log": log_path,
    "metrics": metrics,
    "memory": memory,
    "submit-docker": submit_docker,
    "versions": versions,
    "waiting-runs": waiting_runs,
    "day-one": day_one,
    "curves": curves,
    "page": page,
    "containers": machines.containers,
    "upload": machines.upload,
}
