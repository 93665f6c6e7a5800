# SPDX-License-Identifier: Apache-2.0
"""Scripts that use ponk themselves, and supervisors that are stopped: each run ends by itself alone."""
import os
import signal
import time

import pytest

from workbench import Ponk

WAITS = "import sys, time\nfor n in range(int(sys.argv[1])):\n    print(n, flush=True)\n    time.sleep(0.05)\n"


def wait_for(condition, seconds=60):
    end = time.monotonic() + seconds
    while not condition():
        assert time.monotonic() < end, "nothing happened in time"
        time.sleep(0.05)


def record(ponk, run):
    return ponk.json("history", "info", "--run", run)


def ended(ponk, run):
    wait_for(lambda: record(ponk, run)["end_time_utc"])
    return record(ponk, run)


def submit(ponk, *words):
    return ponk.json("submit", "--async", *words)["run_id"]


def processes(ponk, run):
    """Role to pid, from the run's own file."""
    file = ponk.task(run) / "pid"
    wait_for(file.exists)
    return {words[0]: int(words[1]) for words in map(str.split, file.read_text().splitlines()) if words[0] in ("stub", "guard", "main")}


def is_alive(pid):
    try:
        return open(f"/proc/{pid}/stat").read().rpartition(")")[2].split()[0] not in "ZX"
    except FileNotFoundError:
        return False


def test_a_daemon_that_a_script_started_outlives_that_run(ponk):
    ponk.write("uses.py", f"import subprocess, time\ntime.sleep(1)\nsubprocess.run([{ponk.program!r}, 'runs'])\ntime.sleep(1.5)\n")
    ponk.write("long.py", WAITS)
    outer = submit(ponk, "uses.py")
    processes(ponk, outer)
    os.kill(ponk.json("daemon", "status")["pid"], signal.SIGKILL)
    time.sleep(1.5)  # by now the script has asked, and so started the next one
    other = submit(ponk, "long.py", "80")

    assert ended(ponk, outer)["status"] == "Completed"
    after = ended(ponk, other)

    assert (after["status"], after["exit_code"]) == ("Completed", 0), after
    assert ponk.text("logs", other) == "".join(f"{n}\n" for n in range(80))


def test_a_run_that_a_script_submitted_outlives_that_run(ponk, tmp_path, request):
    (tmp_path / "inner").mkdir()
    inner = Ponk(ponk.program, tmp_path / "inner")
    request.addfinalizer(lambda: inner.run("daemon", "stop", code=None))
    inner.write("long.py", WAITS)
    ponk.write("nest.py", "import os, subprocess\n"
               f"subprocess.run([{ponk.program!r}, 'submit', '--async', '-p', {str(inner.project)!r}, 'long.py', '60'],\n"
               f"               env=dict(os.environ, PONK_HOME={str(inner.home)!r}), check=True)\n")

    ponk.run("submit", "nest.py")
    last = inner.json("history", "last")
    after = ended(inner, last["run_id"])

    assert (after["status"], after["exit_code"]) == ("Completed", 0), after


ORPHANS = """
import os, sys, time, signal
for clean in (True, False):
    if os.fork() == 0:
        os.setsid()
        if os.fork() == 0:
            signal.signal(signal.SIGTERM, signal.SIG_IGN)
            os.closerange(0, 300)
            os.execve('/bin/sleep', ['sleep', '4242.' + sys.argv[1]], {} if clean else os.environ)
        os._exit(0)
time.sleep(1)
sys.exit(5)
"""


def sleepers(mark):
    found = []
    for name in filter(str.isdigit, os.listdir("/proc")):
        try:
            if open(f"/proc/{name}/cmdline", "rb").read() == b"sleep\0" + b"4242." + mark.encode() + b"\0":
                found.append(int(name))
        except OSError:
            pass
    return found


@pytest.mark.skipif(not os.access("/sys/fs/cgroup/cgroup.procs", os.W_OK) and not os.access("/sys/fs/cgroup/unified/cgroup.procs", os.W_OK),
                    reason="needs the right to make control groups")
def test_no_orphan_stays_when_both_supervisors_are_killed(ponk):
    ponk.write("orphans.py", ORPHANS)
    mark = str(os.getpid())
    run = submit(ponk, "orphans.py", mark)
    found = processes(ponk, run)
    wait_for(lambda: len(sleepers(mark)) == 2)
    for role in ("guard", "stub"):
        os.kill(found[role], signal.SIGKILL)

    assert ended(ponk, run)["exit_code"] == 5
    wait_for(lambda: sleepers(mark) == [])  # killed ones need a core to go


def test_a_stopped_supervisor_still_hears_cancel_and_keeps_the_time_limit(ponk):
    ponk.write("long.py", WAITS)
    for words in [["--time-limit", "2", "long.py", "2000"], ["long.py", "2000"]]:
        run = submit(ponk, *words)
        found = processes(ponk, run)
        os.kill(found["stub"], signal.SIGSTOP)
        if len(words) == 2:
            os.kill(found["guard"], signal.SIGSTOP)
            ponk.run("cancel", run)
        after = ended(ponk, run)
        assert after["status"] in ("Canceled", "Failed") and not is_alive(found["main"]), after


def test_a_cancel_that_comes_after_the_end_changes_nothing(ponk):
    ponk.write("ends.py", "print('done')\n")
    ponk.write("stop.py", "import os, signal, time\n"
               "pids = dict(l.split()[:2] for l in open(os.environ['PONK_RUN_DIRECTORY'] + '/pid') if l[:4] in ('stub', 'guar'))\n"
               "for role in ('guard', 'stub'):\n    os.kill(int(pids[role]), signal.SIGSTOP)\n"
               "print('finished my work')\n")
    run = submit(ponk, "stop.py")
    found = processes(ponk, run)
    wait_for(lambda: not is_alive(found["main"]))
    assert record(ponk, run)["status"] == "Running"

    ponk.run("cancel", run)
    after = ended(ponk, run)

    assert (after["status"], after["exit_code"]) == ("Completed", 0), after
