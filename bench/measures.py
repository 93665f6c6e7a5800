# SPDX-License-Identifier: Apache-2.0
"""The comparisons of bench/run.py: each takes a Place and a Report."""
import json
import os
import shutil
import subprocess
import time

from bench_place import CommandFailed, milliseconds, take_turns

NO_OP = "pass\n"
ROOT = os.path.join(os.path.dirname(os.path.abspath(__file__)), "..")
WRITER = """import os, sys
block = bytes(range(32, 127)) * 11036
block = block[:1048575] + b"\\n"
for number in range(int(sys.argv[1])):
    data = (b"%08d" % number) + block[8:]
    while data:
        data = data[os.write(1, data):]
"""


def version(place, report):
    ours, theirs = take_turns(place.options.repeat * 2, lambda: place.time([place.ponk, "version"]),
                              lambda: place.time(["git", "--version"]))
    report.add("ponk version : git --version", milliseconds(ours), milliseconds(theirs), "%.2fx" % (ours / theirs))


def submit_warm(place, report):
    project = place.project("noop", {"noop.py": NO_OP})
    ours, theirs = take_turns(place.options.repeat,
                              lambda: place.time([place.ponk, "submit", "-c", "local", "noop.py"], project),
                              lambda: place.time(["python3", "noop.py"], project))
    extra = ours - theirs
    report.add("submit of a no-op, warm daemon : bare python3", milliseconds(ours), milliseconds(theirs),
               "+%s, %.1fx" % (milliseconds(extra), ours / theirs), "at most +15 ms", extra <= 0.015)
    try:
        timings = place.ask("history", "info", "last", cwd=project).get("timings")
        print("    phases of the last one, ms: %s" % timings)
    except (CommandFailed, ValueError) as problem:
        print("    %s" % problem)


def submit_cold(place, report):
    project = place.project("noop", {"noop.py": NO_OP})

    def ours():
        place.stop_daemon()
        return place.time([place.ponk, "submit", "-c", "local", "noop.py"], project)

    cold, bare = take_turns(max(3, place.options.repeat // 2), ours, lambda: place.time(["python3", "noop.py"], project))
    report.add("submit of a no-op, no daemon yet : bare python3", milliseconds(cold), milliseconds(bare),
               "+%s, %.1fx" % (milliseconds(cold - bare), cold / bare), "at most +40 ms", cold - bare <= 0.040)


def mlflow_environment():
    """The Python of a virtual environment that has mlflow, made once in .cache."""
    folder = os.path.realpath(os.path.join(ROOT, ".cache", "mlflow"))
    python = os.path.join(folder, "bin", "python")
    if not os.path.exists(os.path.join(folder, "bin", "mlflow")):
        print("    installing mlflow into .cache/mlflow (once) …", flush=True)
        subprocess.run(["/usr/bin/python3", "-m", "venv", "--clear", folder], check=True)
        subprocess.run([python, "-m", "pip", "install", "-q", "--disable-pip-version-check", "mlflow"], check=True,
                       timeout=570)
    return folder


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
    report.add(what, milliseconds(ours), milliseconds(theirs), "%.0fx faster" % (theirs / ours))


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
    copies = []

    def ours():
        snapshot, materialise = run_timing(place, project)
        copies.append(materialise)
        return snapshot

    again, status = take_turns(max(5, place.options.repeat // 2), ours,
                               lambda: place.time(["git", "status", "--porcelain"], project))
    report.add("snapshot of %d unchanged files : git status" % place.options.files, milliseconds(again),
               milliseconds(status), "%.2fx" % (again / status), "at most 1.0x", again <= status)
    copy = sorted(copies)[len(copies) // 2]
    report.add("  and the run's own copy of them : git status", milliseconds(copy), milliseconds(status),
               "%.2fx" % (copy / status))
    shutil.rmtree(project)


def snapshot_first(place, report):
    def tree(name):
        project = place.project(name, {"noop.py": NO_OP})
        for number in range(max(1, place.options.megabytes // 16)):
            with open(os.path.join(project, "part%03d.bin" % number), "wb") as stream:
                stream.write(os.urandom(16 << 20))
        return project

    pairs = []
    for turn in range(2):  # each turn on fresh bytes, so that nothing is known already
        project = tree("big%d" % turn)
        ours = run_timing(place, project)[0]
        place.run(["git", "init", "-q"], project)
        theirs = place.time(["git", "add", "."], project)
        pairs.append((ours, theirs))
        shutil.rmtree(project)
    ours, theirs = min(pair[0] for pair in pairs), min(pair[1] for pair in pairs)
    report.add("first snapshot of %d MB : git add" % place.options.megabytes, "%.2f s" % ours, "%.2f s" % theirs,
               "%.1fx faster" % (theirs / ours), "at least 3x", theirs >= 3 * ours)


def log_path(place, report):
    project = place.project("log", {"writer.py": WRITER})
    size = place.options.log_megabytes
    expected = os.path.join(place.folder, "expected")
    got = os.path.join(place.folder, "got")

    def to_file(words, path):
        with open(path, "wb") as stream:
            return place.run(words, project, stdout=stream)[0]

    ours, theirs, again = [], [], []
    for _ in range(3):
        theirs.append(to_file(["python3", "writer.py", str(size)], expected))
        ours.append(to_file([place.ponk, "submit", "-c", "local", "writer.py", str(size)], got))
        same = subprocess.run(["cmp", expected, got], stdout=subprocess.PIPE, stderr=subprocess.STDOUT)
        if same.returncode != 0:
            raise CommandFailed("the log is not what the script wrote: " + same.stdout.decode())
        again.append(to_file([place.ponk, "logs", "last"], got))
        if subprocess.run(["cmp", "-s", expected, got]).returncode != 0:
            raise CommandFailed("'ponk logs' is not what the script wrote")
    ours, theirs, again = sorted(ours)[1], sorted(theirs)[1], sorted(again)[1]
    report.add("log of %d MB through submit : python3 > file" % size, "%.0f MB/s" % (size / ours),
               "%.0f MB/s" % (size / theirs), "%.2fx, every byte" % (theirs / ours), "at least 200 MB/s", size / ours >= 200)
    report.add("  the same log again by ponk logs", "%.0f MB/s" % (size / again), "", "every byte")


def memory(place, report):
    place.stop_daemon()
    project = place.project("noop", {"noop.py": NO_OP})
    place.time([place.ponk, "submit", "-c", "local", "noop.py"], project)
    time.sleep(2)
    pid = place.ask("daemon", "status")["pid"]
    figures = {}
    with open("/proc/%d/smaps_rollup" % pid) as stream:
        for line in stream:
            words = line.split()
            if words[0] in ("Rss:", "Pss:"):
                figures[words[0]] = int(words[1]) / 1024.0
    report.add("resident memory of an idle daemon after a run", "%.1f MB" % figures["Rss:"], "",
               "%.1f MB its own share" % figures["Pss:"], "at most 20 MB", figures["Rss:"] <= 20)


ALL = {
    "version": version,
    "submit-warm": submit_warm,
    "submit-cold": submit_cold,
    "submit-mlflow": submit_mlflow,
    "snapshot-again": snapshot_again,
    "snapshot-first": snapshot_first,
    "log": log_path,
    "memory": memory,
}
