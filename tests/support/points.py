# SPDX-License-Identifier: Apache-2.0
"""The points of a run's metrics, as the daemon's interface has them."""
import http.client
import json
import socket
import time


def metrics_of(ponk, run):
    """{key: [[step, time, value]...]}, in the order in which they are stored."""
    connection = http.client.HTTPConnection("daemon", timeout=60)
    connection.sock = socket.socket(socket.AF_UNIX)
    connection.sock.settimeout(60)
    connection.sock.connect(str(ponk.home / "daemon.sock"))
    try:
        connection.request("GET", f"/api/v1/runs/{run}/metrics")
        answer = connection.getresponse()
        body = answer.read()
        assert answer.status == 200, body
        return {key: metric["points"] for key, metric in json.loads(body)["metrics"].items()}
    finally:
        connection.close()


def wait_for_points(ponk, run, key, count, seconds=60):
    end = time.monotonic() + seconds
    while True:
        found = metrics_of(ponk, run).get(key, [])
        if len(found) >= count:
            return found
        assert time.monotonic() < end, f"{key}: only {len(found)} of {count} points came"
        time.sleep(0.05)
