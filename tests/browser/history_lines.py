# SPDX-License-Identifier: Apache-2.0
"""Lines of a made history for the page: runs of one project in all states, the same for the same arguments.

    history_lines.py COUNT [NOW_MS] > lines      `ponk history import lines` reads them
"""
import json
import math
import sys
import time

NAMES = ["wide-256", "wide-128", "deep-4", "dropout-02", "dropout-05", "sgd", "adamw", "night run", "augment", "fp16", "fp32", "warmup"]
TARGETS = [("gpu-box", "remotedocker"), ("gpu-box", "remotedocker"), ("local", "local"), ("slurm", "remote")]
SCRIPTS = ["train.py", "train.py", "train.py", "finetune.py", "evaluate.py"]
STATES = ["Completed"] * 9 + ["Failed", "Completed", "Completed", "Canceled", "Completed", "Lost", "Completed"]
VERDICTS = ["confirmed", "confirmed", "confirmed", "idle", "confirmed", "cpu-fallback", "confirmed"]
REASONS = {
    "confirmed": "The process held 11.4 GiB on GPU 0 for 8 min 36 s and kept it busy for 98 % of that time",
    "idle": "The process held memory on GPU 0, which was busy for 2 % of that time",
    "cpu-fallback": "No process of the run was ever on a GPU, and it kept 7.8 cores busy",
}


def iso(ms):
    return time.strftime("%Y-%m-%dT%H:%M:%S", time.gmtime(ms / 1000)) + ".%03dZ" % (ms % 1000)


def curve(number, base, points, start, took):
    """A falling and a rising series with small waves."""
    loss, accuracy = [], []
    for i in range(points):
        at = start + took * i // max(points, 1)
        wave = 0.03 * math.sin(i * 1.7 + number) * math.exp(-i / points)
        fall = math.exp(-5.0 * i / points)
        loss.append([i * 50, at, round(base + (2.1 - base) * fall + wave, 6)])
        accuracy.append([i * 50, at, round(1 - base * 0.4 - 0.86 * fall - wave / 3, 6)])
    return {"loss": loss, "accuracy": accuracy}


def line_of(number, count, now, points):
    state = STATES[(number * 7) % len(STATES)]
    target, kind = TARGETS[(number * 5) % len(TARGETS)]
    age = int((count - number) ** 1.35 * 240_000) + 400_000
    took = 40_000 + (number * 7919) % 1_700_000 if state == "Completed" else 12_000
    created, started = now - age - took - 4_000, now - age - took
    ended = started + took
    rate = [0.003, 0.001, 0.01, 0.0003][number % 4]
    hidden = [256, 128, 64][number % 3]
    verdict = VERDICTS[number % len(VERDICTS)] if target != "local" and state == "Completed" else "not-requested"
    series = curve(number, 0.14 + (number * 37 % 100) / 900, points, started, took) if state == "Completed" else {}
    run = {
        "run_id": "%012x%020x" % (0x019000000000 + number, (number * 2654435761 + 12345) % 2**64),
        "run_number": number, "name": NAMES[number % len(NAMES)], "status": state,
        "exit_code": {"Completed": 0, "Failed": 1}.get(state), "error": None, "project": "%032x" % 0xA11CE, "project_path": "/home/ann/mnist-vision",
        "script_name": SCRIPTS[(number * 3) % len(SCRIPTS)], "arguments": ["--epochs", "20", "--lr", str(rate), "--hidden", str(hidden)],
        "target": target, "target_type": kind, "run_configuration": target, "framework": "Python", "user": "ann", "host": target,
        "created_utc": iso(created), "start_time_utc": iso(started), "end_time_utc": iso(ended), "duration_ms": took, "tracked": True,
        "params": {"lr": str(rate), "hidden": str(hidden), "optimizer": ["adamw", "sgd"][number % 5 == 0], "epochs": "20"},
        "tags": {**({"sweep": "lr-%d" % (number // 12)} if number % 4 == 1 else {}), **({"baseline": "yes"} if number % 9 == 0 else {})},
        "timings": {"snapshot": 9, "materialise": 40, "prepare": 0, "queue": 0, "start": 15, "run": took, "collect": 30},
        "gpu": None if verdict == "not-requested" else {"verdict": verdict, "reason": REASONS[verdict], "devices": []},
        "times": {"created": created, "started": started, "ended": ended, "deleted": 0}, "origin": "engine",
    }
    metrics = {key: {"latest": values[-1][2], "count": len(values), "points": values} for key, values in series.items() if values}
    if series and number % 2 == 0:
        metrics["epoch_time"] = {"latest": took / 20_000, "count": 1, "points": [[0, ended, took / 20_000]]}
    experiment = {"id": 77, "name": "mnist-vision", "project": run["project"], "project_name": "mnist-vision", "path": run["project_path"],
                  "origin": "folder", "created": now - 10**10, "updated": now}
    return json.dumps({"run": run, "experiment": experiment, "metrics": metrics, "events": []})


def write(stream, count, now, points=40):
    for number in range(1, count + 1):
        stream.write(line_of(number, count, now, points) + "\n")


if __name__ == "__main__":
    write(sys.stdout, int(sys.argv[1]), int(sys.argv[2]) if len(sys.argv) > 2 else int(time.time() * 1000))
