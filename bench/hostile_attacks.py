# SPDX-License-Identifier: Apache-2.0
"""Attacks on a daemon of one's own, on loopback: each is a function that runs until `stop` is set."""
import contextlib
import http.client
import json
import multiprocessing
import resource
import selectors
import socket
import ssl
import threading
import time

API = "/api/2.0/mlflow/"
MASK = (1 << 64) - 1
acts = multiprocessing.get_context("fork").Value("q", 0)  # of all attackers: one that gets no processor is no attacker


class ListenerKind:
    """Where the daemon is, and a token for it."""

    def __init__(self, port, token):
        self.port, self.token = port, token

    @property
    def headers(self):
        return {"Authorization": "Bearer " + self.token, "Content-Type": "application/json"}

    def connect(self, timeout=120):
        return http.client.HTTPConnection("127.0.0.1", self.port, timeout=timeout)

    def ask(self, method, target, fields=None):
        connection = self.connect()
        with contextlib.closing(connection):
            connection.request(method, target, None if fields is None else json.dumps(fields), self.headers)
            answer = connection.getresponse()
            return answer.status, answer.read()

    def raw(self, target):
        return ("GET %s HTTP/1.1\r\nHost: localhost\r\nAuthorization: Bearer %s\r\n\r\n" % (target, self.token)).encode()


def many(count, stop, act):
    """`act()` again and again on so many threads; an answer that does not come is the attacker's own trouble."""
    def loop():
        while not stop.is_set():
            with contextlib.suppress(OSError, http.client.HTTPException):
                act()
            with acts.get_lock():
                acts.value += 1

    threads = [threading.Thread(target=loop, daemon=True) for _ in range(count)]
    for thread in threads:
        thread.start()
    while not stop.is_set():
        time.sleep(0.05)
    for thread in threads:
        thread.join(5)


def read_log_far_behind(listener, run, stop):
    """Two readers of a log with a secret, from an offset that is not there; they leave and come again."""
    def act():
        with socket.create_connection(("127.0.0.1", listener.port), timeout=5) as connection:
            connection.sendall(listener.raw("/api/v1/runs/%s/log?offset=%d" % (run, 1 << 60)))
            connection.settimeout(2)
            connection.recv(65536)
            time.sleep(1)

    many(2, stop, act)


def colliding_keys(count):
    """Different texts of 16 ASCII bytes for which libstdc++'s hash of strings is the same."""
    multiplier = 0xc6a4a7935bd1e995
    inverse = pow(multiplier, -1, 1 << 64)

    def mix(value):
        return value ^ value >> 47

    start = 0xc70f6907 ^ (16 * multiplier & MASK)
    target = 0x0123456789abcdef
    keys, number = [], 0
    while len(keys) < count:
        number += 1
        first = int.from_bytes(b"%08x" % number, "little")
        data = mix(first * multiplier & MASK) * multiplier & MASK
        between = (start ^ data) * multiplier & MASK
        second = mix((between ^ target) * inverse & MASK) * inverse & MASK
        if second & 0x8080808080808080 == 0:
            keys.append(b"%08x" % number + second.to_bytes(8, "little"))
    return keys


def send_colliding_keys(listener, run, keys, stop):
    """16 bodies of one object with keys that all have the same hash."""
    body = json.dumps({"run_id": run, "key": "k", "value": "v", **{key.decode(): 0 for key in keys}})

    def act():
        with contextlib.closing(listener.connect()) as connection:
            connection.request("POST", API + "runs/set-tag", body, listener.headers)
            connection.getresponse().read()

    many(16, stop, act)


def search_backtracking(listener, stop):
    """16 searches whose pattern a naive matcher tries at every place of long texts; each client leaves soon."""
    body = json.dumps({"experiment_ids": ["0"], "filter": "tags.long LIKE '%%%sb%%'" % ("a" * 3900)}).encode()
    head = ("POST %sruns/search HTTP/1.1\r\nHost: localhost\r\nAuthorization: Bearer %s\r\nContent-Type: application/json\r\n"
            "Content-Length: %d\r\n\r\n" % (API, listener.token, len(body))).encode()

    def act():
        with socket.create_connection(("127.0.0.1", listener.port), timeout=5) as connection:
            connection.sendall(head + body)
            time.sleep(0.3)

    many(16, stop, act)


def ask_for_much(listener, stop):
    """Eight clients that ask for all runs of an experiment with very long tags, in both APIs."""
    number = iter(range(1 << 60))

    def act():
        with contextlib.closing(listener.connect()) as connection:
            if next(number) % 2:
                connection.request("GET", "/api/v1/runs?limit=10000", headers=listener.headers)
            else:
                connection.request("POST", API + "runs/search", json.dumps({"experiment_ids": ["0"], "max_results": 10000}),
                                   listener.headers)
            answer = connection.getresponse()
            answer.read()
            if answer.status == 503:
                time.sleep(0.2)

    many(8, stop, act)


def export(listener, stop):
    def act():
        with contextlib.closing(listener.connect()) as connection:
            connection.request("GET", "/api/v1/export", headers=listener.headers)
            answer = connection.getresponse()
            while not stop.is_set() and answer.read(1 << 20):
                pass

    many(10, stop, act)


def hold_exports(listener, count, ready, stop):
    """So many exports, of which nobody reads anything."""
    resource.setrlimit(resource.RLIMIT_NOFILE, (resource.getrlimit(resource.RLIMIT_NOFILE)[1],) * 2)
    held = []
    for _ in range(count):
        connection = socket.create_connection(("127.0.0.1", listener.port), timeout=30)
        connection.setsockopt(socket.SOL_SOCKET, socket.SO_RCVBUF, 2048)
        connection.sendall(listener.raw("/api/v1/export"))
        held.append(connection)
    time.sleep(3)
    ready.set()
    stop.wait()


def send_tiny_chunks(listener, stop):
    """40 clients that send a body one byte a chunk, and come again when they are refused."""
    head = ("POST %sruns/search HTTP/1.1\r\nHost: localhost\r\nAuthorization: Bearer %s\r\nContent-Type: application/json\r\n"
            "Transfer-Encoding: chunked\r\n\r\n" % (API, listener.token)).encode()
    chunks = b"1\r\n \r\n" * 50_000

    def act():
        with socket.create_connection(("127.0.0.1", listener.port), timeout=20) as connection:
            connection.sendall(head)
            for _ in range(300):
                if stop.is_set():
                    break
                connection.sendall(chunks)

    many(40, stop, act)


def send_refused_bodies(listener, token, stop):
    """Four clients that send 60 MB each to be refused; `token` may be none."""
    size = 60 << 20
    head = ("POST %sruns/log-batch HTTP/1.1\r\nHost: localhost\r\nContent-Type: application/json\r\n%sContent-Length: %d\r\n\r\n"
            % (API, "Authorization: Bearer %s\r\n" % token if token else "", size)).encode()
    body = b"x" * size

    def act():
        with socket.create_connection(("127.0.0.1", listener.port), timeout=20) as connection:
            connection.sendall(head)
            with contextlib.suppress(OSError):
                connection.sendall(body)
            connection.recv(4096)

    many(4, stop, act)


def send_large_texts(listener, run, stop):
    """16 bodies of 15 MB that hold one long text."""
    body = b'{"run_id":"%s","x":"%s"}' % (run.encode(), b"\\u0041" * 2_500_000)

    def act():
        with contextlib.closing(listener.connect()) as connection:
            connection.request("POST", API + "runs/log-batch", body, listener.headers)
            connection.getresponse().read()

    many(16, stop, act)


def begin_tls(listener, stop):
    """16 clients that send the beginning of a handshake, which costs them nothing, take the server's part and leave."""
    context = ssl.create_default_context()
    sent = ssl.MemoryBIO()
    with contextlib.suppress(ssl.SSLWantReadError):
        context.wrap_bio(ssl.MemoryBIO(), sent, server_hostname="localhost").do_handshake()
    hello = sent.read()

    def act():
        with socket.create_connection(("127.0.0.1", listener.port), timeout=20) as connection:
            connection.sendall(hello)
            connection.recv(4096)

    many(16, stop, act)


def list_artifacts(listener, run, stop):
    """Eight clients that ask for a folder with very many files, in both APIs."""
    number = iter(range(1 << 60))

    def act():
        with contextlib.closing(listener.connect()) as connection:
            native = next(number) % 2
            connection.request("GET", "/api/v1/runs/%s/artifacts" % run if native else API + "artifacts/list?path=many&run_id=" + run,
                               headers=listener.headers)
            answer = connection.getresponse()
            answer.read()
            if answer.status != 200:
                time.sleep(0.2)

    many(8, stop, act)


def follow_logs(listener, run, count, ready, stop):
    """So many followers of one log, 2,000 from each address."""
    resource.setrlimit(resource.RLIMIT_NOFILE, (resource.getrlimit(resource.RLIMIT_NOFILE)[1],) * 2)
    request = listener.raw("/api/v1/runs/%s/log?follow=1" % run)
    with selectors.DefaultSelector() as selector:
        for number in range(count):
            connection = socket.create_connection(("127.0.0.1", listener.port), timeout=30,
                                                  source_address=("127.0.0.%d" % (2 + number // 1900), 0))
            connection.sendall(request)
            connection.setblocking(False)
            selector.register(connection, selectors.EVENT_READ)
        ready.set()
        while not stop.is_set():
            for key, _ in selector.select(0.2):
                with contextlib.suppress(BlockingIOError):
                    if not key.fileobj.recv(65536):
                        selector.unregister(key.fileobj)
