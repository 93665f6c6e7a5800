# SPDX-License-Identifier: Apache-2.0
"""Runs that wait for their turn: what each costs the daemon, and how soon the next one begins."""
import http.client
import json
import os
import socket
import time

from bench_place import Times

GOAL_MEGABYTES = 60
GOAL_SECONDS = 0.005


class Daemon:
    """The daemon's own socket, on one connection."""

    def __init__(self, path):
        self.connection = http.client.HTTPConnection("localhost", timeout=60)
        self.connection.sock = socket.socket(socket.AF_UNIX)
        self.connection.sock.settimeout(60)
        self.connection.sock.connect(path)

    def size_of(self, method, target, body):
        """Of the answer, whatever it is."""
        return len(self.bytes_of(method, target, body))

    def ask(self, method, target, body=None):
        return json.loads(self.bytes_of(method, target, body))

    def bytes_of(self, method, target, body=None):
        self.connection.request(method, "/api/v1" + target, None if body is None else json.dumps(body),
                                {"Content-Type": "application/json"})
        answer = self.connection.getresponse()
        text = answer.read()
        if answer.status >= 300:
            raise RuntimeError("%s %s: %d %s" % (method, target, answer.status, text[:300]))
        return text


def count(pid, what):
    return len(os.listdir("/proc/%d/%s" % (pid, what)))


def resident(pid):
    with open("/proc/%d/status" % pid) as stream:
        return next(int(line.split()[1]) for line in stream if line.startswith("VmRSS:")) / 1000


def state(daemon, run):
    return daemon.ask("GET", "/runs/" + run)["status"]


def waiting_runs(place, report):
    place.stop_daemon()
    place.environment["PONK_MAX_RUNS"] = "1"
    project = place.project("waiting", {"sleep.py": "import time\ntime.sleep(3600)\n"})
    place.ask("runs")  # starts the daemon
    daemon = Daemon(os.path.join(place.home, "daemon.sock"))
    pid = daemon.ask("GET", "/daemon")["pid"]
    amount = place.options.waiting_runs
    environment = ["%s=%s" % item for item in place.environment.items()]
    ids = ["%032x" % ((int(time.time() * 1000) << 80) + (7 << 76) + (1 << 63) + number) for number in range(amount + 1)]
    began = time.perf_counter()
    for run in ids:
        daemon.ask("POST", "/runs", {"run_id": run, "project": project, "script": "sleep.py", "environment": environment})
    seconds = time.perf_counter() - began
    until = time.monotonic() + 600
    while not daemon.ask("GET", "/runs/" + ids[-1]).get("snapshot") and time.monotonic() < until:
        time.sleep(0.2)
    threads, megabytes = count(pid, "task"), resident(pid)
    copies = sum(os.path.isdir(os.path.join(place.home, "runs", run, "work")) for run in ids)
    report.fact("%d runs wait" % daemon.ask("GET", "/daemon")["waiting_runs"],
                "%.2f ms to submit one" % (seconds / len(ids) * 1000),
                "%.0f MB, %d threads, %d working copies" % (megabytes, threads, copies),
                "at most %d MB" % GOAL_MEGABYTES, megabytes <= GOAL_MEGABYTES)
    taken = []
    for active, following in zip(ids[:10], ids[1:]):
        while state(daemon, active) != "Running":
            time.sleep(0.001)
        daemon.ask("POST", "/runs/%s/cancel" % active, {"grace_seconds": 0})
        while state(daemon, active) != "Canceled":
            pass
        began = time.perf_counter()
        while state(daemon, following) == "NotStarted":
            pass
        taken.append(time.perf_counter() - began)
    times = Times(taken)
    report.fact("from the end of a run to the next one's begin", "%.1f / %.1f ms" % (times.best * 1000, times.median * 1000),
                "", "at most %.0f ms" % (GOAL_SECONDS * 1000), times.median <= GOAL_SECONDS)
    del place.environment["PONK_MAX_RUNS"]
    place.stop_daemon()
