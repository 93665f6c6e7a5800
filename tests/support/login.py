# SPDX-License-Identifier: Apache-2.0
"""Requests as a browser sends them that shows the page."""
import http.client
import json
import socket


def ask(connection, method, path, session=None, body=None, headers=None):
    headers = dict(headers or {})
    if session:
        headers["Authorization"] = "Bearer " + session
    connection.request(method, path, json.dumps(body) if body is not None else None, headers)
    reply = connection.getresponse()
    text = reply.read()
    connection.close()
    return reply, text


class Page:
    """What a browser does that shows the page."""

    def __init__(self, ponk):
        self.ponk = ponk
        made = self.code()
        self.port = int(made["address"].rstrip("/").rpartition(":")[2])

    def code(self, **body):
        self.ponk.run("runs")  # a daemon that was killed is started
        connection = http.client.HTTPConnection("localhost", timeout=30)
        connection.sock = socket.socket(socket.AF_UNIX)
        connection.sock.settimeout(30)
        connection.sock.connect(str(self.ponk.home / "daemon.sock"))
        reply, text = ask(connection, "POST", "/api/v1/ui/codes", body=body)
        assert reply.status == 201, text
        return json.loads(text)

    def ask(self, method, path, session=None, body=None, headers=None):
        reply, text = ask(http.client.HTTPConnection("127.0.0.1", self.port, timeout=30), method, path, session, body, headers)
        return reply.status, json.loads(text) if text[:1] == b"{" else text

    def log_in(self, **body):
        return self.ask("POST", "/api/v1/ui/login", body=body)
