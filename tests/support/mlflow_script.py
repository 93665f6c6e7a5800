# SPDX-License-Identifier: Apache-2.0
"""Text for scripts in runs: a client of MLflow's API made of the standard library alone."""
import os
import signal
import time

CLIENT = '''
import http.client, json, os, sys, time

RUN = os.environ["MLFLOW_RUN_ID"]


class Client:
    def __init__(self, token=None):
        self.token = os.environ["MLFLOW_TRACKING_TOKEN"] if token is None else token
        self.connection = None

    def ask(self, method, path, body=None, kind="application/json"):
        """Status and bytes. As MLflow's client does it, what broke is sent again."""
        for attempt in range(100):
            try:
                if self.connection is None:
                    self.connection = http.client.HTTPConnection(os.environ["MLFLOW_TRACKING_URI"].split("//")[1], timeout=60)
                self.connection.request(method, path, body, {"Authorization": "Bearer " + self.token, "Content-Type": kind})
                answer = self.connection.getresponse()
                return answer.status, answer.read()
            except (OSError, http.client.HTTPException):
                self.connection = None
                time.sleep(0.05)
        sys.exit("nobody answers")

    def post(self, call, **fields):
        return self.ask("POST", "/api/2.0/mlflow/" + call, json.dumps(fields))

    def get(self, call):
        status, body = self.ask("GET", "/api/2.0/mlflow/" + call)
        return json.loads(body) if status == 200 else status

    def metric(self, key, value, step=0):
        status, body = self.post("runs/log-metric", run_id=RUN, key=key, value=value, timestamp=1000 + step, step=step)
        assert status == 200, (status, body)

    def put(self, path, data):
        place = "%s/%s/artifacts/%s" % (os.environ["MLFLOW_EXPERIMENT_ID"], RUN, path)
        return self.ask("PUT", "/api/2.0/mlflow-artifacts/artifacts/" + place, data, "application/octet-stream")


def relays():
    """Processes that answer us."""
    found = []
    for name in os.listdir("/proc"):
        try:
            words = open("/proc/%s/cmdline" % name, "rb").read().split(b"\\0")
            if words[0] == b"ponk-relay" and os.readlink("/proc/%s/cwd" % name) == os.environ["PONK_RUN_DIRECTORY"]:
                found.append(int(name))
        except OSError:
            pass
    return found


client = Client()
'''


def go_on_without_daemon(ponk, run, seconds):
    """Lets a script that waits for the file "go" do the rest, up to its file "done", with the daemon killed."""
    work = ponk.home / "runs" / run / "work"
    os.kill(ponk.json("daemon", "status")["pid"], signal.SIGKILL)
    (work / "go").touch()
    end = time.monotonic() + seconds
    while not (work / "done").exists():
        assert time.monotonic() < end
        time.sleep(0.05)


# What any run may ask the daemon for, and may not: a search that finds it by its loss, a model of its own.
ASKS_THE_DAEMON = '''
status, body = client.post("runs/search", experiment_ids=[os.environ["MLFLOW_EXPERIMENT_ID"]], filter="metrics.loss > 18")
assert status == 200 and RUN in str(body), (status, body)
status, body = client.post("registered-models/create", name="R")
assert status == 200, (status, body)
status, body = client.post("model-versions/create", name="R", source="runs:/" + RUN + "/model", run_id=RUN)
assert status == 200, (status, body)
assert client.post("runs/delete", run_id=RUN)[0] == 403
'''
