# SPDX-License-Identifier: Apache-2.0
"""The scratch folder in which measurements happen, and the commands run there."""
import json
import os
import platform
import shutil
import statistics
import subprocess
import tempfile
import time


class CommandFailed(Exception):
    pass


class Place:
    def __init__(self, options):
        self.options = options
        self.ponk = os.path.realpath(options.ponk)
        self.folder = tempfile.mkdtemp(prefix="ponk-bench-", dir=options.scratch)
        self.home = os.path.join(self.folder, "home")
        os.mkdir(self.home, 0o700)
        self.environment = {"PATH": "/usr/bin:/bin", "HOME": self.folder, "PONK_HOME": self.home, "LANG": "C.UTF-8",
                            "GIT_CONFIG_GLOBAL": "/dev/null", "GIT_AUTHOR_NAME": "a", "GIT_AUTHOR_EMAIL": "a@example.org",
                            "GIT_COMMITTER_NAME": "a", "GIT_COMMITTER_EMAIL": "a@example.org"}

    def machine(self):
        with open("/proc/cpuinfo") as stream:
            models = [line.split(":")[1].strip() for line in stream if line.startswith("model name")]
        return "%s, Linux %s" % (models[0] if models else platform.machine(), platform.release())

    def project(self, name, files):
        folder = os.path.join(self.folder, name)
        os.makedirs(folder, exist_ok=True)
        for path, text in files.items():
            with open(os.path.join(folder, path), "w") as stream:
                stream.write(text)
        return folder

    def run(self, words, cwd=None, extra=None, stdout=subprocess.PIPE):
        """Seconds of wall time; raises when the command fails."""
        began = time.perf_counter()
        done = subprocess.run(words, cwd=cwd or self.folder, env={**self.environment, **(extra or {})},
                              stdin=subprocess.DEVNULL, stdout=stdout, stderr=subprocess.PIPE, timeout=540)
        seconds = time.perf_counter() - began
        if done.returncode != 0:
            raise CommandFailed("'%s' left with %d: %s" % (" ".join(words), done.returncode,
                                                           done.stderr[-400:].decode(errors="replace")))
        return seconds, done.stdout

    def time(self, words, cwd=None, extra=None):
        return self.run(words, cwd, extra)[0]

    def ask(self, *words, cwd=None):
        return json.loads(self.run([self.ponk, *words, "-o", "json"], cwd)[1])

    def stop_daemon(self):
        """Returns when it is gone."""
        try:
            pid = self.ask("daemon", "status").get("pid")
        except (CommandFailed, ValueError):
            return
        subprocess.run([self.ponk, "daemon", "stop"], env=self.environment, stdin=subprocess.DEVNULL,
                       stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL, timeout=60)
        until = time.monotonic() + 20
        while pid and os.path.exists("/proc/%d" % pid) and time.monotonic() < until:
            time.sleep(0.01)

    def close(self):
        self.stop_daemon()
        shutil.rmtree(self.folder, ignore_errors=True)


class Times:
    """The times of one side of a comparison."""

    def __init__(self, seconds):
        self.all = sorted(seconds)
        self.best = self.all[0]
        self.median = statistics.median(self.all)


def take_turns(count, *calls):
    """The times of the calls, run in turn; the first turn warms up and does not count."""
    for call in calls:
        call()
    times = [[] for _ in calls]
    for turn in range(count):
        order = range(len(calls)) if turn % 2 == 0 else reversed(range(len(calls)))
        for index in order:
            times[index].append(calls[index]())
    return [Times(part) for part in times]


def in_units(seconds):
    return "%.2f s" % seconds if seconds >= 1 else "%.1f ms" % (seconds * 1000)


def both(times):
    """Best and median, as the table shows them."""
    best, median = in_units(times.best), in_units(times.median)
    if best.split()[1] == median.split()[1]:
        best = best.split()[0]
    return "%s / %s" % (best, median)
