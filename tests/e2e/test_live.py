# SPDX-License-Identifier: Apache-2.0
"""The socket of the page with a real daemon: what it tells, who may hear it, and what strangers and broken clients get from it."""
import http.client
import json
import os
import resource
import signal
import socket
import time

import pytest
from login import Page, ask
from web_socket import PONG, Closed, WebSocket, frame

WAITS = """
import pathlib, time, ponk
print("begun", flush=True)
while not pathlib.Path({gate!r}).exists():
    time.sleep(0.05)
for step in range(50):
    ponk.log("loss", 1 / (step + 1), step=step)
print("ends", flush=True)
"""


class Served(Page):
    def __init__(self, ponk):
        super().__init__(ponk)
        self.session = self.log_in(code=self.code()["code"])[1]["session"]

    def socket(self, **more):
        return WebSocket(self.port, **more)

    def enter(self, *subjects, session=None):
        socket = self.socket()
        assert socket.status == 101
        return socket.enter(session or self.session, *subjects)

    def session_of(self, role):
        token = self.ponk.text("token", "create", "--name", role, "--role", role, "-o", "table").strip()
        return self.log_in(token=token)[1]["session"]

    def submit_waiting(self):
        gate = self.ponk.project.parent / f"gate-{time.monotonic_ns()}"
        self.ponk.write("waits.py", WAITS.format(gate=str(gate)))
        return self.ponk.text("submit", "--async", "waits.py").split()[0], gate


@pytest.fixture
def page(ponk):
    return Served(ponk)


def test_a_run_is_told_from_its_beginning_to_its_end(page):
    watcher = page.enter("runs")
    assert watcher.receive()["changed"] is None
    run, gate = page.submit_waiting()
    run = page.ponk.json("history", "info", run)["run_id"]
    watcher.until(lambda message: message["changed"] is None or run in message["changed"])
    follower = page.enter(f"run/{run}")
    seen = [follower.until(lambda message: message["log"] > 0 and message["state"] == "Running")]
    gate.touch()
    while seen[-1]["state"] not in ("Completed", "Failed"):
        seen.append(follower.receive())
    assert seen[-1]["state"] == "Completed"
    assert max(message["points"] for message in seen) > 0 and seen[-1]["log"] == len(b"begun\nends\n")
    # Numbers and story are those of the calls.
    text = ask(http.client.HTTPConnection("127.0.0.1", page.port, timeout=30), "GET", f"/api/v1/runs/{run}/events", page.session)[1]
    fetched = [json.loads(line) for line in text.splitlines()]
    whole = page.enter({"watch": f"run/{run}", "after": 0}).receive()
    assert whole["events"] == fetched and whole["seq"] == fetched[-1]["seq"]
    watcher.until(lambda message: not message["only_points"])


def test_a_socket_that_comes_back_after_the_daemon_was_killed_has_no_hole(page):
    run, gate = page.submit_waiting()
    run = page.ponk.json("history", "info", run)["run_id"]
    follower = page.enter(f"run/{run}")
    known = follower.until(lambda message: message["state"] == "Running")
    os.kill(page.ponk.json("daemon", "status")["pid"], signal.SIGKILL)
    assert follower.closed() is None
    gate.touch()
    page.ponk.run("runs")
    deadline = time.monotonic() + 60
    while page.ponk.json("history", "info", run)["status"] not in ("Completed", "Failed"):
        assert time.monotonic() < deadline
    after = page.enter({"watch": f"run/{run}", "after": known["seq"]}).receive()
    assert after["state"] == "Completed" and [event["seq"] for event in after["events"]] == list(range(known["seq"] + 1, after["seq"] + 1))
    assert after["events"]


def test_a_daemon_that_ends_says_so(page):
    follower = page.enter("runs")
    page.ponk.run("daemon", "stop")
    assert follower.closed() == 1001


@pytest.mark.parametrize("headers", [{"Origin": "http://evil.example"}, {"Origin": "null"}, {"Sec-Fetch-Site": "cross-site"},
                                     {"Host": "evil.example"}, {"Origin": "http://127.0.0.1:1"}])
def test_pages_of_others_do_not_get_in(page, headers):
    assert page.socket(headers=headers).status == 403
    assert page.socket(headers={"Origin": f"http://127.0.0.1:{page.port}"}).status == 101


def test_without_a_hello_it_ends(page):
    silent, wrong, late = page.socket(), page.socket(), page.socket()
    wrong.send({"hello": "ponk_session_" + "0" * 64})
    assert wrong.closed() == 4401
    late.send({"watch": "runs"})
    assert late.closed() == 4401
    # Neither in the address nor in a header.
    address = page.socket(path=f"/api/v1/ui/live?hello={page.session}", headers={"Authorization": "Bearer " + page.session})
    address.send({"watch": "runs"})
    assert address.closed() == 4401
    assert silent.closed() == 4401


def test_it_ends_with_its_session(page):
    session = page.session_of("read")
    follower = page.enter("runs", session=session)
    other = page.enter("runs")
    page.ponk.run("token", "remove", "read")
    assert follower.closed() == 4401
    ended = page.socket()
    ended.send({"hello": session})
    assert ended.closed() == 4401
    mine = page.ask("GET", "/api/v1/ui/session", page.session)[1]["id"]
    page.ponk.run("session", "remove", mine)
    assert other.closed() == 4401


def test_a_role_that_reads_watches_runs_and_gets_nothing_else(page):
    session = page.session_of("read")
    run = page.ponk.json("history", "info", page.submit_waiting()[0])["run_id"]
    follower = page.enter("runs", f"run/{run}", session=session)
    subjects = {follower.receive()["subject"] for _ in range(2)}
    assert subjects == {"runs", f"run/{run}"}
    # What is not there, and what is no subject, whoever asks.
    gone = "run/" + "f" * 32
    follower.send({"watch": gone})
    assert follower.until(lambda message: message["subject"] == gone)["error"]["kind"] == "not_found"
    for subject in ("projects/1/files", "run/../secrets", "", "*"):
        nosy = page.enter({"watch": subject}, session=session)
        assert nosy.closed() == 1008
    page.ponk.run("cancel", run)


@pytest.mark.parametrize("bytes_,code", [
    (frame("x" * 17_000), 1009),
    (frame("hi", masked=False), 1002),
    (frame(b"\0", kind=2), 1003),
    (frame(b"\xff"), 1007),
    (frame("[" * 10_000), 1008),
    (frame("{}"), 1008),
    (b"GET / HTTP/1.1\r\n\r\n", 1002),
    (frame("a", last=False) * 20_000, 1002),
], ids=["giant", "unmasked", "binary", "bytes", "deep", "empty", "http", "pieces"])
def test_what_is_no_message_ends_it(page, bytes_, code):
    broken = page.enter()
    try:
        broken.socket.sendall(bytes_)
    except ConnectionError:
        pass
    assert broken.closed() == code
    assert page.ask("GET", "/health")[0] == 200


def test_a_thousand_sockets_of_strangers_and_of_one_client(page):
    soft, hard = resource.getrlimit(resource.RLIMIT_NOFILE)
    resource.setrlimit(resource.RLIMIT_NOFILE, (min(hard, 4096), hard))
    strangers = [socket.create_connection(("127.0.0.1", page.port), timeout=60) for _ in range(1000)]
    for one in strangers:
        one.sendall(b"GET /api/v1/ui/live HTTP/1.1\r\nHost: localhost\r\nUpgrade: websocket\r\nConnection: Upgrade\r\n"
                    b"Sec-WebSocket-Version: 13\r\nSec-WebSocket-Key: dGhlIHNhbXBsZSBub25jZQ==\r\n\r\n")
    # Meanwhile the others are served.
    assert page.ask("GET", "/api/v1/runs", page.session)[0] == 200
    mine = [page.enter("runs") for _ in range(64)]
    one_more = page.socket()
    one_more.send({"hello": page.session})
    assert one_more.closed() == 1013
    assert page.ask("GET", "/api/v1/runs", page.session)[0] == 200
    # Those who said nothing are gone within seconds, the others stay.
    for one in strangers:
        while one.recv(65536):
            pass
        one.close()
    for one in mine:
        assert one.receive()["subject"] == "runs"
        one.close()
    page.ponk.run("runs")
    page.enter("runs").close()
    resource.setrlimit(resource.RLIMIT_NOFILE, (soft, hard))


def test_who_never_reads_costs_one_message(page):
    run = page.ponk.json("history", "info", page.submit_waiting()[0])["run_id"]
    reader = page.enter("runs", f"run/{run}")
    sockets = []
    for _ in range(20):
        deaf = page.socket()
        deaf.socket.setsockopt(socket.SOL_SOCKET, socket.SO_RCVBUF, 4096)
        sockets.append(deaf.enter(page.session, "runs", f"run/{run}"))
    before = page.ponk.json("daemon", "status")["memory_kib"]
    for number in range(300):
        assert page.ask("PATCH", f"/api/v1/runs/{run}", page.session, {"tags": {"k": "v" * 1000 + str(number)}})[0] == 200
    assert page.ponk.json("daemon", "status")["memory_kib"] < before + 64 * 1024
    # A flood of questions is read no faster than it is answered.
    for deaf in sockets:
        deaf.socket.settimeout(0.2)
        try:
            deaf.socket.sendall(frame(json.dumps({"watch": f"run/{run}", "after": 0})) * 20_000)
        except (TimeoutError, ConnectionError):
            pass
    reader.until(lambda message: message["subject"] == f"run/{run}" and message["row"] > 0)
    assert page.ask("GET", "/api/v1/runs", page.session)[0] == 200
    for deaf in sockets:
        deaf.close()
    page.ponk.run("cancel", run)


def test_pings_from_both_sides(page):
    follower = page.enter()
    follower.socket.sendall(frame("are you there", kind=9))
    kind, size = follower._take(2)
    assert kind == 0x80 | PONG and follower._take(size) == b"are you there"
    follower.socket.sendall(frame("", kind=8))
    with pytest.raises(Closed):
        follower.receive()


def test_calls_that_ask_for_no_socket_are_told_what_it_is(page):
    status, refused = page.ask("GET", "/api/v1/ui/live", page.session)
    assert status == 426 and "WebSocket" in refused["error"]["message"]
    connection = http.client.HTTPConnection("127.0.0.1", page.port, timeout=30)
    connection.request("HEAD", "/api/v1/ui/live")
    assert connection.getresponse().status == 426
