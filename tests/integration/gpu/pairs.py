#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Training followed at once by a script that does nothing, many times: pairs.py PONK [-n 25] [--docker PACK] [--raw FOLDER]

On a machine with an NVIDIA GPU and a python3 that has PyTorch for it. The training must be `confirmed` each time, what follows it never.
The second run of every other pair waits in the queue while the first computes, so that it starts in the moment in which that ends. After
the pairs, a process that ponk does not know computes on the card while a run holds it and does nothing. With --docker the
runs are in containers of the engine in PACK. With --raw FOLDER: what the driver answered during the first pairs (nvml_stream.py), and
the records of all runs. The exit code is the number of false verdicts."""
import argparse
import json
import os
import pathlib
import shutil
import subprocess
import sys
import tempfile
import time

import check_gpu

IDLE = """
import sys, time, torch
x = torch.empty(1 << 30, dtype=torch.uint8, device="cuda")
time.sleep(float(sys.argv[1])); print("held", x.numel())
"""
FAILS = """
import torch
try: torch.empty(1 << 45, dtype=torch.uint8, device="cuda")
except RuntimeError as error: print("refused:", str(error)[:60])
"""
# A context and memory without a framework: on the card some tenths of a second after its start.
BARE = """
import ctypes, sys, time
cuda, context, memory = ctypes.CDLL("libcuda.so.1"), ctypes.c_void_p(), ctypes.c_void_p()
codes = [cuda.cuInit(0), cuda.cuDevicePrimaryCtxRetain(ctypes.byref(context), 0), cuda.cuCtxSetCurrent(context),
         cuda.cuMemAlloc_v2(ctypes.byref(memory), ctypes.c_size_t(1 << 30))]
time.sleep(float(sys.argv[1])); print("codes", codes); sys.exit(any(codes))
"""
SECONDS = ["idle.py", "fails.py", "bare.py"]


class Pairs:
    def __init__(self, checks, words, options):
        self.checks, self.words, self.options, self.rows, self.false = checks, words, options, [], 0
        for name, text in {"idle.py": IDLE, "fails.py": FAILS, "bare.py": BARE}.items():
            (checks.project / name).write_text(text)
        self.raw = pathlib.Path(options.raw) if options.raw else None
        self.stream = None
        if self.raw:
            self.raw.mkdir(parents=True, exist_ok=True)

    def watch_driver(self, name):
        if self.raw:
            self.stream = subprocess.Popen([sys.executable, str(pathlib.Path(__file__).parent / "nvml_stream.py"), str(self.raw / name), "0.1"],
                                           stdin=subprocess.PIPE)

    def stop_watching(self):
        if self.stream:
            self.stream.stdin.close()
            self.stream.wait(20)
            self.stream = None

    def start(self, *words):
        return subprocess.Popen([self.checks.ponk, "submit", "-o", "json", *self.words, *map(str, words)], cwd=self.checks.project,
                                env=self.checks.environment, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True)

    def finish(self, pair, script, process, wanted):
        said, trouble = process.communicate(timeout=120)
        try:
            record = json.loads(said)
        except ValueError:
            print(said[-1000:], trouble[-3000:])
            self.false += 1
            return
        verdict, gpu = record["gpu_verdict"], record.get("gpu_evidence") or {}
        good = (verdict == "confirmed") == (wanted == "confirmed") and record["status"] == "Completed"
        self.false += not good
        device = ((gpu.get("evidence") or {}).get("devices") or [{}])[0]
        figures = {name: round(device[name], 4) for name in ("held_seconds", "measured_seconds", "worked_seconds", "utilisation_peak", "sm_activity_mean")
                   if device.get(name) is not None}
        self.rows.append((pair, script, record["status"], verdict, device.get("activity_from", ""), figures, good))
        print(f"{'ok ' if good else 'BAD'} {pair:3} {script:9} {record['status']:9} {verdict:12} {device.get('activity_from', ''):12} {figures}"
              + ("" if good else f"  {gpu.get('reason')} {trouble[-1000:]}"), flush=True)
        if self.raw:
            with open(self.raw / "records.jsonl", "a") as out:
                print(json.dumps({"pair": pair, "script": script, "good": good, "record": record}), file=out)

    def pair(self, number):
        script = SECONDS[number % len(SECONDS)]
        first = self.start("train.py", self.options.train)
        if number % 2 == 1:
            time.sleep(1)
            second = self.start(script, self.options.idle)
            self.finish(number, "train.py", first, "confirmed")
        else:
            first.wait(120)
            second = self.start(script, self.options.idle)
            self.finish(number, "train.py", first, "confirmed")
        self.finish(number, script, second, "not confirmed")

    def intruder(self, number):
        """Somebody who asks for no lease computes while a run does nothing."""
        run = self.start("idle.py" if number % 2 else "bare.py", 18)  # PyTorch needs ten seconds to its first kernel
        time.sleep(2.5)
        other = subprocess.run([sys.executable, str(self.checks.project / "train.py"), "2"], capture_output=True, text=True)
        self.finish(number, "intruder", run, "not confirmed")
        if other.returncode:
            print(other.stderr[-500:])

    def none(self):
        """The card is hidden from a run that asks for none."""
        done = self.start("--gpus", "none", "--env", "CUDA_VISIBLE_DEVICES=0", "none.py")
        said, trouble = done.communicate(timeout=120)
        good = done.returncode == 0
        self.false += not good
        print(f"{'ok ' if good else 'BAD'} --gpus none hides the card" + ("" if good else f": {said[-300:]} {trouble[-1000:]}"), flush=True)

    def print_table(self, seconds):
        print("\n| second run | runs | verdicts | most seconds of work that were counted |\n|---|---|---|---|")
        for script in ["train.py", *SECONDS, "intruder"]:
            rows = [row for row in self.rows if row[1] == script]
            if rows:
                verdicts = {verdict: sum(row[3] == verdict for row in rows) for verdict in sorted({row[3] for row in rows})}
                least = min if script == "train.py" else max
                print(f"| {script} | {len(rows)} | {verdicts} | {least(row[5].get('worked_seconds', 0) for row in rows)}"
                      f"{' (least)' if script == 'train.py' else ''} |")
        print(f"{len(self.rows)} runs, {self.false} false verdicts, {seconds:.0f} s")


def main():
    words = argparse.ArgumentParser(description=__doc__)
    words.add_argument("ponk")
    words.add_argument("-n", type=int, default=25)
    words.add_argument("--docker")
    words.add_argument("--raw", help="folder for what the driver answered and for the records")
    words.add_argument("--raw-pairs", type=int, default=6)
    words.add_argument("--train", type=float, default=3)
    words.add_argument("--idle", type=float, default=2.5)
    words.add_argument("--intruders", type=int, default=2)
    words.add_argument("--at-most", type=float, default=510, help="seconds after which no pair is begun")
    options = words.parse_args()
    began = time.monotonic()
    folder = pathlib.Path(tempfile.mkdtemp(prefix="ponk-pairs-"))
    checks = check_gpu.Checks(os.path.abspath(options.ponk), folder, None)
    engine, command = None, []
    pairs = None
    try:
        if options.docker:
            import container
            engine = container.prepare(checks, options.docker, folder)
            command = ["-c", "box"]
        pairs = Pairs(checks, command, options)
        pairs.none()
        for number in range(options.n):
            if time.monotonic() - began > options.at_most:
                print(f"only {number} of {options.n} pairs fit into {options.at_most:.0f} s")
                pairs.false += 1
                break
            if number == 0:
                pairs.watch_driver("pairs.jsonl")
            if number == options.raw_pairs:
                pairs.stop_watching()
            pairs.pair(number)
        pairs.stop_watching()
        for number in range(options.intruders):
            if number == 0:
                pairs.watch_driver("intruders.jsonl")
            pairs.intruder(number)
        pairs.print_table(time.monotonic() - began)
    finally:
        if pairs:
            pairs.stop_watching()
        subprocess.run([checks.ponk, "daemon", "stop"], env=checks.environment, capture_output=True)
        if engine:
            engine.terminate()
            engine.wait(30)
        shutil.rmtree(folder, ignore_errors=True)
    return min(pairs.false, 100)


if __name__ == "__main__":
    sys.exit(main())
