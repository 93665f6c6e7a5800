# SPDX-License-Identifier: Apache-2.0
"""GPUs that Slurm gives to a run: a real cluster with stand-in devices, and a driver made of a file."""
import os
import time

import pytest

from gpus import Gpus
from test_slurm import state, wait_for

WORK = "import os, time\nprint(os.environ['CUDA_VISIBLE_DEVICES'], flush=True)\ntime.sleep(2)\n"
REQUIRED = "type: slurm\ngpu: required\n"


@pytest.fixture
def gpus(slurm, tmp_path):
    return Gpus(slurm, tmp_path)


def submit(slurm, *words, code=0):
    done = slurm.run("submit", "-c", "cluster", *words, code=code)
    return done, slurm.json("history", "info", "last")


def test_work_on_the_given_gpu_is_confirmed(gpus, slurm):
    slurm.write("work.py", WORK)
    gpus.busy_with("work.py")

    done, run = submit(slurm, "--gpus", "1", "work.py")

    assert done.stdout == b"0\n", "the variable is Slurm's"
    assert run["gpu_verdict"] == "confirmed", run["gpu_evidence"]
    assert [device["uuid"] for device in run["gpu_evidence"]["devices"]] == ["GPU-0"], "not the whole node"
    assert run["system/gpu.0.utilisation"] == 90
    assert not list((slurm.home / "lib").glob("*.lock")) and not (gpus.file.parent / "locks").exists(), "Slurm has leased it"


def test_work_elsewhere_is_a_fallback_and_ends_what_needs_its_gpu(gpus, slurm):
    slurm.write("work.py", WORK)

    _, run = submit(slurm, "--gpus", "2", "work.py")

    assert (run["status"], run["gpu_verdict"]) == ("Completed", "cpu-fallback"), run["gpu_evidence"]
    assert len(run["gpu_evidence"]["devices"]) == 2

    slurm.write("aml_config/cluster.compute", REQUIRED + "gpuGrace: 2s\n")
    slurm.write("sleep.py", "import time\ntime.sleep(60)\n")
    done, run = submit(slurm, "sleep.py", code=None)

    assert done.returncode != 0 and run["status"] == "Failed", run
    assert b"no process of the run touched a GPU" in done.stderr
    assert len(run["gpu_evidence"]["devices"]) == 1, "one is what 'required' asks for"


def test_a_node_without_a_driver_measures_nothing(gpus, slurm):
    slurm.write("work.py", WORK)
    gpus.write({"devices": []})

    done, run = submit(slurm, "--gpus", "1", "work.py")

    assert done.stdout == b"0\n" and (run["status"], run["gpu_verdict"]) == ("Completed", "unknown")
    assert "no driver on the run's node reports a GPU" in run["gpu_evidence"]["reason"]
    slurm.write("aml_config/cluster.compute", REQUIRED)
    done, run = submit(slurm, "work.py", code=None)
    assert done.returncode != 0 and run["status"] == "Failed" and slurm.run("logs", "last").stdout == b""
    assert b"no driver on this machine reports one" in done.stderr


def test_who_ends_the_job_is_heard_behind_the_watcher(gpus, slurm, cluster):
    slurm.write("work.py", "import signal, sys, time\nsignal.signal(signal.SIGTERM, lambda *_: sys.exit('told'))\n"
                           "print('begun', flush=True)\ntime.sleep(60)\n")
    for end, expected in (("cancel", "Canceled"), ("slurm", "Failed")):
        slurm.run("submit", "--async", "-c", "cluster", "--gpus", "1", "work.py")
        wait_for(lambda: slurm.run("logs", "last").stdout == b"begun\n")
        if end == "cancel":
            slurm.run("experiment", "cancel", "last")
        else:
            cluster.call("scancel", "--name", "ponk-" + slurm.json("history", "info", "last")["run_id"])
        wait_for(lambda: state(slurm) == expected)
        assert slurm.run("logs", "last").stdout == b"begun\ntold\n"
        assert slurm.json("history", "info", "last")["gpu_verdict"] in ("cpu-fallback", "unknown")


def test_what_slurm_cannot_choose_is_refused(gpus, slurm):
    slurm.write("work.py", WORK)

    assert b"Slurm chooses" in slurm.run("submit", "-c", "cluster", "--gpus", "all", "work.py", code=65).stderr
    slurm.write("aml_config/cluster.compute", REQUIRED)
    done = slurm.run("submit", "-c", "cluster", "--gpus", "none", "work.py", code=None)
    assert b"'--gpus none' contradicts 'gpu: required'" in done.stderr
