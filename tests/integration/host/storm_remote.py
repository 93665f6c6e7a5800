#!/usr/bin/python3
# SPDX-License-Identifier: Apache-2.0
"""Cuts the way to another machine at random moments while runs write logs that check themselves.

    storm_remote.py --ponk build/release/ponk --cuts 500 --seed 7

A few runs are always under way, in containers and without. Each cut takes one of: the session or the master of SSH, the
machine's sshd processes (killed or stopped for a while), ponk-agent, the daemon, the engine (with live-restore), or all
packets of the machine's network for some seconds. At the end every run must have the oracle's log, byte for byte, and its
exit code, and must have been started once. Prints a line per kind of cut; the folder of a failing storm is kept."""
import argparse
import collections
import json
import os
import pathlib
import random
import signal
import sys
import tempfile
import time

HERE = pathlib.Path(__file__).resolve()
sys.path[:0] = [str(HERE.parents[2] / "support"), str(HERE.parents[1] / "docker"), str(HERE.parent), str(HERE.parents[2] / "storms")]
import host as hosts  # noqa: E402
import engine as engines  # noqa: E402
import oracle  # noqa: E402
from workbench import Ponk  # noqa: E402

SLOWER = 12  # than the oracle itself: a run shall see several cuts
SCRIPT = """
import os, sys, time
sys.path.insert(0, os.getcwd())
import oracle
wait = time.sleep
oracle.time.sleep = lambda span: wait(span * %d)
oracle.main(sys.argv[1], int(sys.argv[2]), os.environ['AZUREML_NATIVE_SHARE_DIRECTORY'])
""" % SLOWER
AT_ONCE = 4
ENDED = ("Completed", "Failed", "Canceled", "Lost")
NEVER_BEGAN = "nothing was executed"


class Storm:
    def __init__(self, program, folder, engine, machine, seed):
        self.dice = random.Random(seed)
        self.engine, self.machine = engine, machine
        self.ponk = Ponk(program, folder)
        self.ponk.environment["PATH"] = os.environ["PATH"]
        machine.trust(self.ponk)
        self.ponk.write("oracle.py", pathlib.Path(oracle.__file__).read_text())
        self.ponk.write("storm.py", SCRIPT)
        share = f"nativeSharedDirectory: {machine.folder}/share/"
        self.ponk.write("aml_config/plain.compute", machine.compute("remote", "pythonLocation: python3", share))
        self.ponk.write("aml_config/docker.compute",
                        machine.compute("remotedocker", f"baseDockerImage: {engines.IMAGE}", share))
        for name in ("plain", "docker"):
            self.ponk.write(f"aml_config/{name}.runconfig",
                            f"Target: {name}\nFramework: Python\nPrepareEnvironment: false\nCondaDependenciesFile: null\n"
                            "SparkDependenciesFile: null\n")
        self.ponk.run("allow", "folder", f"{machine.folder}/share/")
        self.runs = {}  # id: (attempt, seed, target)
        self.cuts = collections.Counter()

    def submit(self):
        number = len(self.runs)
        seed = self.dice.getrandbits(31)
        target = self.dice.choice(("plain", "docker"))
        done = self.ponk.run("submit", "-c", target, "--async", "-o", "json", "storm.py", f"run{number}", seed, code=None)
        listed = self.ponk.json("history", "list", "--limit", "1") if done.returncode else None
        text = done.stdout.decode()
        run = text[text.index("{"):] if "{" in text else None
        record = json.loads(run) if run else (listed or [{}])[0]
        assert "run_id" in record, (done.returncode, text, done.stderr)
        self.runs[record["run_id"]] = (f"run{number}", seed, target)

    def active(self):
        return [run for run in self.ponk.json("history", "list", "--limit", "200") if run["status"] not in ENDED]

    def ssh_processes(self, master):
        found = []
        for entry in pathlib.Path("/proc").iterdir():
            if not entry.name.isdigit():
                continue
            try:
                ours = os.readlink(entry / "cwd").startswith(str(self.ponk.home / "ssh"))
                words = (entry / "cmdline").read_bytes()
            except OSError:
                continue
            if ours and (b"ControlMaster=no" not in words) == master:
                found.append(int(entry.name))
        return found

    def kill(self, pids, number=signal.SIGKILL):
        for pid in pids:
            hosts.signal_process(pid, number)
        return bool(pids)

    def cut(self):
        kinds = {
            "ssh session": lambda: self.kill(self.ssh_processes(False)),
            "ssh master": lambda: self.kill(self.ssh_processes(True)),
            "sshd killed": lambda: self.kill(self.machine.sessions()),
            "sshd stopped": self.stop_sshd,
            "ponk-agent": lambda: self.kill(self.machine.helpers()),
            "daemon": lambda: self.kill([self.ponk.json("daemon", "status")["pid"]]),
            "engine": self.kill_engine,
            "packets": self.drop_packets,
        }
        weights = {"engine": 0.4, "packets": 1.5}
        kind = self.dice.choices(list(kinds), [weights.get(name, 1) for name in kinds])[0]
        if kinds[kind]():
            self.cuts[kind] += 1
            return True
        return False

    def stop_sshd(self):
        pids = self.machine.sessions()
        self.kill(pids, signal.SIGSTOP)
        time.sleep(self.dice.uniform(0.5, 2))
        self.kill(pids, signal.SIGCONT)
        return bool(pids)

    def kill_engine(self):
        self.engine.stop(signal.SIGKILL)
        time.sleep(self.dice.uniform(0, 1))
        self.engine.start()
        return True

    def drop_packets(self):
        self.machine.network.cut()
        time.sleep(self.dice.uniform(0.5, 4))
        if self.dice.random() < 0.5:  # a connection that will never speak again
            self.kill(self.ssh_processes(True))
        self.machine.network.repair()
        return True

    def rage(self, count):
        while sum(self.cuts.values()) < count:
            while len(self.active()) < AT_ONCE:
                self.submit()
            time.sleep(self.dice.uniform(0.1, 1.2))
            self.cut()
        deadline = time.monotonic() + 240
        while self.active():
            assert time.monotonic() < deadline, self.active()
            time.sleep(0.5)

    def judge(self):
        problems, verdicts = [], collections.Counter()
        for run_id, (attempt, seed, target) in self.runs.items():
            run = self.ponk.json("history", "info", run_id)
            pieces, _, code = oracle.expected(seed)
            starts = [place.read_text().count("\n") for place in (self.machine.folder / "share").glob(f"*/{attempt}.start")]
            never = run["status"] == "Failed" and NEVER_BEGAN in str(run["error"])
            verdicts["never begun" if never else run["status"]] += 1
            if never:
                if starts:
                    problems.append(f"{attempt}: began, and is said not to have")
                continue
            log = (self.ponk.task(run_id) / "log").read_bytes()
            if run["exit_code"] != code or run["status"] != ("Completed" if code == 0 else "Failed"):
                problems.append(f"{attempt} ({target}): {run['status']} {run['exit_code']} {run['error']}, expected {code}")
            if log != b"".join(pieces):
                problems.append(f"{attempt} ({target}): its log has {len(log)} bytes of {sum(map(len, pieces))}, or others")
            if starts != [1]:
                problems.append(f"{attempt} ({target}): started {starts} times")
        return problems, verdicts


def weather(program, folder, cuts, seed):
    """The storm from beginning to end; returns what went wrong."""
    folder = pathlib.Path(folder)
    engine = engines.Engine(tempfile.mkdtemp(prefix="pd", dir="/tmp"), ["--live-restore"])
    network = hosts.Network()
    machine = hosts.Host(tempfile.mkdtemp(prefix="pb", dir="/tmp"), {"DOCKER_HOST": f"unix://{engine.socket}"}, network)
    storm = None
    try:
        engine.start()
        engine.load_base()
        network.start()
        machine.start()
        (machine.folder / "share").mkdir()
        storm = Storm(program, folder, engine, machine, seed)
        storm.rage(cuts)
        problems, verdicts = storm.judge()
        print(f"{sum(storm.cuts.values())} cuts: " + ", ".join(f"{kind} {count}" for kind, count in sorted(storm.cuts.items())))
        print(f"{len(storm.runs)} runs: " + ", ".join(f"{word} {count}" for word, count in sorted(verdicts.items())))
        return problems
    finally:
        if storm:
            storm.ponk.run("daemon", "stop", code=None)
            storm.kill(storm.ssh_processes(True) + storm.ssh_processes(False))
        machine.stop()
        network.stop()
        machine.remove()
        engine.stop()
        engine.remove()


if __name__ == "__main__":
    parser = argparse.ArgumentParser()
    parser.add_argument("--ponk", required=True)
    parser.add_argument("--cuts", type=int, default=20)
    parser.add_argument("--seed", type=int, default=1)
    options = parser.parse_args()
    why = hosts.missing() or engines.missing()
    if why:
        sys.exit(f"no storm: {why}")
    place = tempfile.mkdtemp(prefix="ps", dir="/tmp")
    wrong = weather(pathlib.Path(options.ponk).resolve(), place, options.cuts, options.seed)
    for line in wrong:
        print(line)
    if wrong:
        sys.exit(f"seed {options.seed}: {len(wrong)} problems; kept: {place}")
    hosts.shutil.rmtree(place, ignore_errors=True)
