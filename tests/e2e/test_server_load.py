# SPDX-License-Identifier: Apache-2.0
"""Requests that cost much: others do not feel them, and what can never be answered is refused for good."""
import collections
import json
import os
import re
import socket
import subprocess
import time

import pytest

from tracking import Tracking
from workbench import Ponk


@pytest.fixture(scope="module")
def server(program, tmp_path_factory):
    ours = Ponk(program, tmp_path_factory.mktemp("l"))
    tracking = Tracking(ours)
    yield tracking
    ours.run("daemon", "stop")


def threads_of(pid):
    names = []
    for task in os.listdir(f"/proc/{pid}/task"):
        try:
            with open(f"/proc/{pid}/task/{task}/comm") as stream:
                names.append(stream.read().strip())
        except OSError:
            pass  # it has just ended
    return names


def get(server, target):
    return f"GET {target} HTTP/1.1\r\nHost: localhost\r\nAuthorization: Bearer {server.token}\r\n\r\n".encode()


def post(server, path, body):
    return (f"POST /api/2.0/mlflow/{path} HTTP/1.1\r\nHost: localhost\r\nAuthorization: Bearer {server.token}\r\n"
            f"Content-Type: application/json\r\nContent-Length: {len(body)}\r\n\r\n{body}").encode()


def fill_with_tags(server, run, count, size):
    for first in range(0, count, 100):
        tags = [{"key": f"t{number}", "value": "x" * size} for number in range(first, min(first + 100, count))]
        server.ask("POST", "runs/log-batch", {"run_id": run, "tags": tags})


def test_pages_end_early_where_runs_have_very_long_texts(server):
    experiment = server.make_experiment("long texts")
    runs = [server.make_run(experiment) for _ in range(4)]
    for run in runs:
        fill_with_tags(server, run, 1300, 7900)  # 10 MB each
    found, token = [], ""
    pages = 0
    while True:
        page = server.ask("POST", "runs/search", {"experiment_ids": [experiment], "max_results": 100, "page_token": token})
        found += [run["info"]["run_id"] for run in page["runs"]]
        assert len(page["runs"]) <= 2
        pages += 1
        token = page.get("next_page_token", "")
        if not token:
            break
    assert sorted(found) == sorted(runs) and pages >= 2
    native = server.request("GET", "/api/v1/runs?limit=10000").json
    assert len(native["runs"]) <= 2 and native["next"]
    rest = server.request("GET", "/api/v1/runs?limit=10000&before=" + native["next"]).json
    assert {run["run_id"] for run in native["runs"]}.isdisjoint(run["run_id"] for run in rest["runs"])


def test_a_run_takes_no_more_tags_than_one_answer_can_hold(server):
    run = server.make_run(server.make_experiment("too long"))
    fill_with_tags(server, run, 2000, 7900)  # 15.8 MB; a run's tags have 16 MiB
    for batch in "ab":
        tags = [{"key": f"{batch}{number}", "value": "x" * 7900} for number in range(100)]
        refused = server.call("POST", "runs/log-batch", {"run_id": run, "tags": tags})
    assert (refused.status, refused.code) == (400, "INVALID_PARAMETER_VALUE"), refused.body[:300]
    assert "Retry-After" not in refused.headers
    assert len(server.ask("GET", "runs/get", {"run_id": run})["run"]["data"]["tags"]) >= 2000
    server.ask("POST", "runs/log-metric", {"run_id": run, "key": "m", "value": 1, "timestamp": 1})


def test_followers_and_readers_have_no_thread_each(server):
    server.ponk.write("slow.py", "import time\nfor i in range(1000):\n    print(i, flush=True)\n    time.sleep(0.1)\n")
    server.ponk.run("submit", "--async", "slow.py")
    run = server.ponk.json("runs")[0]["run_id"]
    before = len(threads_of(server.pid))
    followers = []
    try:
        for _ in range(300):
            followers.append(socket.create_connection(("127.0.0.1", server.port), timeout=60))
            followers[-1].sendall(get(server, f"/api/v1/runs/{run}/log?follow=1"))
        for follower in followers:
            assert b"200 OK" in follower.recv(4096)
        assert len(threads_of(server.pid)) <= before + 4
        assert server.request("GET", "/health").body == b"OK"
        assert server.ponk.json("runs")
    finally:
        for follower in followers:
            follower.close()
        server.ponk.run("cancel", run)


def cpu_seconds(pid):
    with open(f"/proc/{pid}/stat") as stream:
        fields = stream.read().rsplit(")", 1)[1].split()
    return (int(fields[11]) + int(fields[12])) / os.sysconf("SC_CLK_TCK")


def test_reading_a_log_with_secrets_ends_with_its_reader(server):
    server.ponk.run("secret", "set", "KEY", input=b"hunter2-hunter2")
    server.ponk.write("say.py", "print('x')\n")
    server.ponk.run("submit", "--env", "KEY=secret:KEY", "say.py")
    run = server.ponk.json("runs")[0]["run_id"]
    with open(server.ponk.task(run) / "log", "wb") as log:
        for _ in range(60):
            log.write(b"loss 0.1 hunter the key is hunter2-hunter2 and so on and on and on\n" * 15000)
    pid = server.pid
    for _ in range(4):
        with socket.create_connection(("127.0.0.1", server.port), timeout=60) as reader:
            reader.sendall(get(server, f"/api/v1/runs/{run}/log?offset={1 << 60}"))
            assert b"200 OK" in reader.recv(4096)
        assert server.request("GET", "/health").body == b"OK"
    # Nobody reads any more: the daemon comes to rest long before it would have read 60 MB four times.
    limit = time.monotonic() + 60
    before = -1.0
    while cpu_seconds(pid) != before and time.monotonic() < limit:
        before = cpu_seconds(pid)
        time.sleep(0.5)
    assert cpu_seconds(pid) == before
    begin = server.request("GET", f"/api/v1/runs/{run}/log?offset=0", headers={"Connection": "close"})
    assert b"hunter2-hunter2" not in begin.body and begin.body.count(b"***") == 60 * 15000
    for offset in (1, 1_000_003, 30_000_001, len(begin.body) - 5):
        assert server.request("GET", f"/api/v1/runs/{run}/log?offset={offset}").body == begin.body[offset:]


def test_calls_of_one_client_beyond_the_limit_are_refused_with_a_time(server):
    """Each connection has one call in flight at most: here are more connections than calls may be."""
    body = json.dumps({"experiment_ids": ["0"], "max_results": 1}).encode()
    request = (f"POST /api/2.0/mlflow/runs/search HTTP/1.1\r\nHost: localhost\r\nAuthorization: Bearer {server.token}\r\n"
               f"Content-Type: application/json\r\nContent-Length: {len(body)}\r\n\r\n").encode() + body
    connections = [socket.create_connection(("127.0.0.1", server.port), timeout=60) for _ in range(900)]
    try:
        for connection in connections:
            connection.sendall(request)
        answers = [connection.recv(65536).split(b"\r\n", 1)[0] for connection in connections]
        # How many are refused depends on how fast the others are answered.
        assert set(answers) <= {b"HTTP/1.1 200 OK", b"HTTP/1.1 429 Too Many Requests"}
        assert b"HTTP/1.1 200 OK" in answers
    finally:
        for connection in connections:
            connection.close()


CALLS_OF_THE_KERNEL = ("recvfrom", "recvmsg", "sendto", "sendmsg", "epoll_ctl", "newfstatat", "stat", "fstat", "clock_gettime", "openat", "read")


def test_a_logged_metric_takes_few_calls_of_the_kernel(program, tmp_path):
    """Beside its wake-ups and its commit: one to receive, or two, one to look for the home folder, one to send."""
    ours = Ponk(program, tmp_path)
    server = Tracking(ours)
    run = server.make_run()
    ours.run("daemon", "stop")
    trace = tmp_path / "trace"
    daemon = subprocess.Popen(["/usr/bin/strace", "-f", "-qq", "-e", "trace=" + ",".join(f"?{name}" for name in CALLS_OF_THE_KERNEL), "-e", "signal=none",
                               "-o", str(trace), ours.program, "daemon", "run"],
                              cwd=ours.project, env=ours.environment, stdin=subprocess.DEVNULL, stdout=subprocess.DEVNULL)
    try:
        until = time.monotonic() + 60
        while server_is_away(server) and time.monotonic() < until:
            time.sleep(0.1)
        with socket.create_connection(("127.0.0.1", server.port), timeout=60) as connection:
            for number in range(250):
                if number == 50:  # what the first calls prepare is used by the others
                    before = trace.stat().st_size
                body = json.dumps({"run_id": run, "key": "m", "value": 0.5 + number, "timestamp": number, "step": number})
                connection.sendall(post(server, "runs/log-metric", body))
                assert connection.recv(4096).startswith(b"HTTP/1.1 200 ")
        text = trace.read_text()[before:]
        seen = collections.Counter(re.findall(r"^\d+ +(\w+)\(", text, re.M))
        # The others wake a thread up.
        sockets = set(re.findall(r"recvfrom\((\d+),", text))
        seen["epoll_ctl"] = sum(number in sockets for number in re.findall(r"epoll_ctl\(\d+, \w+, (\d+),", text))
    finally:
        daemon.terminate()  # strace passes it on
        ours.run("daemon", "stop", code=None)
        daemon.wait(timeout=60)
    # Some more for the threads that look around once in a while.
    assert 200 <= seen["recvfrom"] + seen["recvmsg"] <= 420 and 200 <= seen["sendto"] + seen["sendmsg"] <= 220, seen
    assert seen["newfstatat"] + seen["stat"] + seen["fstat"] <= 240, seen
    assert sum(seen[name] for name in ("epoll_ctl", "clock_gettime", "openat", "read")) <= 20, seen


def server_is_away(server):
    try:
        return server.request("GET", "/health").status != 200
    except OSError:
        return True
