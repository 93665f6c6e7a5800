# SPDX-License-Identifier: Apache-2.0
"""The two servers that are compared, each with a folder and a loopback port of its own."""
import http.client
import json
import os
import re
import signal
import socket
import sqlite3
import subprocess
import time
import urllib.parse

import load_values

API = "/api/2.0/mlflow/"


class Refused(Exception):
    pass


class Server:
    """Where a server listens, and how it is asked."""
    port, token = 0, ""

    def open(self):
        return http.client.HTTPConnection("127.0.0.1", self.port, timeout=600)

    def ask(self, method, path, fields=None, connection=None):
        """The answer's JSON."""
        headers = {"Content-Type": "application/json"}
        if self.token:
            headers["Authorization"] = "Bearer " + self.token
        target, body = API + path, None
        if method == "GET":
            target += "?" + urllib.parse.urlencode(fields or {}, doseq=True)
        else:
            body = json.dumps(fields or {})
        own = connection or self.open()
        own.request(method, target, body, headers)
        answer = own.getresponse()
        text = answer.read()
        if connection is None:
            own.close()
        if answer.status != 200:
            raise Refused("%s %s: %d %s" % (method, path, answer.status, text[:300]))
        return json.loads(text)

    def make_experiment(self, name):
        return self.ask("POST", "experiments/create", {"name": name})["experiment_id"]

    def make_runs(self, experiment, count):
        return [self.ask("POST", "runs/create", {"experiment_id": experiment, "start_time": load_values.FIRST_TIME})
                ["run"]["info"]["run_id"] for _ in range(count)]

    def points(self, run, key):
        """Every point of a key, as a list of (step, time, value)."""
        found, token = [], None
        while True:
            fields = {"run_id": run, "metric_key": key, "max_results": 25000}
            if token:
                fields["page_token"] = token
            page = self.ask("GET", "metrics/get-history", fields)
            found += [(m.get("step", 0), m["timestamp"], m["value"]) for m in page.get("metrics", [])]
            token = page.get("next_page_token")
            if not token:
                return found


def resident(pids):
    """Bytes of memory that the processes have to themselves and shared, as the kernel counts them."""
    total = 0
    for pid in pids:
        with open("/proc/%d/smaps_rollup" % pid) as stream:
            total += int(re.search(r"^Pss:\s+(\d+)", stream.read(), re.M).group(1)) * 1024
    return total


class Ponk(Server):
    name = "ponk"

    def __init__(self, place):
        self.place = place
        text = place.run([place.ponk, "tracking", "env"])[1].decode()
        values = dict(re.findall(r"export (MLFLOW_\w+)='?([^'\n]*)'?", text))
        self.port = urllib.parse.urlparse(values["MLFLOW_TRACKING_URI"]).port
        self.token = values["MLFLOW_TRACKING_TOKEN"]
        self.pid = place.ask("daemon", "status")["pid"]

    def pids(self):
        return [self.pid]

    def close(self):
        self.place.stop_daemon()


class Mlflow(Server):
    """`mlflow server` on a SQLite file, as its documents say; with so many workers, or its default."""

    def __init__(self, environment, folder, workers=None):
        self.name = "mlflow, %s" % ("%d workers" % workers if workers else "defaults")
        os.makedirs(folder, exist_ok=True)
        self.database = os.path.join(folder, "mlflow.db")
        with socket.socket() as probe:
            probe.bind(("127.0.0.1", 0))
            self.port = probe.getsockname()[1]
        words = [os.path.join(environment, "bin", "mlflow"), "server", "--host", "127.0.0.1", "--port", str(self.port),
                 "--backend-store-uri", "sqlite:///" + self.database, "--artifacts-destination",
                 os.path.join(folder, "artifacts")]
        if workers:
            words += ["--workers", str(workers)]
        self.log = open(os.path.join(folder, "server.log"), "ab")
        self.process = subprocess.Popen(words, cwd=folder, stdin=subprocess.DEVNULL, stdout=self.log, stderr=self.log,
                                        env={"PATH": os.path.join(environment, "bin") + ":/usr/bin:/bin", "HOME": folder,
                                             "MLFLOW_DISABLE_TELEMETRY": "true", "DO_NOT_TRACK": "true"},
                                        start_new_session=True)
        until = time.monotonic() + 180
        while True:
            try:
                self.ask("POST", "experiments/search", {"max_results": 1})
                return
            except (OSError, Refused, http.client.HTTPException):
                if time.monotonic() > until or self.process.poll() is not None:
                    self.close()
                    raise
                time.sleep(0.3)

    def pids(self):
        """The server and its workers: all of the session that it was started in."""
        found = []
        for name in os.listdir("/proc"):
            try:
                if name.isdigit() and os.getsid(int(name)) == self.process.pid:
                    found.append(int(name))
            except OSError:
                pass
        return found

    def close(self):
        if self.process.poll() is None:
            os.killpg(self.process.pid, signal.SIGTERM)
            try:
                self.process.wait(20)
            except subprocess.TimeoutExpired:
                os.killpg(self.process.pid, signal.SIGKILL)
                self.process.wait()
        self.log.close()

    # Straight into its tables, which its API would take hours for -------------------------------

    def add_runs(self, experiment, count):
        with sqlite3.connect(self.database) as database:
            for number in range(count):
                run = "%032x" % number
                metrics, params, tags = load_values.run_values(number)
                stamp = load_values.time(1, number)
                database.execute(
                    "INSERT INTO runs(run_uuid, name, source_type, source_name, entry_point_name, user_id, status, start_time,"
                    " end_time, deleted_time, source_version, lifecycle_stage, artifact_uri, experiment_id)"
                    " VALUES(?, ?, 'UNKNOWN', '', '', '', 'RUNNING', ?, NULL, NULL, '', 'active', '', ?)",
                    (run, "run %d" % number, load_values.FIRST_TIME + number, int(experiment)))
                for key, value in metrics.items():
                    for table in ("metrics", "latest_metrics"):
                        database.execute("INSERT INTO %s(key, value, timestamp, step, is_nan, run_uuid)"
                                         " VALUES(?, ?, ?, 1, 0, ?)" % table, (key, value, stamp, run))
                database.executemany("INSERT INTO params(key, value, run_uuid) VALUES(?, ?, ?)",
                                     [(key, value, run) for key, value in params.items()])
                tags["mlflow.runName"] = "run %d" % number
                database.executemany("INSERT INTO tags(key, value, run_uuid) VALUES(?, ?, ?)",
                                     [(key, value, run) for key, value in tags.items()])

    def add_series(self, run, points):
        rows = ((("loss", load_values.value(0, n), load_values.time(0, n), n, run)) for n in range(points))
        with sqlite3.connect(self.database) as database:
            database.executemany("INSERT INTO metrics(key, value, timestamp, step, is_nan, run_uuid)"
                                 " VALUES(?, ?, ?, ?, 0, ?)", rows)
