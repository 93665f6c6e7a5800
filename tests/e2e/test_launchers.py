# SPDX-License-Identifier: Apache-2.0
"""Launchers of several ranks: `ponk submit -- torchrun …`, `-m torch.distributed.run`, `accelerate launch …`.

The launcher here starts its ranks as torchrun does: each in a session of its own, with RANK and the others in its environment; when one
fails, the rest is ended and the code is 1."""
import os
import pathlib
import subprocess
import sys
import time

import pytest
from workbench import own_metrics

LAUNCHER = """#!{python}
import os, signal, subprocess, sys, time
words = sys.argv[1:]
if words[0] == "launch":  # accelerate
    del words[0]
assert words[0] == "--nproc-per-node"
count = int(words[1])
ranks = [subprocess.Popen([sys.executable, "-u", *words[2:]], start_new_session=True, env={{
    **os.environ, "RANK": str(rank), "LOCAL_RANK": str(rank), "WORLD_SIZE": str(count)}}) for rank in range(count)]
def end(*_):
    for rank in ranks:
        rank.terminate()
    sys.exit(1)
signal.signal(signal.SIGTERM, end)
if "--leave" in words:
    time.sleep(0.5)
    sys.exit(0)
while any(rank.poll() is None for rank in ranks):
    failed = [number for number, rank in enumerate(ranks) if rank.poll()]
    if failed:
        print(f"rank {{failed[0]}} failed with code {{ranks[failed[0]].poll()}}", flush=True)
        end()
    time.sleep(0.02)
sys.exit(1 if any(rank.poll() for rank in ranks) else 0)
"""
TRAIN = """
import json, os, sys
rank = int(os.environ["RANK"])
for step in range(50):
    sys.stdout.write(f"{rank}:{step:03d}\\n")  # print() writes the end of the line apart, and ranks mix
if rank == 0:
    import ponk
    ponk.log("loss", 0.5)
sys.stdout.write(f"PREFIX {sys.prefix}\\n")
"""


@pytest.fixture
def launcher(ponk):
    """The project's own environment has it, as 'torchrun', as 'accelerate' and as a module."""
    environment = ponk.project / ".venv"
    subprocess.run([sys.executable, "-m", "venv", "--without-pip", str(environment)], check=True)
    text = LAUNCHER.format(python=environment / "bin" / "python")
    for name in ("torchrun", "accelerate"):
        (environment / "bin" / name).write_text(text)
        (environment / "bin" / name).chmod(0o755)
    package = next(environment.glob("lib/python3*/site-packages")) / "torch" / "distributed"
    package.mkdir(parents=True)
    for file in (package.parent / "__init__.py", package / "__init__.py"):
        file.write_text("")
    (package / "run.py").write_text(text)
    ponk.environment.pop("VIRTUAL_ENV", None)
    ponk.write("train.py", TRAIN)
    return ponk


@pytest.mark.parametrize("words", [
    ["--", "torchrun", "--nproc-per-node", "3", "train.py"],
    ["-m", "torch.distributed.run", "--nproc-per-node", "3", "train.py"],
    ["--", "accelerate", "launch", "--nproc-per-node", "3", "train.py"],
    ["--", "python", "-m", "torch.distributed.run", "--nproc-per-node", "3", "train.py"],
])
def test_the_logs_of_all_ranks_are_whole_and_each_has_the_projects_environment(launcher, words):
    done = launcher.run("submit", *words)

    lines = done.stdout.decode().splitlines()
    for rank in range(3):
        assert [line for line in lines if line.startswith(f"{rank}:")] == [f"{rank}:{step:03d}" for step in range(50)]
    assert lines.count(f"PREFIX {launcher.project / '.venv'}") == 3
    assert own_metrics(launcher.json("history", "last")) == {"loss": 0.5}
    assert b"still ran" not in done.stderr


def test_the_code_of_a_failed_rank_comes_back(launcher):
    launcher.write("train.py", "import os, sys, time\nprint('begun', os.environ['RANK'])\n"
                               "sys.exit(7) if os.environ['RANK'] == '1' else time.sleep(600)\n")

    done = launcher.run("submit", "--", "torchrun", "--nproc-per-node", "3", "train.py", code=1)

    assert b"rank 1 failed with code 7" in done.stdout
    assert launcher.json("history", "last")["status"] == "Failed"


def ranks_of(ponk, run, count):
    """The pids that the ranks wrote, each whole."""
    folder = ponk.home / "runs" / run / "work"
    end = time.monotonic() + 60
    while True:
        found = [file.read_text() for file in folder.glob("rank-*")] if folder.exists() else []
        if len(found) == count:
            return [int(text) for text in found]
        assert time.monotonic() < end, found
        time.sleep(0.05)


def is_alive(pid):
    try:
        return pathlib.Path(f"/proc/{pid}/stat").read_text().rsplit(")", 1)[1].split()[0] != "Z"
    except OSError:
        return False


WAITING = ("import os, signal, time\nsignal.signal(signal.SIGTERM, signal.SIG_IGN)\nname = 'rank-' + os.environ['RANK']\n"
           "open('new-' + name, 'w').write(str(os.getpid()))\nos.rename('new-' + name, name)\ntime.sleep(600)\n")


def test_cancel_ends_every_rank_also_those_that_do_not_listen(launcher):
    launcher.write("train.py", WAITING)
    run = launcher.json("submit", "--async", "--grace", "1s", "--", "torchrun", "--nproc-per-node", "3", "train.py")["run_id"]
    ranks = ranks_of(launcher, run, 3)
    assert all(is_alive(pid) and os.getsid(pid) == pid for pid in ranks)

    launcher.run("experiment", "cancel", run)

    assert launcher.run("logs", "--follow", run, code=None).returncode in (0, 77)
    assert launcher.json("history", "info", run)["status"] == "Canceled"
    assert not any(is_alive(pid) for pid in ranks)


def test_ranks_that_outlive_their_launcher_are_named_and_ended(launcher):
    launcher.write("train.py", WAITING)

    done = launcher.run("submit", "--", "torchrun", "--nproc-per-node", "2", "train.py", "--leave")

    run = launcher.json("history", "last")
    told = done.stderr.decode()
    assert "2 processes of the run still ran when the script ended, and ponk ended them" in told and "train.py --leave" in told
    assert run["evidence"]["survivors"] == 2 and run["status"] == "Completed"


def test_a_launcher_that_is_not_there_is_reported_before_there_is_a_run(ponk):
    ponk.write("train.py", TRAIN)
    refused = ponk.run("submit", "--", "torchrun", "--nproc-per-node", "2", "train.py", code=None)
    assert b"program 'torchrun' is not on PATH" in refused.stderr
    assert ponk.json("history", "list") == []
