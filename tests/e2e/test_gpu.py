# SPDX-License-Identifier: Apache-2.0
"""Runs with GPUs that are not there: what they get and what is said of them."""
import json
import os
import subprocess
import time

import pytest
from gpus import wait_for


def test_a_run_that_works_on_its_gpu_is_confirmed_with_figures_and_metrics(gpus, ponk):
    ponk.write("train.py", "import time; time.sleep(2.5)\n")
    gpus.busy_with("train.py")
    done = ponk.run("submit", "train.py")
    said = done.stderr.decode()
    record = ponk.json("history", "info", "last")

    assert record["gpu_verdict"] == "confirmed", record["gpu_evidence"]
    assert "Card A" in said and "available" in said  # the banner
    assert "gpu: confirmed" in said
    assert [device["name"] for device in record["gpu_evidence"]["devices"]] == ["Card A", "Card B"]
    assert record["gpu_evidence"]["evidence"]["devices"][0]["worked_seconds"] > 0
    assert record["metrics"]["system/gpu.0.utilisation"] == 90


def test_the_script_sees_its_devices_by_uuid(gpus, ponk):
    ponk.write("show.py", "import os; print(os.environ['CUDA_VISIBLE_DEVICES'], os.environ['CUDA_DEVICE_ORDER'])\n")
    assert ponk.run("submit", "show.py").stdout == b"GPU-0,GPU-1 PCI_BUS_ID\n"
    assert ponk.run("submit", "--gpus", "1", "show.py").stdout == b"GPU-0 PCI_BUS_ID\n"
    assert ponk.run("submit", "--gpus", "GPU-1", "show.py").stdout == b"GPU-1 PCI_BUS_ID\n"
    ponk.write("show.py", "import os; print(os.environ.get('CUDA_VISIBLE_DEVICES'))\n")
    assert ponk.run("submit", "--env", "CUDA_VISIBLE_DEVICES=7", "show.py").stdout == b"7\n"
    assert ponk.json("history", "info", "last")["gpu_verdict"] != "not-requested"


def test_a_run_that_wants_no_gpu_sees_none_whatever_else_is_set(gpus, ponk):
    ponk.write("show.py", "import os; print(*(repr(os.environ.get(n + '_VISIBLE_DEVICES')) for n in ('CUDA', 'HIP', 'ROCR')))\n")
    hidden = b"'' '-1' '-1'\n"
    assert ponk.run("submit", "--gpus", "none", "show.py").stdout == hidden
    assert ponk.json("history", "info", "last")["gpu_verdict"] == "not-requested"
    done = ponk.run("submit", "--gpus", "none", "--env", "CUDA_VISIBLE_DEVICES=0", "show.py")
    assert done.stdout == hidden and b"CUDA_VISIBLE_DEVICES='0' is ignored" in done.stderr
    ponk.write("aml_config/without.runconfig", "Target: local\nFramework: Python\ngpu: none\nEnvironmentVariables:\n  HIP_VISIBLE_DEVICES: '0'\n")
    assert ponk.run("submit", "-c", "without", "show.py").stdout == hidden
    ponk.environment["CUDA_VISIBLE_DEVICES"] = "0"
    assert ponk.run("submit", "--gpus", "none", "show.py").stdout == hidden


def test_work_before_the_run_is_not_its_own(gpus, ponk):
    """The driver's mean still speaks of somebody's work when a run that does nothing has the card."""
    ponk.write("idle.py", "import time; time.sleep(2.5)\n")
    gpus.busy_with("idle.py", utilisation=0.65, own=None)
    record = gpus.run("idle.py")
    assert record["gpu_verdict"] == "unknown", record["gpu_evidence"]
    gpus.busy_with("idle.py", utilisation=0.65, own=None, sm_activity=0.0)
    record = gpus.run("idle.py")
    assert record["gpu_verdict"] == "idle", record["gpu_evidence"]
    assert "were not counted" in record["gpu_evidence"]["reason"]


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
    for request, given in (("0,", "MIG-a"), ("0,1", "MIG-a,MIG-b"), ("GPU-card", "MIG-a,MIG-b")):
        assert ponk.run("submit", "--gpus", request, "show.py").stdout.decode() == given + "\n"


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


def test_gpus_not_asked_for_and_no_gpu_machine(gpus, ponk):
    ponk.write("a.py", "print('ran')\n")
    record = gpus.run("--gpus", "none", "a.py")
    assert record["gpu_verdict"] == "not-requested" and record["gpu_evidence"] is None
    gpus.write({"devices": []})
    assert gpus.run("a.py")["gpu_verdict"] == "not-requested"
    said = ponk.run("submit", "--gpus", "1", "a.py", code=None).stderr
    assert b"ponk: error:" in said and b"no driver on this machine reports one" in said
    gpus.write({"devices": [], "problem": {"kind": "unavailable", "message": "driver and library differ", "hint": "Restart it."}})
    said = ponk.run("submit", "--gpus", "1", "a.py", code=None).stderr
    assert b"driver and library differ" in said and b"Restart it." in said


@pytest.mark.parametrize("selection,said", [("3", b"2"), ("GPU-9", b"GPU-9"), ("-1", b"--gpus"), ("x", b"no GPU 'x'"), ("GPU-", b"GPU-")])
def test_selections_that_cannot_be_met(gpus, ponk, selection, said):
    ponk.write("a.py", "print('ran')\n")
    done = ponk.run("submit", "--gpus", selection, "a.py", code=None)
    assert done.returncode != 0 and said in done.stderr and b"hint:" in done.stderr, done.stderr


def test_a_hidden_gpu_in_the_shell_asks_for_none(gpus, ponk):
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


def test_selections_are_checked_where_they_are_written(gpus, ponk):
    ponk.write("a.py", "print('ran')\n")
    ponk.write("aml_config/x.runconfig", "Target: local\nFramework: Python\ngpus: -2\n")
    assert ponk.json("check", code=65)[0]["line"] == 3
    assert b"aml_config/x.runconfig:3:7" in ponk.run("submit", "-c", "x", "a.py", code=None).stderr
    before = len(ponk.json("history", "list"))
    for wrong in ("two", "1.5", "nnone", "true", "3x"):
        assert b"--gpus" in ponk.run("submit", "--gpus", wrong, "a.py", code=None).stderr
    assert len(ponk.json("history", "list")) == before
    assert ponk.run("submit", "--gpus", "None", "a.py").stdout == b"ran\n"
    assert b"hint:" in ponk.run("submit", "--gpus", "0,0", "a.py", code=None).stderr
