# SPDX-License-Identifier: Apache-2.0
"""A tracking server of one's own, asked with the standard library alone."""
import contextlib
import copy
import http.client
import json
import re
import socket
import urllib.parse

API = "/api/2.0/mlflow/"


class Answer:
    def __init__(self, status, headers, body):
        self.status, self.headers, self.body = status, headers, body

    @property
    def json(self):
        return json.loads(self.body)

    @property
    def code(self):
        return self.json.get("error_code")


class Tracking:
    def __init__(self, ponk):
        self.ponk = ponk
        values = dict(re.findall(r"export (MLFLOW_\w+)='?([^'\n]*)'?", ponk.text("tracking", "env", "--plain")))
        self.uri = values["MLFLOW_TRACKING_URI"]
        self.token = values["MLFLOW_TRACKING_TOKEN"]
        self.port = urllib.parse.urlparse(self.uri).port

    @property
    def pid(self):
        return self.ponk.json("daemon", "status")["pid"]

    def as_administrator(self):
        """The same daemon with a token that may do what the owner may."""
        other = copy.copy(self)
        other.token = self.ponk.json("token", "create", "--name", "administrator", "--role", "administer")["token"]
        return other

    def request(self, method, target, body=None, headers=None):
        """One call on a connection of its own, with the token."""
        connection = http.client.HTTPConnection("127.0.0.1", self.port, timeout=60)
        try:
            # Who is refused while it sends reads why, as urllib3 does.
            with contextlib.suppress(BrokenPipeError, ConnectionResetError):
                connection.request(method, target, body, {"Authorization": "Bearer " + self.token, **(headers or {})})
            answer = connection.getresponse()
            return Answer(answer.status, answer.headers, answer.read())
        finally:
            connection.close()

    def call(self, method, path, fields=None):
        """A call of the API with its fields; the path may begin with a slash."""
        target = path if path.startswith("/") else API + path
        if method == "GET":
            return self.request("GET", target + "?" + urllib.parse.urlencode(fields or {}, doseq=True))
        return self.request(method, target, json.dumps(fields or {}), {"Content-Type": "application/json"})

    def ask(self, method, path, fields=None):
        """The JSON of a call that succeeds."""
        answer = self.call(method, path, fields)
        assert answer.status == 200, (path, fields, answer.status, answer.body[:500])
        return answer.json

    def raw(self, sent, timeout=20, half_close=False):
        """What comes back for these bytes until the other side closes, falls silent or has answered once."""
        with socket.create_connection(("127.0.0.1", self.port), timeout=timeout) as connection:
            try:
                connection.sendall(sent)
                if half_close:
                    connection.shutdown(socket.SHUT_WR)
            except OSError:
                pass  # refused before all of it was sent
            return receive_answer(connection)

    def make_experiment(self, name):
        return self.ask("POST", "experiments/create", {"name": name})["experiment_id"]

    def make_run(self, experiment="0", **fields):
        return self.ask("POST", "runs/create", {"experiment_id": experiment, "start_time": 1, **fields})["run"]["info"]["run_id"]


def receive_answer(connection):
    received = b""
    while True:
        head, separator, body = received.partition(b"\r\n\r\n")
        length = re.search(rb"content-length: *(\d+)", head, re.I)
        if separator and length and len(body) >= int(length.group(1)):
            return received
        try:
            piece = connection.recv(65536)
        except OSError:
            return received
        if not piece:
            return received
        received += piece
