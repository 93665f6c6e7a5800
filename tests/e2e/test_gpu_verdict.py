# SPDX-License-Identifier: Apache-2.0
"""What history, lists and comparisons show of the GPUs of runs. The records are put into a database that no daemon has open."""
import contextlib
import json
import sqlite3

import pytest

SCRIPT = """
import ponk
ponk.log("loss", 0.5)
for second in range(6):
    for place in (0, 1):
        ponk.log(f"system/gpu.{place}.utilisation", 40 * place + 10 * second, step=second)
        ponk.log(f"system/gpu.{place}.sm_activity", 5 * second, step=second)
        ponk.log(f"system/gpu.{place}.memory_used", second * 2**30, step=second)
        ponk.log(f"system/gpu.{place}.power", 300 + second, step=second)
        ponk.log(f"system/gpu.{place}.energy", 310 * second, step=second)
        ponk.log(f"system/gpu.{place}.temperature", 51, step=second)
"""


def gpu(verdict, reason):
    devices = [{"uuid": f"GPU-{place}", "name": "NVIDIA H200", "memory_total": 150754820096} for place in (0, 1)]
    seen = [{"uuid": "GPU-0", "held_seconds": 44.0, "worked_seconds": 41.3, "memory_peak": 2 << 30, "energy_joules": 1550.0},
            {"uuid": "GPU-1", "held_seconds": 0.0, "worked_seconds": 0.0, "memory_peak": 0}]
    return {"phase": "ended", "requested": "all", "required": False, "driver_version": "580.65.06", "cuda_version": "13.0",
            "way": "nvml", "devices": devices, "container": None, "verdict": verdict, "reason": reason,
            "evidence": {"samples": 45, "devices": seen}, "enforced": ""}


@pytest.fixture
def judged(ponk):
    """Three runs: confirmed, fallen back, without GPUs."""
    ponk.write("train.py", SCRIPT)
    ponk.write("plain.py", "import ponk\nponk.log('loss', 0.75)\n")
    for script in ("train.py", "train.py", "plain.py"):
        ponk.run("submit", script)
    ponk.run("daemon", "stop")
    [database] = ponk.home.glob("history/*.db")
    with contextlib.closing(sqlite3.connect(database)) as connection, connection:
        for number, state in ((1, gpu("confirmed", "busy 41.3 s of 44.0 s (94 %)")), (2, gpu("cpu-fallback", "nobody was there"))):
            [(details,)] = connection.execute("SELECT details FROM run WHERE number = ?", (number,))
            connection.execute("UPDATE run SET details = ?, gpu_verdict = ? WHERE number = ?",
                               (json.dumps({**json.loads(details), "gpu": state}), state["verdict"], number))
    return ponk


def test_the_list_has_the_verdicts_and_can_be_filtered_by_them(judged):
    heading, *rows = judged.text("history", "list", "-o", "table").splitlines()

    assert "gpu" in heading.split() and "system/" not in heading and "loss" in heading
    assert ["cpu-fallback" in row for row in rows[-3:]] == [False, True, False]
    assert [run["run_number"] for run in judged.json("history", "list", "--gpu", "confirmed")] == [1]
    assert [run["run_number"] for run in judged.json("history", "list", "--gpu", "not-requested")] == [3]
    assert judged.json("history", "list", "--query", "[?gpu_verdict == 'cpu-fallback'].gpu_evidence.reason") == ["nobody was there"]
    assert b"'--gpu' is 'passed', not one of confirmed" in judged.run("history", "list", "--gpu", "passed", code=64).stderr


def test_a_run_shows_devices_verdict_and_curves_apart_from_the_scripts_metrics(judged):
    text = judged.text("history", "info", "1", "-o", "table")

    assert "confirmed: busy 41.3 s of 44.0 s (94 %)" in text
    assert "NVIDIA H200 (140.4 GiB, GPU-0): busy 41.3 s of 44.0 s, 2.0 GiB at most, 1.6 kJ" in text
    assert "GPU-1): not used" in text and "580.65.06, CUDA 13.0" in text
    for title in ("GPU utilisation, %", "SM activity, %", "GPU memory in use, GiB", "GPU power, W", "GPU energy since the start, J"):
        assert title in text
    assert text.count("GPU 1 ") == 5 and "system/gpu.0.power" not in text
    assert text.index("loss") < text.index("GPU utilisation") < text.index("system/gpu.0.temperature")
    record = judged.json("history", "info", "1")
    assert record["gpu_verdict"] == "confirmed" and record["gpu_evidence"]["evidence"]["samples"] == 45
    assert "verdict" not in record["gpu_evidence"] and record["metrics"]["system/gpu.0.power"] == 305
    assert judged.json("history", "info", "3")["gpu_evidence"] is None


def test_a_comparison_shows_the_verdicts(judged):
    different = judged.text("history", "compare", "1", "2", "-o", "table")
    assert "gpu_verdict" in different and "confirmed" in different and "cpu-fallback" in different
    fields = {row["field"]: row["values"] for row in judged.json("history", "compare", "1", "3")["differences"]}
    assert fields["gpu_verdict"] == ["confirmed", "not-requested"]
    assert "loss" in fields and not [name for name in fields if name.startswith("system/") or name == "gpu_evidence"]


def test_history_made_again_from_the_runs_folders_has_what_they_noted(judged):
    """A run of a version that knew nothing of GPUs has none."""
    judged.run("daemon", "stop")
    for file in judged.home.glob("history/*.db*"):
        file.write_bytes(b"this is no database" * 500)
    for file in judged.home.glob("history/backups/*.db"):
        file.unlink()
    for note in (judged.home / "runs").glob("*/end.json"):
        record = json.loads(note.read_text())
        if record["run_number"] == 1:
            record["gpu"] = gpu("confirmed", "busy")
        if record["run_number"] == 3:
            del record["gpu"]
        note.write_text(json.dumps(record))

    verdicts = {run["run_number"]: run["gpu_verdict"] for run in judged.json("history", "list")}

    assert verdicts == {1: "confirmed", 2: "not-requested", 3: "not-requested"}
