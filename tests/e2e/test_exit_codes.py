# SPDX-License-Identifier: Apache-2.0
"""The exit code of submit is the script's own; ponk's own failures tell themselves apart."""
import subprocess

import pytest


@pytest.mark.parametrize("code", [0, 1, 3, 127, 255])
def test_submit_leaves_with_the_code_of_the_script(ponk, code):
    ponk.write("end.py", f"import os; os._exit({code})\n")

    done = ponk.run("submit", "end.py", code=code)

    assert b"ponk: error:" not in done.stderr
    run = ponk.json("history", "info", "last")
    assert run["exit_code"] == code
    assert run["status"] == ("Completed" if code == 0 else "Failed")


def test_submit_leaves_with_128_and_the_signal_that_ended_the_script(ponk):
    ponk.write("crash.py", "import os, signal; os.kill(os.getpid(), signal.SIGSEGV)\n")

    done = ponk.run("submit", "crash.py", code=128 + 11)

    assert b"ponk: error:" not in done.stderr
    assert b"exit code 139 (SIGSEGV)" in done.stderr
    assert ponk.json("history", "info", "last")["exit_code"] == 139

    ponk.write("end.py", "import os; os._exit(139)\n")
    done = ponk.run("submit", "end.py", code=139)
    assert b"exit code 139\n" in done.stderr, "nobody sent a signal"


@pytest.mark.parametrize("script", [
    "import time; time.sleep(60)\n",
    "import signal, sys, time; signal.signal(signal.SIGTERM, lambda *_: sys.exit(0)); time.sleep(60)\n",
])
def test_run_ended_by_its_time_limit_leaves_with_72_and_says_so(ponk, script):
    ponk.write("long.py", script)

    done = ponk.run("submit", "--time-limit", "1s", "long.py", code=72)

    assert b"ponk: error:" in done.stderr.splitlines()[-1]
    assert b"time limit of 1 s" in done.stderr.splitlines()[-1]


# Counts after SIGTERM: to 50 in five seconds, which the default of ten would allow.
COUNTS = """import signal, sys, time
def count(*_):
    for i in range(50):
        print("count", i, flush=True)
        time.sleep(0.1)
    sys.exit(3)
signal.signal(signal.SIGTERM, count)
print("begun", flush=True)
time.sleep(60)
"""


@pytest.mark.parametrize("end", ["limit", "cancel"])
def test_grace_of_a_run_bounds_what_its_script_does_after_sigterm(ponk, end):
    ponk.write("long.py", COUNTS)
    if end == "limit":
        ponk.run("submit", "--grace", "1s", "--time-limit", "1s", "long.py", code=72)
    else:
        ponk.run("submit", "--grace", "1s", "--async", "long.py")
        with subprocess.Popen([ponk.program, "logs", "--follow", "last"], cwd=ponk.project, env=ponk.environment,
                              stdout=subprocess.PIPE) as follower:
            assert follower.stdout.readline() == b"begun\n"
            ponk.run("cancel", "last", "--wait")
            follower.stdout.read()

    log = ponk.text("logs", "last")
    assert "count 0\n" in log and "count 49\n" not in log
    assert ponk.json("history", "info", "last")["evidence"]["signal"] == 9


@pytest.mark.parametrize("script", [
    "import time; print('begun', flush=True); time.sleep(60)\n",
    "import signal, sys, time\nsignal.signal(signal.SIGTERM, lambda *_: sys.exit(5))\n"
    "print('begun', flush=True)\ntime.sleep(60)\n",
])
def test_cancelled_run_leaves_with_77_whatever_its_script_does(ponk, script):
    ponk.write("long.py", script)
    follower = subprocess.Popen([ponk.program, "submit", "long.py"], cwd=ponk.project, env=ponk.environment,
                                stdout=subprocess.PIPE, stderr=subprocess.PIPE)
    assert follower.stdout.readline() == b"begun\n"

    ponk.run("cancel", "last")

    _, said = follower.communicate(timeout=60)
    assert follower.returncode == 77, said
    assert said.splitlines()[-1].startswith(b"ponk: error:") and b"canceled" in said.splitlines()[-1]


def test_script_that_does_not_exist_is_named(ponk):
    done = ponk.run("submit", "nothere.py", code=None)
    assert done.returncode != 0
    assert b"nothere.py" in done.stderr
    assert done.stderr.strip().splitlines()[-1].startswith(b"ponk: error:") or b"ponk: error:" in done.stderr


def test_traceback_of_the_script_comes_before_words_of_ours(ponk):
    ponk.write("wrong.py", "def f():\n    raise ValueError('seven')\nf()\n")

    done = ponk.run("submit", "wrong.py", code=1)

    assert b"ValueError: seven" in done.stdout
    assert done.stdout.startswith(b"Traceback (most recent call last):")
