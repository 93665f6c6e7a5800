# SPDX-License-Identifier: Apache-2.0
"""Drivers in trouble, and 'gpu: required'."""
import json
import os
import signal
import subprocess
import time

import pytest
from gpus import side_of, wait_for


def test_a_card_that_is_lost_is_told(gpus, ponk, tmp_path):
    go = tmp_path / "go"
    ponk.write("train.py", f"import os, time\nprint('begun', flush=True)\nwhile not os.path.exists({str(go)!r}): time.sleep(0.05)\n")
    gpus.busy_with("train.py")
    with subprocess.Popen([ponk.program, "submit", "train.py"], cwd=ponk.project, env=ponk.environment,
                          stdout=subprocess.PIPE, stderr=subprocess.DEVNULL) as process:
        # A card that is lost before the run has it is waited for.
        assert process.stdout.readline() == b"begun\n"
        gpus.busy_with("train.py", lost="fallen off the bus")
        time.sleep(2)  # some samples
        go.touch()
        process.communicate(timeout=60)
    record = ponk.json("history", "info", "last")
    assert record["gpu_verdict"] == "lost" and "fallen off the bus" in record["gpu_evidence"]["reason"]


def test_a_driver_in_trouble_gives_nobody_the_gpus_of_others(gpus, ponk):
    ponk.write("show.py", "import os; print(repr(os.environ.get('CUDA_VISIBLE_DEVICES')))\n")
    gpus.write({"devices": [], "problem": {"kind": "unavailable", "message": "driver and library differ"}})
    done = ponk.run("submit", "show.py")
    record = ponk.json("history", "info", "last")
    assert done.stdout == b"''\n" and b"uses no GPUs: driver and library differ" in done.stderr
    assert record["gpu_verdict"] == "unknown" and "differ" in record["gpu_evidence"]["reason"]
    gpus.write({"devices": 1, "exit": 3})
    assert ponk.run("submit", "show.py").stdout == b"''\n"
    assert ponk.json("history", "info", "last")["gpu_verdict"] == "unknown"
    assert ponk.run("submit", "--gpus", "1", "show.py", code=None).stdout == b""
    assert ponk.run("submit", "--gpus", "none", "show.py").stdout == b"''\n"


def test_a_driver_that_stumbles_is_asked_again(gpus, ponk):
    ponk.write("show.py", "import os; print(os.environ['CUDA_VISIBLE_DEVICES'])\n")
    good = json.loads(gpus.file.read_text())
    gpus.write(dict(good, exit=3))
    process = subprocess.Popen([ponk.program, "submit", "show.py"], cwd=ponk.project, env=ponk.environment,
                               stdout=subprocess.PIPE, stderr=subprocess.DEVNULL)
    time.sleep(1)
    gpus.write(good)
    assert process.communicate(timeout=60)[0] == b"GPU-0,GPU-1\n"


def test_a_killed_watcher_hurts_nothing_and_is_no_pass(gpus, ponk):
    ponk.write("work.py", "import time; time.sleep(2); print('done')\n")
    gpus.busy_with("work.py")
    run = ponk.run("submit", "--async", "work.py").stdout.decode().strip()
    wait_for(ponk, run, "Running")
    os.kill(side_of(run), signal.SIGKILL)
    assert b"busy" in ponk.run("submit", "--gpus", "all", "--no-wait", "work.py", code=None).stderr
    record = wait_for(ponk, run, "Completed")
    assert record["gpu_verdict"] == "unknown" and ponk.run("logs", run).stdout == b"done\n"


def test_required_ends_a_run_at_once_on_evidence_else_after_the_grace(gpus, ponk):
    ponk.write("aml_config/must.runconfig", "Target: local\nFramework: Python\ngpu: required\ngpuGrace: 2s\n")
    ponk.write("sleep.py", "import time; time.sleep(60)\n")
    done = ponk.run("submit", "-c", "must", "sleep.py", code=None, timeout=40)
    record = ponk.json("history", "info", "last")
    assert record["status"] == "Failed" and "gpu: required" in record["error"]["message"], record
    assert b"no process of the run touched a GPU" in done.stderr
    ponk.write("aml_config/must.runconfig", "Target: local\nFramework: Python\ngpu: required\n")
    done = ponk.run("submit", "-c", "must", "--env", "CUDA_VISIBLE_DEVICES=-1", "sleep.py", code=None, timeout=40)
    assert done.returncode != 0 and b"CUDA_VISIBLE_DEVICES" in done.stderr and b"hint:" in done.stderr
    gpus.write({"devices": []})
    done = ponk.run("submit", "-c", "must", "sleep.py", code=None, timeout=40)
    assert done.returncode != 0 and b"no driver on this machine reports one" in done.stderr


REQUIRED = "Target: local\nFramework: Python\ngpu: required\n"


def test_required_passes_only_what_touched_its_gpu(gpus, ponk):
    ponk.write("aml_config/must.runconfig", REQUIRED)
    ponk.write("short.py", "import time; time.sleep(1.5); print('done')\n")
    done = ponk.run("submit", "-c", "must", "short.py", code=None, timeout=40)
    record = ponk.json("history", "info", "last")
    assert record["gpu_verdict"] == "cpu-fallback" and record["status"] == "Failed" and done.returncode != 0
    assert "'gpu: required' is not met: no process of the run was seen" in record["error"]["message"]
    assert done.stdout == b"done\n" and record["exit_code"] == 0
    gpus.busy_with("short.py", utilisation=0.0)
    record = gpus.run("-c", "must", "short.py")
    assert record["gpu_verdict"] == "idle" and record["status"] == "Completed"
    run = ponk.run("submit", "--async", "-c", "must", "short.py").stdout.decode().strip()
    wait_for(ponk, run, "Running")
    os.kill(side_of(run), signal.SIGKILL)
    record = wait_for(ponk, run, "Completed", "Failed")
    assert record["status"] == "Failed" and record["gpu_verdict"] == "unknown"
    assert "could not be measured" in record["error"]["message"], record["error"]


@pytest.mark.parametrize("trouble", ["unseen", "deaf"])
def test_required_ends_no_run_that_cannot_be_measured(gpus, ponk, trouble):
    ponk.write("aml_config/must.runconfig", REQUIRED + "gpuGrace: 2s\n")
    ponk.write("work.py", "import time; time.sleep(6); print('done')\n")
    gpus.set([{"name": "Only"}])
    run = ponk.run("submit", "--async", "-c", "must", "work.py").stdout.decode().strip()
    wait_for(ponk, run, "Running")
    if trouble == "unseen":  # as in a container around all of this: pids are others there
        gpus.set([{"name": "Only", "processes": [{"pid": 1 << 29, "memory": 37 << 30}],
                   "sample": {"utilisation": 1.0, "memory_used": 37 << 30}}])
    else:
        gpus.write(dict(json.loads(gpus.file.read_text()), exit=3))
    record = wait_for(ponk, run, "Completed", "Failed")
    assert record["exit_code"] == 0 and ponk.run("logs", run).stdout == b"done\n", record
    assert record["gpu_verdict"] == "unknown" and "could not be measured" in record["error"]["message"]


def test_required_does_not_judge_a_run_by_a_process_that_prepares(gpus, ponk):
    ponk.write("aml_config/must.runconfig", REQUIRED)
    ponk.write("torch/lib/libtorch_cpu.so", "x" * 4096)
    ponk.write("prepare.py", "import mmap, time\nlibrary = open('torch/lib/libtorch_cpu.so', 'rb')\n"
                             "mapped = mmap.mmap(library.fileno(), 0, prot=mmap.PROT_READ)\ntime.sleep(3)\n")
    ponk.write("train.py", "import time; time.sleep(2)\n")
    ponk.write("two.py", "import subprocess, sys\nfor part in ('prepare.py', 'train.py'): subprocess.run([sys.executable, part], check=True)\n")
    gpus.busy_with("train.py")
    record = gpus.run("-c", "must", "two.py", timeout=40)
    assert record["gpu_verdict"] == "confirmed" and record["status"] == "Completed", record
    done = ponk.run("submit", "-c", "must", "prepare.py", code=None, timeout=40)
    record = ponk.json("history", "info", "last")
    assert record["status"] == "Failed" and "built for the CPU only" in record["error"]["message"]
    assert done.returncode != 0 and record["duration_ms"] < 2900


def test_a_driver_that_hangs_costs_the_verdict_not_the_run(gpus, ponk):
    ponk.write("work.py", "import time; time.sleep(3); print('done')\n")
    run = ponk.run("submit", "--async", "work.py").stdout.decode().strip()
    wait_for(ponk, run, "Running")
    state = json.loads(gpus.file.read_text())
    gpus.write(dict(state, hang=True))
    record = wait_for(ponk, run, "Completed")
    assert record["gpu_verdict"] in ("unknown", "cpu-fallback") and ponk.run("logs", run).stdout == b"done\n"


@pytest.mark.parametrize("change", [{"exit": 3}, {"hang": True}])
def test_a_driver_that_fails_keeps_what_was_seen_before(gpus, ponk, change):
    ponk.write("work.py", "import time; time.sleep(4)\n")
    gpus.busy_with("work.py")
    run = ponk.run("submit", "--async", "work.py").stdout.decode().strip()
    wait_for(ponk, run, "Running")
    time.sleep(2)
    gpus.write(dict(json.loads(gpus.file.read_text()), **change))
    record = wait_for(ponk, run, "Completed")
    assert record["gpu_evidence"]["evidence"]["samples"] > 2, record["gpu_evidence"]
    assert record["gpu_evidence"]["evidence"]["failures"] > 0
    assert "ended before" not in record["gpu_evidence"]["reason"]


def test_required_ends_with_an_error_of_ponk(gpus, ponk):
    ponk.write("aml_config/must.runconfig", "Target: local\nFramework: Python\ngpu: required\ngpuGrace: 2s\n")
    ponk.write("sleep.py", "import time; time.sleep(60)\n")
    done = ponk.run("submit", "-c", "must", "sleep.py", code=None, timeout=40)
    said = done.stderr.decode()
    assert done.returncode == 72 and "\nponk: error: run " in said and "'gpu: required' is not met" in said, said
    assert "\nponk: hint: " in said and said.count("touched a GPU in") == 1, said
