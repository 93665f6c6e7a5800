# SPDX-License-Identifier: Apache-2.0
"""GPUs that are not there, for tests of runs with them: real locks, real processes, a driver made of a file."""
import json
import pathlib
import subprocess
import time

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

    def busy_with(self, word, utilisation=0.9, own="the same", **more):
        """The first card works for every process of Python with this word in its command. `own`: what the driver tells of them, None for
        one that tells nothing by process."""
        state = json.loads(self.file.read_text())
        process = {"command": word, "program": "python", "memory": 5 << 30}
        if own is not None:
            process.update(sm_utilisation=utilisation if own == "the same" else own, sm_span_ms=1)
        state["devices"][0]["processes"] = [process]
        state["devices"][0]["sample"].update(utilisation=utilisation, **more)
        self.write(state)

    def run(self, *words, **more):
        self.ponk.run("submit", *words, **more)
        return self.ponk.json("history", "info", "last")


def wait_for(ponk, run, *states):
    for _ in range(300):
        record = ponk.json("history", "info", run)
        if record["status"] in states:
            return record
        time.sleep(0.1)
    raise AssertionError(record["status"])


def pids_of(ponk, run):
    text = (ponk.task(run) / "pid").read_text()
    return {line.split()[0]: int(line.split()[1]) for line in text.splitlines() if line.split()[0] in ("stub", "guard", "main")}


def slow_supervisor(ponk, seconds):
    """The installed supervisor takes its time, as on a machine that has much to do."""
    stub = next((ponk.home / "lib").glob("ponk-stub-*"))
    real = stub.with_name("slow")
    stub.rename(real)
    stub.write_text(f"#!/bin/sh\n/bin/sleep {seconds}\nexec {real} \"$@\"\n")
    stub.chmod(0o700)


def sides_of(run):
    return list(map(int, subprocess.run(["pgrep", "-f", "^ponk-gpu-monitor .*" + run], capture_output=True, text=True).stdout.split()))


def side_of(run):
    sides = sides_of(run)
    assert len(sides) == 1
    return sides[0]
