#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""kill -9 of the daemon while 16 clients log over HTTP, and then the truth is asked for.

    tests/storms/storm_tracking.py --ponk build/release/ponk --kills 40 --seed 1

Each client has a run of its own and logs single metrics and batches, parameters and tags; a call whose
answer was cut off by a kill is sent again half of the time, as MLflow's client does, else forgotten.
Afterwards, for every run:

  - what was acknowledged is there exactly once: each point, parameter and tag;
  - what is there was sent: nothing is invented, and nothing of a call came without the rest of it;
  - the latest value of each key is that of its greatest step;
  - the database is sound.
"""
import argparse
import http.client
import json
import os
import random
import re
import shutil
import signal
import sqlite3
import subprocess
import sys
import tempfile
import threading
import time
import urllib.parse

CLIENTS = 16
API = "/api/2.0/mlflow/"


class Daemon:
    """The daemon of a private home: started by a command, killed by its pid."""

    def __init__(self, ponk, home):
        self.ponk, self.environment = ponk, {"PATH": "/usr/bin:/bin", "HOME": home, "PONK_HOME": os.path.join(home, "ponk"),
                                             "LANG": "C.UTF-8"}
        self.start()

    def command(self, *words):
        done = subprocess.run([self.ponk, *words], env=self.environment, stdin=subprocess.DEVNULL, stdout=subprocess.PIPE,
                              stderr=subprocess.PIPE, timeout=120)
        if done.returncode != 0:
            raise RuntimeError("ponk %s: %s" % (" ".join(words), done.stderr.decode(errors="replace")))
        return done.stdout.decode()

    def start(self):
        values = dict(re.findall(r"export (MLFLOW_\w+)='?([^'\n]*)'?", self.command("tracking", "env", "--plain")))
        self.port = urllib.parse.urlparse(values["MLFLOW_TRACKING_URI"]).port
        self.token = values["MLFLOW_TRACKING_TOKEN"]
        self.pid = json.loads(self.command("daemon", "status", "-o", "json"))["pid"]

    def kill(self):
        os.kill(self.pid, signal.SIGKILL)

    def call(self, connection, method, path, fields):
        """The answer's JSON; OSError or HTTPException when there was none."""
        headers = {"Content-Type": "application/json", "Authorization": "Bearer " + self.token}
        target = API + path + ("?" + urllib.parse.urlencode(fields) if method == "GET" else "")
        connection.request(method, target, None if method == "GET" else json.dumps(fields), headers)
        answer = connection.getresponse()
        body = answer.read()
        if answer.status == 503:
            raise ConnectionError("not now")
        if answer.status != 200:
            raise RuntimeError("%s: %d %s" % (path, answer.status, body[:300]))
        return json.loads(body)

    def connect(self):
        return http.client.HTTPConnection("127.0.0.1", self.port, timeout=60)


class Client(threading.Thread):
    def __init__(self, daemon, number, seed, run):
        super().__init__()
        self.daemon_process, self.run_id = daemon, run
        self.random = random.Random("%d/%d" % (seed, number))
        self.number, self.step = number, 0
        self.calls = []  # [points, params, tags, fate]: fate is "acknowledged" or "unknown"
        self.over = threading.Event()
        self.problem = None

    def next_call(self):
        points, params, tags = [], [], []
        count = self.random.choice([1, 1, 1, 5, 50, 400])
        for _ in range(count):
            self.step += 1
            points.append(("k%d" % self.random.randrange(4), self.step, 1700000000000 + self.step * 7, self.random.random()))
        if count > 1 and self.random.random() < 0.3:
            params.append(("p%d" % self.step, "v%d" % self.step))
            tags.append(("t%d" % self.step, "w%d" % self.step))
        return [points, params, tags, "unknown"]

    def send(self, connection, call):
        points, params, tags, _ = call
        if len(points) == 1:
            key, step, stamp, value = points[0]
            self.daemon_process.call(connection, "POST", "runs/log-metric",
                                     {"run_id": self.run_id, "key": key, "value": value, "timestamp": stamp, "step": step})
        else:
            self.daemon_process.call(connection, "POST", "runs/log-batch", {
                "run_id": self.run_id,
                "metrics": [dict(key=k, step=s, timestamp=t, value=v) for k, s, t, v in points],
                "params": [dict(key=k, value=v) for k, v in params], "tags": [dict(key=k, value=v) for k, v in tags]})
        call[3] = "acknowledged"

    def run(self):
        connection = None
        try:
            while not self.over.is_set():
                call = self.next_call()
                self.calls.append(call)
                while call[3] == "unknown" and not self.over.is_set():
                    try:
                        connection = connection or self.daemon_process.connect()
                        self.send(connection, call)
                    except (OSError, http.client.HTTPException):
                        if connection:
                            connection.close()
                        connection = None
                        time.sleep(0.01)
                        if self.random.random() < 0.5:
                            break
        except Exception as problem:  # told at the end, with the others'
            self.problem = "client %d: %s" % (self.number, problem)


class Check:
    def __init__(self, daemon):
        self.daemon, self.connection, self.faults, self.points = daemon, daemon.connect(), [], 0

    def history(self, run, key):
        found, token = [], None
        while True:
            fields = {"run_id": run, "metric_key": key, "max_results": 25000}
            if token:
                fields["page_token"] = token
            page = self.daemon.call(self.connection, "GET", "metrics/get-history", fields)
            found += [(key, m.get("step", 0), m["timestamp"], m["value"]) for m in page.get("metrics", [])]
            token = page.get("next_page_token")
            if not token:
                return found

    def look(self, client):
        data = self.daemon.call(self.connection, "GET", "runs/get", {"run_id": client.run_id})["run"]["data"]
        stored = [point for metric in data.get("metrics", []) for point in self.history(client.run_id, metric["key"])]
        texts = {("param", p["key"], p["value"]) for p in data.get("params", [])}
        texts |= {("tag", t["key"], t["value"]) for t in data.get("tags", []) if t["key"].startswith("t")}
        present = set(stored)
        if len(present) != len(stored):
            self.faults.append("client %d: %d points are there twice" % (client.number, len(stored) - len(present)))
        known = set()
        for points, params, tags, fate in client.calls:
            parts = set(points)
            words = {("param", k, v) for k, v in params} | {("tag", k, v) for k, v in tags}
            here = len(parts & present) + len(words & texts)
            known |= parts | words
            if fate == "acknowledged" and here < len(parts) + len(words):
                self.faults.append("client %d: %d of an acknowledged call's %d values are missing"
                                   % (client.number, len(parts) + len(words) - here, len(parts) + len(words)))
            if 0 < here < len(parts) + len(words):
                self.faults.append("client %d: a call came in part" % client.number)
        for invented in (present | texts) - known:
            self.faults.append("client %d: nobody sent %s" % (client.number, invented))
        for metric in data.get("metrics", []):
            last = max(p for p in stored if p[0] == metric["key"])
            if (metric["step"], metric["value"]) != (last[1], last[3]):
                self.faults.append("client %d: the latest of '%s' is %s, not %s" % (client.number, metric["key"], metric, last))
        self.points += len(present)


def main():
    parser = argparse.ArgumentParser(description="Kill the daemon while clients log, and compare.")
    parser.add_argument("--ponk", required=True)
    parser.add_argument("--kills", type=int, default=40)
    parser.add_argument("--seed", type=int, default=1)
    options = parser.parse_args()
    folder = tempfile.mkdtemp(prefix="ponk-storm-")
    daemon = Daemon(os.path.realpath(options.ponk), folder)
    chance = random.Random(options.seed)
    connection = daemon.connect()
    experiment = daemon.call(connection, "POST", "experiments/create", {"name": "storm"})["experiment_id"]
    clients = []
    for number in range(CLIENTS):
        run = daemon.call(connection, "POST", "runs/create", {"experiment_id": experiment, "start_time": 1})
        clients.append(Client(daemon, number, options.seed, run["run"]["info"]["run_id"]))
    for client in clients:
        client.start()
    began = time.monotonic()
    for _ in range(options.kills):
        time.sleep(chance.uniform(0, 0.6) ** 2 + 0.02)
        daemon.kill()
        daemon.start()
    time.sleep(0.2)
    for client in clients:
        client.over.set()
    for client in clients:
        client.join()
    check = Check(daemon)
    for client in clients:
        check.look(client)
    acknowledged = sum(len(call[0]) for client in clients for call in client.calls if call[3] == "acknowledged")
    faults = [client.problem for client in clients if client.problem] + check.faults
    daemon.command("daemon", "stop")
    until = time.monotonic() + 20
    while os.path.exists("/proc/%d" % daemon.pid) and time.monotonic() < until:
        time.sleep(0.05)
    for name in ("history/history.db", "history.db"):
        path = os.path.join(folder, "ponk", name)
        if os.path.exists(path):
            with sqlite3.connect(path) as database:
                verdict = database.execute("PRAGMA integrity_check").fetchone()[0]
                if verdict != "ok":
                    faults.append("the database: " + verdict)
    print("%d kills in %.0f s, %d calls, %d points acknowledged, %d there" % (
        options.kills, time.monotonic() - began, sum(len(client.calls) for client in clients), acknowledged, check.points))
    for fault in faults[:40]:
        print("FAULT: " + fault)
    if faults:
        print("%d faults; the home is kept in %s" % (len(faults), folder))
        return 1
    shutil.rmtree(folder, ignore_errors=True)
    print("every acknowledged point is there once, and nothing else")
    return 0


if __name__ == "__main__":
    sys.exit(main())
