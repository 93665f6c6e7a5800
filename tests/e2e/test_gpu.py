# SPDX-License-Identifier: Apache-2.0
"""Runs with GPUs that are not there: real locks, real processes, a driver made of a file."""
import json
import os
import pathlib
import signal
import subprocess
import time

import pytest

PROBE = pathlib.Path(__file__).parents[1] / "support/fake_gpu_probe.py"


class Gpus:
    """The cards of the test, and whose processes are on them."""

    def __init__(self, ponk, folder):
        self.ponk, self.file = ponk, folder / "gpus.json"
        ponk.environment.update(PONK_GPU_PROBE=str(PROBE), PONK_FAKE_GPUS=str(self.file), PONK_GPU_LOCKS=str(folder / "locks"))
        self.set([{"name": "Card A"}, {"name": "Card B"}])

    def set(self, devices, **more):
        for device in devices:
            device.setdefault("memory_total", 80 << 30)
            device.setdefault("sample", {"utilisation": 0.0, "power_watts": 70, "temperature": 40})
        self.write(dict(devices=devices, **more))

    def write(self, state):
        new = self.file.with_suffix(".new")
        new.write_text(json.dumps(state))
        new.rename(self.file)

    def busy_with(self, word, utilisation=0.9, **more):
        """The first card works for every process of Python with this word in its command."""
        state = json.loads(self.file.read_text())
        state["devices"][0]["processes"] = [{"command": word, "program": "python", "memory": 5 << 30}]
        state["devices"][0]["sample"].update(utilisation=utilisation, **more)
        self.write(state)

    def run(self, *words, **more):
        self.ponk.run("submit", *words, **more)
        return self.ponk.json("history", "info", "last")


@pytest.fixture
def gpus(ponk, tmp_path_factory):
    return Gpus(ponk, tmp_path_factory.mktemp("gpus"))


def wait_for(ponk, run, *states):
    for _ in range(300):
        record = ponk.json("history", "info", run)
        if record["status"] in states:
            return record
        time.sleep(0.1)
    raise AssertionError(record["status"])


def test_a_run_that_works_on_its_gpu_is_confirmed_with_figures_and_metrics(gpus, ponk):
    ponk.write("train.py", "import time; time.sleep(1.5)\n")
    gpus.busy_with("train.py")
    done = ponk.run("submit", "train.py")
    said = done.stderr.decode()
    record = ponk.json("history", "info", "last")

    assert record["gpu_verdict"] == "confirmed", record["gpu_evidence"]
    assert "Card A" in said and "available" in said  # the banner
    assert "gpu: confirmed" in said
    assert [device["name"] for device in record["gpu_evidence"]["devices"]] == ["Card A", "Card B"]
    assert record["gpu_evidence"]["evidence"]["devices"][0]["worked_seconds"] > 0.5
    assert record["metrics"]["system/gpu.0.utilisation"] == 90


def test_the_script_sees_its_devices_by_uuid(gpus, ponk):
    ponk.write("show.py", "import os; print(os.environ['CUDA_VISIBLE_DEVICES'], os.environ['CUDA_DEVICE_ORDER'])\n")
    assert ponk.run("submit", "show.py").stdout == b"GPU-0,GPU-1 PCI_BUS_ID\n"
    assert ponk.run("submit", "--gpus", "1", "show.py").stdout == b"GPU-0 PCI_BUS_ID\n"
    assert ponk.run("submit", "--gpus", "GPU-1", "show.py").stdout == b"GPU-1 PCI_BUS_ID\n"
    ponk.write("show.py", "import os; print(os.environ.get('CUDA_VISIBLE_DEVICES'))\n")
    assert ponk.run("submit", "--gpus", "none", "show.py").stdout == b"None\n"
    assert ponk.run("submit", "--env", "CUDA_VISIBLE_DEVICES=7", "show.py").stdout == b"7\n"
    assert ponk.json("history", "info", "last")["gpu_verdict"] != "not-requested"


def test_a_device_chosen_in_the_shell_is_leased_by_its_place(gpus, ponk):
    ponk.write("show.py", "import os; print(os.environ['CUDA_VISIBLE_DEVICES'])\n")
    for place in ("0", "1"):
        ponk.environment["CUDA_VISIBLE_DEVICES"] = place
        assert ponk.run("submit", "show.py").stdout.decode() == f"GPU-{place}\n"
        leased = ponk.json("history", "info", "last")["gpu_evidence"]["devices"]
        assert [device["uuid"] for device in leased] == [f"GPU-{place}"]
    ponk.environment["CUDA_VISIBLE_DEVICES"] = "2"
    assert b"no GPU '2'" in ponk.run("submit", "show.py", code=None).stderr


def test_instances_of_a_card_have_places_and_answer_to_its_name(gpus, ponk):
    gpus.set([{"uuid": "MIG-a", "card": "GPU-card"}, {"uuid": "MIG-b", "card": "GPU-card"}])
    ponk.write("show.py", "import os; print(os.environ['CUDA_VISIBLE_DEVICES'])\n")
    for wish, given in (("0,", "MIG-a"), ("0,1", "MIG-a,MIG-b"), ("GPU-card", "MIG-a,MIG-b")):
        assert ponk.run("submit", "--gpus", wish, "show.py").stdout.decode() == given + "\n"


def test_what_leaves_the_gpu_alone_is_a_fallback_and_says_why(gpus, ponk):
    ponk.write("sleep.py", "import time; time.sleep(1)\n")
    assert gpus.run("sleep.py")["gpu_verdict"] == "cpu-fallback"
    ponk.write("hidden.py", "import os, time\nos.environ['CUDA_VISIBLE_DEVICES'] = ''\ntime.sleep(1)\n")
    record = gpus.run("hidden.py")
    assert record["gpu_verdict"] == "cpu-fallback" and "hidden.py:2" in json.dumps(record["gpu_evidence"])
    record = gpus.run("--env", "CUDA_VISIBLE_DEVICES=-1", "sleep.py")
    assert record["gpu_verdict"] == "cpu-fallback" and "CUDA_VISIBLE_DEVICES" in record["gpu_evidence"]["reason"]


def test_a_worker_outside_the_tree_is_known_by_the_token_of_its_run(gpus, ponk, tmp_path):
    ponk.write("aml_config/must.runconfig", "Target: local\nFramework: Python\ngpu: required\ngpuGrace: 3s\n")
    ponk.write("driver.py", "import os, time\nopen(os.environ['NOTE'], 'w').write(os.environ['PONK_RUN_TOKEN'])\ntime.sleep(5)\n")
    note = tmp_path / "note"
    ponk.environment["NOTE"] = str(note)
    gpus.busy_with("outside_worker", utilisation=0.95)
    run = ponk.run("submit", "--async", "-c", "must", "driver.py").stdout.decode().strip()
    wait_for(ponk, run, "Running")
    while not note.exists() or not note.read_text():
        time.sleep(0.05)
    worker = subprocess.Popen(["python3", "-c", "import time; outside_worker = time.sleep(60)"],
                              env=dict(os.environ, PONK_RUN_TOKEN=note.read_text()))
    try:
        record = wait_for(ponk, run, "Completed", "Failed")
    finally:
        worker.kill()
        worker.wait()
    assert record["gpu_verdict"] == "confirmed" and record["status"] == "Completed", record["gpu_evidence"]
    assert record["gpu_evidence"]["evidence"]["devices"][0]["pids"] == [worker.pid]


def test_memory_without_work_is_idle(gpus, ponk):
    ponk.write("idle.py", "import time; time.sleep(1.5)\n")
    gpus.busy_with("idle.py", utilisation=0.0)
    assert gpus.run("idle.py")["gpu_verdict"] == "idle"


def test_a_card_that_is_lost_is_told(gpus, ponk):
    ponk.write("train.py", "import time; time.sleep(2)\n")
    gpus.busy_with("train.py")
    process = subprocess.Popen([ponk.program, "submit", "train.py"], cwd=ponk.project, env=ponk.environment,
                               stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)
    time.sleep(1)
    gpus.busy_with("train.py", lost="fallen off the bus")
    process.wait(60)
    record = ponk.json("history", "info", "last")
    assert record["gpu_verdict"] == "lost" and "fallen off the bus" in record["gpu_evidence"]["reason"]


def test_gpus_not_asked_for_and_no_gpu_machine(gpus, ponk):
    ponk.write("a.py", "print('ran')\n")
    record = gpus.run("--gpus", "none", "a.py")
    assert record["gpu_verdict"] == "not-requested" and record["gpu_evidence"] is None
    gpus.write({"devices": []})
    assert gpus.run("a.py")["gpu_verdict"] == "not-requested"
    said = ponk.run("submit", "--gpus", "1", "a.py", code=None).stderr
    assert b"ponk: error:" in said and b"has none" in said
    gpus.write({"devices": [], "problem": {"kind": "unavailable", "message": "driver and library differ", "hint": "Restart it."}})
    said = ponk.run("submit", "--gpus", "1", "a.py", code=None).stderr
    assert b"driver and library differ" in said and b"Restart it." in said


def test_a_driver_in_trouble_gives_nobody_the_gpus_of_others(gpus, ponk):
    ponk.write("show.py", "import os; print(repr(os.environ.get('CUDA_VISIBLE_DEVICES')))\n")
    gpus.write({"devices": [], "problem": {"kind": "unavailable", "message": "driver and library differ"}})
    done = ponk.run("submit", "show.py")
    record = ponk.json("history", "info", "last")
    assert done.stdout == b"''\n" and b"goes without GPUs: driver and library differ" in done.stderr
    assert record["gpu_verdict"] == "unknown" and "differ" in record["gpu_evidence"]["reason"]
    gpus.write({"devices": 1, "exit": 3})
    assert ponk.run("submit", "show.py").stdout == b"''\n"
    assert ponk.json("history", "info", "last")["gpu_verdict"] == "unknown"
    assert ponk.run("submit", "--gpus", "1", "show.py", code=None).stdout == b""
    assert ponk.run("submit", "--gpus", "none", "show.py").stdout == b"None\n"


def test_a_driver_that_stumbles_is_asked_again(gpus, ponk):
    ponk.write("show.py", "import os; print(os.environ['CUDA_VISIBLE_DEVICES'])\n")
    good = json.loads(gpus.file.read_text())
    gpus.write(dict(good, exit=3))
    process = subprocess.Popen([ponk.program, "submit", "show.py"], cwd=ponk.project, env=ponk.environment,
                               stdout=subprocess.PIPE, stderr=subprocess.DEVNULL)
    time.sleep(1)
    gpus.write(good)
    assert process.communicate(timeout=60)[0] == b"GPU-0,GPU-1\n"


@pytest.mark.parametrize("wish,said", [("3", b"2"), ("GPU-9", b"GPU-9"), ("-1", b"--gpus"), ("x", b"no GPU 'x'"), ("GPU-", b"GPU-")])
def test_wishes_that_cannot_be(gpus, ponk, wish, said):
    ponk.write("a.py", "print('ran')\n")
    done = ponk.run("submit", "--gpus", wish, "a.py", code=None)
    assert done.returncode != 0 and said in done.stderr and b"hint:" in done.stderr, done.stderr


def test_two_runs_on_one_card_queue_and_show_their_place(gpus, ponk):
    gpus.set([{"name": "Only"}])
    ponk.write("wait.py", "import os, time\nwhile not os.path.exists(os.environ['GO']): time.sleep(0.05)\n")
    go = gpus.file.parent / "go"
    ponk.environment["GO"] = str(go)
    first = ponk.run("submit", "--async", "wait.py").stdout.decode().strip()
    waiting = [subprocess.Popen([ponk.program, "submit", "wait.py"], cwd=ponk.project, env=ponk.environment,
                                stdout=subprocess.PIPE, stderr=subprocess.PIPE)]
    time.sleep(1)
    waiting.append(subprocess.Popen([ponk.program, "submit", "wait.py"], cwd=ponk.project, env=ponk.environment,
                                    stdout=subprocess.PIPE, stderr=subprocess.PIPE))
    time.sleep(1.5)
    listed = {record["run_id"]: record for record in ponk.json("history", "list")}
    assert sorted(record["status"] for record in listed.values()) == ["Queued", "Queued", "Running"]
    refused = ponk.run("submit", "--no-wait", "wait.py", code=None)
    assert refused.returncode != 0 and b"busy" in refused.stderr and first[-8:].encode() in refused.stderr
    # The daemon may die: who waits keeps its place.
    os.kill(ponk.json("daemon", "status")["pid"], signal.SIGKILL)
    go.touch()
    said = [process.communicate(timeout=60) for process in waiting]
    assert all(process.returncode == 0 for process in waiting), said
    assert b"number 2" in said[1][1] or b"before this one" in said[1][1], said[1][1]
    ended = [wait_for(ponk, run, "Completed") for run in listed if run]
    times = sorted((record["start_time_utc"], record["end_time_utc"]) for record in ended)
    assert all(before[1] <= after[0] for before, after in zip(times, times[1:])), times
    assert any(record["timings"]["queue"] > 1000 for record in ended)


def test_a_run_that_asked_is_never_shown_as_one_that_did_not(gpus, ponk):
    gpus.set([{"name": "Only"}])
    ponk.write("wait.py", "import time; time.sleep(60)\n")
    first = ponk.run("submit", "--async", "wait.py").stdout.decode().strip()
    runs = [ponk.run("submit", "--async", *words, "wait.py").stdout.decode().strip() for words in ([], ["--gpus", "1"])]
    for run in runs:
        assert wait_for(ponk, run, "Queued")["gpu_verdict"] is None
        os.kill(side_of(run), signal.SIGKILL)
        record = wait_for(ponk, run, "Lost")
        assert record["gpu_verdict"] == "unknown" and "did not get" in record["gpu_evidence"]["reason"]
    ponk.run("submit", "--gpus", "1", "--no-wait", "wait.py", code=None)
    record = ponk.json("history", "info", "last")
    assert record["status"] == "Failed" and record["gpu_verdict"] == "unknown"
    ponk.run("experiment", "cancel", first)


def test_cancel_leaves_the_queue(gpus, ponk):
    gpus.set([{"name": "Only"}])
    ponk.write("wait.py", "import time; time.sleep(60)\n")
    first = ponk.run("submit", "--async", "wait.py").stdout.decode().strip()
    waiting = subprocess.Popen([ponk.program, "submit", "wait.py"], cwd=ponk.project, env=ponk.environment,
                               stdout=subprocess.PIPE, stderr=subprocess.PIPE)
    for _ in range(100):
        queued = [record for record in ponk.json("history", "list") if record["status"] == "Queued"]
        if queued:
            break
        time.sleep(0.1)
    ponk.run("experiment", "cancel", queued[0]["run_id"])
    waiting.communicate(timeout=30)
    assert ponk.json("history", "info", queued[0]["run_id"])["status"] == "Canceled"
    ponk.run("experiment", "cancel", first)
    assert wait_for(ponk, first, "Canceled")
    ponk.write("a.py", "print('ran')\n")
    assert ponk.run("submit", "--no-wait", "a.py", timeout=30).stdout == b"ran\n"


def pids_of(ponk, run):
    text = (ponk.home / "runs" / run / "pid").read_text()
    return {line.split()[0]: int(line.split()[1]) for line in text.splitlines() if line.split()[0] in ("stub", "guard", "main")}


def test_the_card_is_kept_while_any_process_of_the_run_lives(gpus, ponk):
    gpus.set([{"name": "Only"}])
    ponk.write("work.py", "import time; time.sleep(60)\n")
    ponk.write("a.py", "print('ran')\n")
    run = ponk.run("submit", "--async", "work.py").stdout.decode().strip()
    wait_for(ponk, run, "Running")
    pids = pids_of(ponk, run)
    for role in ("stub", "guard"):
        os.kill(pids[role], signal.SIGKILL)
        assert b"busy" in ponk.run("submit", "--no-wait", "a.py", code=None).stderr
    os.kill(pids["main"], signal.SIGKILL)
    wait_for(ponk, run, "Failed", "Lost")
    assert ponk.run("submit", "--no-wait", "a.py").stdout == b"ran\n"


def test_a_script_that_closes_what_it_inherited_keeps_its_card(gpus, ponk):
    gpus.set([{"name": "Only"}])
    ponk.write("work.py", "import os, time; os.closerange(3, 4096); time.sleep(60)\n")
    ponk.write("a.py", "print('ran')\n")
    run = ponk.run("submit", "--async", "work.py").stdout.decode().strip()
    wait_for(ponk, run, "Running")
    time.sleep(1)
    pids = pids_of(ponk, run)
    for role in ("guard", "stub"):
        os.kill(pids[role], signal.SIGKILL)
    for _ in range(5):
        assert b"busy" in ponk.run("submit", "--no-wait", "a.py", code=None).stderr
        time.sleep(0.2)
    os.kill(pids["main"], signal.SIGKILL)
    wait_for(ponk, run, "Failed", "Lost")
    for _ in range(50):
        if ponk.run("submit", "--no-wait", "a.py", code=None).stdout == b"ran\n":
            return
    raise AssertionError("the card was not given back")


def slow_supervisor(ponk, seconds):
    """The installed supervisor takes its time, as on a machine that has much to do."""
    stub = next((ponk.home / "lib").glob("ponk-stub-*"))
    real = stub.with_name("slow")
    stub.rename(real)
    stub.write_text(f"#!/bin/sh\n/bin/sleep {seconds}\nexec {real} \"$@\"\n")
    stub.chmod(0o700)


def sides_of(run):
    return list(map(int, subprocess.run(["pgrep", "-f", "^ponk-side .*" + run], capture_output=True, text=True).stdout.split()))


def side_of(run):
    sides = sides_of(run)
    assert len(sides) == 1
    return sides[0]


def test_a_run_that_is_lost_before_it_began_never_begins(gpus, ponk):
    gpus.set([{"name": "Only"}])
    ponk.write("hold.py", "import time; time.sleep(60)\n")
    holder = ponk.run("submit", "--async", "hold.py").stdout.decode().strip()
    wait_for(ponk, holder, "Running")
    marker = gpus.file.parent / "began"
    ponk.write("late.py", f"open({str(marker)!r}, 'w').close()\n")
    late = subprocess.Popen([ponk.program, "submit", "late.py"], cwd=ponk.project, env=ponk.environment, stdout=subprocess.DEVNULL,
                            stderr=subprocess.PIPE, text=True)
    run = next(line.split()[-1] for line in late.stderr if "RunId:" in line)
    wait_for(ponk, run, "Queued")
    slow_supervisor(ponk, 4)
    ponk.run("experiment", "cancel", holder)
    for _ in range(200):
        if subprocess.run(["pgrep", "-f", "ponk-stub-.*" + run], capture_output=True).stdout:
            break
        time.sleep(0.05)
    os.kill(sides_of(run)[0], signal.SIGKILL)
    wait_for(ponk, run, "Lost")
    time.sleep(5)
    assert not marker.exists()
    late.communicate(timeout=30)


def test_a_run_inside_a_run_does_not_wait_for_its_own_parent(gpus, ponk):
    gpus.set([{"name": "Only"}])
    ponk.write("inner.py", "print('inner ran')\n")
    ponk.write("outer.py", "import subprocess, sys\nsys.exit(subprocess.run([%r, 'submit', *sys.argv[1:], 'inner.py']).returncode)\n" % str(ponk.program))
    done = ponk.run("submit", "outer.py", timeout=60)
    assert b"inner ran" in done.stdout
    done = ponk.run("submit", "outer.py", "--gpus", "1", code=None, timeout=60)
    assert done.returncode != 0 and b"which submits this one, has the GPUs itself" in done.stdout, done.stdout


def test_who_waits_survives_a_disturbed_folder_and_does_not_flood(gpus, ponk):
    stranger = subprocess.Popen(["sleep", "4321"])
    try:
        gpus.set([{"name": "Only", "processes": [{"pid": stranger.pid, "memory": 3 << 30}]}])
        ponk.write("a.py", "print('ran')\n")
        waiting = subprocess.Popen([ponk.program, "submit", "a.py"], cwd=ponk.project, env=ponk.environment,
                                   stdout=subprocess.PIPE, stderr=subprocess.PIPE)
        for number in range(30):
            gpus.set([{"name": "Only", "processes": [{"pid": stranger.pid, "memory": (3 << 30) + (number << 27)}]}])
            time.sleep(0.1)
        locks = gpus.file.parent / "locks"
        locks.chmod(0o755)
        time.sleep(0.6)
        locks.chmod(0o1777)
        gpus.set([{"name": "Only"}])
        out, said = waiting.communicate(timeout=60)
        assert out == b"ran\n", said
        assert said.count(b"waiting for GPUs") <= 3, said
    finally:
        stranger.kill()
        stranger.wait()


def test_a_driver_that_does_not_say_who_is_on_the_card_is_waited_for(gpus, ponk):
    ponk.write("a.py", "print('ran')\n")
    gpus.set([{"name": "Only"}], sample_fails="driver busy")
    refused = ponk.run("submit", "--no-wait", "--gpus", "1", "a.py", code=None)
    assert refused.returncode != 0 and b"driver busy" in refused.stderr, refused.stderr


def test_a_killed_watcher_hurts_nothing_and_is_no_pass(gpus, ponk):
    ponk.write("work.py", "import time; time.sleep(2); print('done')\n")
    gpus.busy_with("work.py")
    run = ponk.run("submit", "--async", "work.py").stdout.decode().strip()
    wait_for(ponk, run, "Running")
    os.kill(side_of(run), signal.SIGKILL)
    assert b"busy" in ponk.run("submit", "--gpus", "all", "--no-wait", "work.py", code=None).stderr
    record = wait_for(ponk, run, "Completed")
    assert record["gpu_verdict"] == "unknown" and ponk.run("logs", run).stdout == b"done\n"


def test_a_foreign_process_counts_as_busy(gpus, ponk):
    stranger = subprocess.Popen(["sleep", "4321"])
    try:
        gpus.set([{"name": "Only", "processes": [{"pid": stranger.pid, "memory": 3 << 30}]}])
        ponk.write("a.py", "print('ran')\n")
        said = ponk.run("submit", "--no-wait", "a.py", code=None).stderr.decode()
        assert f"process {stranger.pid} (sleep)" in said and "3.0 GiB" in said, said
    finally:
        stranger.kill()
        stranger.wait()


def test_a_screen_keeps_nobody_waiting(gpus, ponk):
    screen = subprocess.Popen(["sleep", "4321"])
    try:
        gpus.set([{"name": "Only", "processes": [{"pid": screen.pid, "memory": 400 << 20, "draws_only": True}]}])
        ponk.write("a.py", "print('ran')\n")
        assert ponk.run("submit", "--no-wait", "a.py").stdout == b"ran\n"
    finally:
        screen.kill()
        screen.wait()


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
    assert done.returncode != 0 and b"has none" in done.stderr


REQUIRED = "Target: local\nFramework: Python\ngpu: required\n"


def test_required_passes_only_what_touched_its_gpu(gpus, ponk):
    ponk.write("aml_config/must.runconfig", REQUIRED)
    ponk.write("short.py", "import time; time.sleep(1.5); print('done')\n")
    done = ponk.run("submit", "-c", "must", "short.py", code=None, timeout=40)
    record = ponk.json("history", "info", "last")
    assert record["gpu_verdict"] == "cpu-fallback" and record["status"] == "Failed" and done.returncode != 0
    assert "'gpu: required' does not hold: no process of the run was seen" in record["error"]["message"]
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


def test_a_queued_run_shows_its_place_to_everybody_and_leaves_a_true_record(gpus, ponk):
    gpus.set([{"name": "Only"}])
    ponk.write("wait.py", "import time; time.sleep(60)\n")
    first = ponk.run("submit", "--async", "wait.py").stdout.decode().strip()
    wait_for(ponk, first, "Running")
    assert ponk.json("history", "info", first)["gpu_verdict"] is None
    second = ponk.run("submit", "--async", "wait.py").stdout.decode().strip()
    record = wait_for(ponk, second, "Queued")
    for _ in range(100):
        record = ponk.json("history", "info", second)
        if record["gpu_evidence"]:
            break
        time.sleep(0.1)
    assert record["gpu_evidence"]["phase"] == "queued" and record["gpu_evidence"]["position"] == 1, record
    assert first in json.dumps(record["gpu_evidence"]["waiting"]) and record["gpu_verdict"] is None
    assert b"queued (1)" in ponk.run("history", "list", "-o", "table").stdout
    follow = subprocess.Popen([ponk.program, "logs", "--follow", second], cwd=ponk.project, env=ponk.environment,
                              stdout=subprocess.PIPE, stderr=subprocess.PIPE)
    assert b"queued, place 1" in follow.stderr.readline()
    ponk.run("experiment", "cancel", second)
    said = follow.communicate(timeout=30)[1]
    assert b"ended before its script began: Canceled" in said, said
    record = wait_for(ponk, second, "Canceled")
    assert record["start_time_utc"] is None and record["exit_code"] is None and record["duration_ms"] is None
    assert record["timings"]["queue"] > 0, record["timings"]
    ponk.run("experiment", "cancel", first)
    wait_for(ponk, first, "Canceled")


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


def test_a_hidden_gpu_in_the_shell_is_a_wish_for_none(gpus, ponk):
    ponk.write("show.py", "import os; print(repr(os.environ.get('CUDA_VISIBLE_DEVICES')))\n")
    for value in ("-1", ""):
        ponk.environment["CUDA_VISIBLE_DEVICES"] = value
        done = ponk.run("submit", "show.py")
        assert done.stdout.decode() == repr(value) + "\n" and b"hides every GPU" in done.stderr
        assert ponk.json("history", "info", "last")["gpu_verdict"] == "not-requested"
    ponk.environment["CUDA_VISIBLE_DEVICES"] = "1,-1"
    assert ponk.run("submit", "show.py").stdout == b"'GPU-1'\n"


def test_each_card_has_a_banner_of_its_own_with_its_place_on_the_machine(gpus, ponk):
    ponk.write("a.py", "print('ran')\n")
    said = ponk.run("submit", "a.py").stderr.decode()
    assert "\nponk: available: GPU 0 (1 of 2)\n" in said and "\nponk: available: GPU 1 (2 of 2)\n" in said, said
    assert "ponk: available: GPU 1 (1 of 1)\n" in ponk.run("submit", "--gpus", "1,", "a.py").stderr.decode()


def test_required_ends_with_an_error_of_ponk(gpus, ponk):
    ponk.write("aml_config/must.runconfig", "Target: local\nFramework: Python\ngpu: required\ngpuGrace: 2s\n")
    ponk.write("sleep.py", "import time; time.sleep(60)\n")
    done = ponk.run("submit", "-c", "must", "sleep.py", code=None, timeout=40)
    said = done.stderr.decode()
    assert done.returncode == 72 and "\nponk: error: run " in said and "'gpu: required' does not hold" in said, said
    assert "\nponk: hint: " in said and said.count("touched a GPU in") == 1, said


def test_list_check_and_doctor_tell_of_the_cards(gpus, ponk):
    ponk.write("aml_config/bad.compute", "type: [\n")
    done = ponk.run("gpu", "list", "-o", "tsv")
    rows = [line.split("\t") for line in done.stdout.decode().splitlines()]
    assert [(row[0], row[1], row[3], row[6]) for row in rows] == [("local", "0", "Card A", "GPU-0"), ("local", "1", "Card B", "GPU-1")]
    assert b"bad: aml_config/bad.compute:" in done.stderr
    assert [check["message"] for check in ponk.json("doctor", code=None) if check["name"] == "gpu"][0].startswith("Card A, Card B")
    assert [gpu["name"] for gpu in ponk.json("computetarget", "check", "local")["gpus"]] == ["Card A", "Card B"]
    gpus.write({"devices": [], "problem": {"kind": "unavailable", "message": "driver and library differ", "hint": "Restart it."}})
    time.sleep(0.1)
    line = [check for check in ponk.json("doctor", code=None) if check["name"] == "gpu"][0]
    assert line["status"] == "warn" and line["hint"] == "Restart it.", line


def test_wishes_are_checked_where_they_stand(gpus, ponk):
    ponk.write("a.py", "print('ran')\n")
    ponk.write("aml_config/x.runconfig", "Target: local\nFramework: Python\ngpus: -2\n")
    assert ponk.json("check", code=65)[0]["line"] == 3
    assert b"aml_config/x.runconfig:3:7" in ponk.run("submit", "-c", "x", "a.py", code=None).stderr
    before = len(ponk.json("history", "list"))
    for wrong in ("two", "1.5", "nnone", "true"):
        assert b"--gpus" in ponk.run("submit", "--gpus", wrong, "a.py", code=None).stderr
    assert len(ponk.json("history", "list")) == before
    assert ponk.run("submit", "--gpus", "None", "a.py").stdout == b"ran\n"
    assert b"hint:" in ponk.run("submit", "--gpus", "0,0", "a.py", code=None).stderr


def test_a_lost_card_is_named_and_not_called_free(gpus, ponk):
    gpus.set([{"name": "Only", "sample": {"utilisation": 0.0, "lost": "fallen off the bus"}}])
    ponk.write("a.py", "print('ran')\n")
    said = ponk.run("submit", "--no-wait", "a.py", code=None).stderr.decode()
    assert "GPU 0 (GPU-0) is lost (fallen off the bus)" in said, said
