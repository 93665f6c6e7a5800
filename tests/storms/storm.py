#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""kill -9 of everything, at random moments, and then the truth is asked for.

    tests/storms/storm.py --ponk build/release/ponk --kills 200 --runs 50 --seed 1

Starts runs of oracle.py in a private PONK_HOME and kills CLI, daemon, stub and combinations of them,
a third of the time before the first log byte. Afterwards, for every run that ponk has accepted:

  - it was started once (the oracle counts outside);
  - its state is true: Completed or Failed with the oracle's own exit code. `Lost` is accepted only
    where all supervising processes of the run and the daemon were killed: nobody is left to know it;
  - its log is the oracle's, byte for byte (of a script that was brought down: a beginning of it);
  - a foreground submit that was not killed has printed exactly that log and left with that code;
  - every answer came within a bound, no process is left, the database is sound.

The same seed makes the same plan; the moments still depend on the machine.
"""
import argparse
import collections
import json
import os
import random
import shutil
import sqlite3
import subprocess
import sys
import tempfile
import threading
import time

sys.path.insert(0, os.path.dirname(os.path.abspath(__file__)))
import oracle
import processes

# "stub" is one of a run's two supervising processes (stub or guard), "stubs" both.
KINDS = ["cli", "daemon", "stub", "stubs", "cli+daemon", "cli+stub", "daemon+stub", "daemon+stubs", "cli+daemon+stubs"]
WEIGHTS = [5, 6, 5, 3, 3, 2, 3, 2, 1]
TERMINAL = {"Completed", "Failed", "Canceled", "Lost"}
ANSWER_BOUND = 60.0  # seconds within which every command must have answered
# The few words of the command line that this file depends on.
SUBMIT = ["experiment", "submit", "-c", "local"]
LIST = ["history", "list", "-o", "json"]


class Attempt:
    """One submit: what was asked, what was killed, what came back."""

    def __init__(self, number, seed, mode):
        self.name, self.seed, self.mode = "a%d" % number, seed, mode
        self.pieces, self.pauses, self.code = oracle.expected(seed)
        self.log = b"".join(self.pieces)
        self.began = self.finished = 0.0
        self.cli_killed = self.stub_killed = False
        self.cli_code, self.cli_out, self.cli_error = None, b"", b""


class Storm:
    def __init__(self, options, folder):
        self.options = options
        self.ponk = os.path.realpath(options.ponk)
        self.home = os.path.join(folder, "home")
        self.project = os.path.join(folder, "project")
        self.marks = os.path.join(folder, "marks")
        for path in (self.home, self.project, self.marks):
            os.makedirs(path, mode=0o700)
        shutil.copy(oracle.__file__, os.path.join(self.project, "oracle.py"))
        self.environment = {"PATH": "/usr/bin:/bin", "HOME": folder, "PONK_HOME": self.home, "LANG": "C.UTF-8"}
        self.dice = random.Random(options.seed)
        self.kinds = options.kinds.split(",")
        self.weights = [WEIGHTS[KINDS.index(kind)] for kind in self.kinds]
        self.lock = threading.Lock()
        self.attempts, self.kills, self.faults = [], [], []
        self.daemon_kills = []  # moments
        self.stub_kills, self.unsupervised = set(), set()  # run ids
        self.killed_pids = set()

    # -- talking to ponk ---------------------------------------------------------------------------

    def fault(self, text):
        with self.lock:
            self.faults.append(text)
            print("  FAULT " + text, flush=True)

    def ask(self, words, check=True):
        try:
            done = subprocess.run([self.ponk, *words], cwd=self.project, env=self.environment, timeout=ANSWER_BOUND,
                                  stdin=subprocess.DEVNULL, stdout=subprocess.PIPE, stderr=subprocess.PIPE)
        except subprocess.TimeoutExpired:
            self.fault("'ponk %s' gave no answer in %d s" % (" ".join(words), ANSWER_BOUND))
            return None
        if check and done.returncode != 0:
            self.fault("'ponk %s' left with %d: %s" % (" ".join(words), done.returncode, done.stderr[-300:].decode(errors="replace")))
        return done

    def history(self):
        done = self.ask(LIST)
        if done is None or done.returncode != 0:
            return []
        return json.loads(done.stdout)

    # -- one attempt -------------------------------------------------------------------------------

    def mark(self, attempt, what):
        return os.path.exists(os.path.join(self.marks, attempt.name + "." + what))

    def plan(self, attempt, count):
        """(seconds after submit, kind), sorted. Early ones fall before the first byte, where the machine
        is quick enough; more are early when they have not."""
        with self.lock:
            moments = []
            behind = sum(1 for _, early in self.kills if early) * 3 < len(self.kills)
            for _ in range(count):
                early = self.dice.random() < (0.9 if behind else 0.36)
                silent, total = attempt.pauses[0], sum(attempt.pauses)
                moment = self.dice.uniform(0, silent + 0.03) if early else self.dice.uniform(silent + 0.05, total + 0.25)
                moments.append((moment, self.dice.choices(self.kinds, self.weights)[0]))
        return sorted(moments)

    def strike(self, attempt, kind, cli):
        """Kills what `kind` names, all within the same millisecond or so. False when nothing was there."""
        victims = []
        for part in kind.split("+"):
            if part == "cli":
                if cli.poll() is None:
                    victims.append(("cli", processes.Process(cli.pid)))
            elif part == "daemon":
                victims += [("daemon", process) for process in processes.daemons(self.home)]
            else:
                group = processes.supervisors_of(self.home, attempt.name)
                if part == "stub" and group:
                    with self.lock:
                        group = [self.dice.choice(group)]
                victims += [(part, process) for process in group]
        if {part for part, _ in victims} != set(kind.split("+")):
            return False
        early = not self.mark(attempt, "first")
        runs = {processes.run_id_of(process) for part, process in victims if part.startswith("stub")}
        done = set()
        for part, process in victims:
            identity = processes.run_id_of(process)
            if not processes.kill(process, self.home):
                continue
            done.add(part)
            with self.lock:
                if part == "cli":
                    attempt.cli_killed = True
                elif part == "daemon":
                    self.daemon_kills.append(time.monotonic())
                else:
                    self.stub_kills.add(identity)
                    self.killed_pids.add(process.pid)
        if done & {"stub", "stubs"}:
            self.note_unsupervised(runs)
        if done:
            with self.lock:
                self.kills.append(("+".join(part for part in kind.split("+") if part in done), early))
        return bool(done)

    def note_unsupervised(self, run_ids):
        """Remembers the runs that have no supervising process any more. A killed one may still be dying,
        also one that another thread killed in the same moment."""
        alive = processes.all_of(self.home)
        with self.lock:
            watched = {processes.run_id_of(process) for process in alive
                       if process.role() == "stub" and process.pid not in self.killed_pids}
            self.unsupervised |= run_ids - watched

    def run_one(self, attempt, count):
        words = [self.ponk, *SUBMIT]
        if attempt.mode == "async":
            words.append("--async")
        words += ["--name", attempt.name, "oracle.py", attempt.name, str(attempt.seed), self.marks]
        attempt.began = time.monotonic()
        cli = subprocess.Popen(words, cwd=self.project, env=self.environment, stdin=subprocess.DEVNULL,
                               stdout=subprocess.PIPE, stderr=subprocess.PIPE)
        output = {}
        readers = [threading.Thread(target=lambda name, stream: output.__setitem__(name, stream.read()), args=pair)
                   for pair in (("out", cli.stdout), ("error", cli.stderr))]
        for reader in readers:
            reader.start()
        for moment, kind in self.plan(attempt, count):
            time.sleep(max(0.0, attempt.began + moment - time.monotonic()))
            # What is to be killed may not be there yet: wait for it a little, not for ever.
            until = time.monotonic() + 0.4
            while not self.strike(attempt, kind, cli) and time.monotonic() < until and not self.mark(attempt, "end"):
                time.sleep(0.002)
        try:
            attempt.cli_code = cli.wait(timeout=ANSWER_BOUND)
        except subprocess.TimeoutExpired:
            self.fault("%s: submit has neither ended nor failed in %d s" % (attempt.name, ANSWER_BOUND))
            cli.kill()
            cli.wait()
        for reader in readers:
            reader.join()
        attempt.cli_out, attempt.cli_error = output["out"], output["error"]
        # The script may still run, without anybody of ours: give it the time it needs.
        until = time.monotonic() + sum(attempt.pauses) + 10
        while self.mark(attempt, "start") and not self.mark(attempt, "end") and time.monotonic() < until:
            if not any(processes.attempt_of(process) == attempt.name for process in processes.all_of(self.home)
                       if process.role() == "script"):
                break
            time.sleep(0.02)
        attempt.finished = time.monotonic()

    # -- the storm ---------------------------------------------------------------------------------

    def accepted(self):
        return sum(1 for attempt in self.attempts if self.mark(attempt, "start"))

    def work(self):
        while True:
            with self.lock:
                if (len(self.kills) >= self.options.kills and self.accepted() >= self.options.runs) or len(self.faults) >= 20:
                    return
                number = len(self.attempts)
                if number >= 4 * max(self.options.runs, self.options.kills):
                    self.faults.append("gave up after %d submits" % number)
                    return
                mode = "async" if self.dice.random() < 0.4 else "foreground"
                attempt = Attempt(number, self.dice.getrandbits(48), mode)
                self.attempts.append(attempt)
                rest = self.options.kills - len(self.kills)
                count = max(0, min(rest, -(-self.options.kills // self.options.runs) + self.dice.randint(-1, 1)))
            self.run_one(attempt, count)
            if number % 10 == 9:
                print("  %4d submits, %4d kills" % (number + 1, len(self.kills)), flush=True)

    def rage(self):
        workers = [threading.Thread(target=self.work) for _ in range(self.options.parallel)]
        for worker in workers:
            worker.start()
        for worker in workers:
            worker.join()

    # -- the truth ---------------------------------------------------------------------------------

    def compacted_history(self):
        until = time.monotonic() + 120
        while True:
            runs = self.history()
            waiting = [run for run in runs if run["status"] not in TERMINAL]
            if not waiting:
                return runs
            if time.monotonic() > until:
                for run in waiting:
                    self.fault("run %s is still %s long after its script ended" % (run["run_id"], run["status"]))
                return runs
            time.sleep(0.2)

    def judge_run(self, attempt, run):
        name = "%s (run %s)" % (attempt.name, run["run_id"])
        daemon_died = any(attempt.began - 1 <= moment <= attempt.finished + 1 for moment in self.daemon_kills)
        stub_died = run["run_id"] in self.stub_kills
        unknowable = run["run_id"] in self.unsupervised and daemon_died
        started, ended = self.mark(attempt, "start"), self.mark(attempt, "end")
        status, code = run["status"], run.get("exit_code")
        word = "Completed" if attempt.code == 0 else "Failed"
        log = self.ask(["logs", run["run_id"]])
        log = log.stdout if log is not None else b""
        if status == word and code == attempt.code and ended:
            if log != attempt.log:
                self.fault("%s: log has %d bytes, %d were written; first difference at %d" % (
                    name, len(log), len(attempt.log), first_difference(log, attempt.log)))
            return status
        if not attempt.log.startswith(log):
            self.fault("%s: log is no beginning of what was written, from byte %d on" % (name, first_difference(log, attempt.log)))
        if ended and status == "Lost" and log != attempt.log:
            self.fault("%s: lost, but its script wrote its last byte and the log lacks some" % name)
        if status == "Lost" and unknowable:
            return "Lost (all that could know was killed)"
        if status == "Failed" and code == 137 and unknowable:
            return "Failed by signal 9 (brought down, all that could know was killed)"
        if status == "Failed" and not started and (run.get("error") or stub_died):
            return "Failed before its start, and says so"
        if status == "Lost" and not started and stub_died:
            return "Lost before its start (stub killed)"
        self.fault("%s: says %s with code %s; the script %s with %d (stub killed: %s, daemon killed: %s)" % (
            name, status, code, "ended" if ended else "was started" if started else "never started", attempt.code,
            stub_died, daemon_died))
        return "WRONG"

    def judge_cli(self, attempt, run):
        if attempt.cli_killed or attempt.mode != "foreground" or run is None:
            return
        if not attempt.log.startswith(attempt.cli_out):
            self.fault("%s: submit printed other bytes than the script wrote, from %d on" % (
                attempt.name, first_difference(attempt.cli_out, attempt.log)))
        if run["status"] in ("Completed", "Failed") and run.get("exit_code") is not None:
            own_failure = b"ponk: error:" in attempt.cli_error
            if attempt.cli_code != run["exit_code"] and not own_failure:
                self.fault("%s: submit left with %s, the run with %s" % (attempt.name, attempt.cli_code, run["exit_code"]))
            if attempt.cli_code == run["exit_code"] and not own_failure and attempt.cli_out != attempt.log and self.mark(attempt, "end"):
                self.fault("%s: submit left as if all was well, but printed %d of %d bytes" % (
                    attempt.name, len(attempt.cli_out), len(attempt.log)))

    def judge(self):
        outcomes = collections.Counter()
        runs = collections.defaultdict(list)
        for run in self.compacted_history():
            runs[run["arguments"][0]].append(run)
        for attempt in self.attempts:
            path = os.path.join(self.marks, attempt.name + ".start")
            starts = len(open(path).readlines()) if os.path.exists(path) else 0
            if starts > 1:
                self.fault("%s was started %d times" % (attempt.name, starts))
            mine = runs.pop(attempt.name, [])
            if len(mine) > 1:
                self.fault("%s has %d runs" % (attempt.name, len(mine)))
            if not mine:
                if starts or not (attempt.cli_killed or b"ponk: error:" in attempt.cli_error):
                    self.fault("%s: no run of it is in history; started %d times, submit left with %s: %s" % (
                        attempt.name, starts, attempt.cli_code, attempt.cli_error[-200:].decode(errors="replace")))
                outcomes["never accepted, and nothing was started"] += 1
                continue
            outcomes[self.judge_run(attempt, mine[0])] += 1
            self.judge_cli(attempt, mine[0])
        for name in runs:
            self.fault("history has a run '%s' that nobody submitted" % name)
        return outcomes

    def judge_rest(self):
        self.ask(["daemon", "stop"])
        until = time.monotonic() + 15
        while processes.all_of(self.home) and time.monotonic() < until:
            time.sleep(0.05)
        for process in processes.all_of(self.home):
            self.fault("left behind: process %d, %s" % (process.pid, " ".join(process.words)[:120]))
            processes.kill(process, self.home)
        databases = [os.path.join(folder, name) for folder, _, names in os.walk(self.home) for name in names
                     if name.endswith((".db", ".sqlite", ".sqlite3"))]
        for path in databases:
            connection = sqlite3.connect(path)
            answer = connection.execute("PRAGMA integrity_check").fetchall()
            connection.close()
            if answer != [("ok",)]:
                self.fault("database '%s': %s" % (path, answer[:3]))
        if not databases:
            self.fault("no database was found below '%s'" % self.home)

    def report(self, outcomes, seconds):
        early = sum(1 for _, first in self.kills if first)
        print("\nStorm of seed %d: %d kills (%d before the first log byte), %d submits, %d runs started, %.0f s" % (
            self.options.seed, len(self.kills), early, len(self.attempts), self.accepted(), seconds))
        for kind, count in collections.Counter(kind for kind, _ in self.kills).most_common():
            print("  killed %-18s %5d" % (kind, count))
        for outcome, count in outcomes.most_common():
            print("  %-66s %5d" % (outcome, count))
        if len(self.kills) >= 50 and early * 10 < len(self.kills) * 3:
            self.fault("only %d of %d kills fell before the first log byte" % (early, len(self.kills)))
        print("Every state is true, every log is exact." if not self.faults else "%d FAULTS" % len(self.faults))
        for text in self.faults:  # once more, where the end of a long output is all that is kept
            print("  " + text)


def first_difference(left, right):
    return next((index for index, (a, b) in enumerate(zip(left, right)) if a != b), min(len(left), len(right)))


def main():
    parser = argparse.ArgumentParser(description="Kill everything at random moments and check every run.")
    parser.add_argument("--ponk", required=True)
    parser.add_argument("--kills", type=int, default=200)
    parser.add_argument("--runs", type=int, default=50)
    parser.add_argument("--seed", type=int, default=1)
    parser.add_argument("--parallel", type=int, default=3, help="runs at the same time")
    parser.add_argument("--kinds", default=",".join(KINDS), help="what may be killed (default: %(default)s)")
    parser.add_argument("--keep", action="store_true", help="leave the folder for looking at, in any case")
    options = parser.parse_args()
    folder = os.path.realpath(tempfile.mkdtemp(prefix="ponk-storm-"))
    began = time.monotonic()
    storm = Storm(options, folder)
    try:
        storm.rage()
        outcomes = storm.judge()
        storm.judge_rest()
        storm.report(outcomes, time.monotonic() - began)
    finally:
        for process in processes.all_of(storm.home):
            processes.kill(process, storm.home)
    if storm.faults or options.keep:
        print("Kept for looking at: " + folder)
    else:
        shutil.rmtree(folder, ignore_errors=True)
    return 1 if storm.faults else 0


if __name__ == "__main__":
    sys.exit(main())
