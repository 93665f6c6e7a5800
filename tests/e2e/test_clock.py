# SPDX-License-Identifier: Apache-2.0
"""A wall clock that is set ahead or back while runs go on. Only the daemon sees it; the supervisor is static and goes by the
clock of the machine's uptime."""
import glob
import http.client
import json
import socket
import subprocess
import time

import pytest

LIBRARY = next(iter(glob.glob("/usr/lib/*/faketime/libfaketime.so.1")), None)
pytestmark = pytest.mark.skipif(LIBRARY is None, reason="needs Debian's libfaketime")


@pytest.fixture
def clock(ponk, tmp_path):
    """A daemon whose clock can be set: clock('+3600') is an hour ahead."""
    setting = tmp_path / "clock"
    setting.write_text("+0")
    environment = {**ponk.environment, "LD_PRELOAD": LIBRARY, "FAKETIME_TIMESTAMP_FILE": str(setting),
                   "FAKETIME_NO_CACHE": "1", "FAKETIME_DONT_FAKE_MONOTONIC": "1"}
    daemon = subprocess.Popen([ponk.program, "daemon", "run", "--idle-exit", "60"], env=environment, cwd="/",
                              stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)
    deadline = time.monotonic() + 30
    while not (ponk.home / "daemon.sock").exists() and time.monotonic() < deadline:
        time.sleep(0.02)

    def set_clock(text):
        fresh = tmp_path / "clock.new"
        fresh.write_text(text)
        fresh.rename(setting)

    set_clock.daemon = daemon
    yield set_clock
    ponk.run("daemon", "stop", code=None)
    daemon.wait(timeout=30)


def post(path, target):
    connection = http.client.HTTPConnection("ponk")
    connection.sock = socket.socket(socket.AF_UNIX)
    connection.sock.connect(str(path))
    connection.request("POST", target, body="{}")
    return json.loads(connection.getresponse().read())


@pytest.mark.parametrize("step", ["+100000000", "-100000000"])
def test_a_clock_that_steps_ends_no_run_and_makes_no_negative_duration(ponk, clock, step):
    ponk.write("long.py", "import time, ponk\nprint('begun', flush=True)\ntime.sleep(1.5)\nponk.log('loss', 1)\nprint('end')\n")
    run = ponk.text("submit", "--async", "--time-limit", "60s", "long.py").strip()
    clock(step)
    seen = ponk.json("history", "info", run)
    assert seen["status"] in ("Preparing", "Starting", "Running") and (seen["duration_ms"] or 0) >= 0

    ponk.run("logs", "--follow", run)

    record = ponk.json("history", "info", run)
    assert record["status"] == "Completed" and record["exit_code"] == 0 and record["loss"] == 1
    assert 1000 <= record["duration_ms"] < 60000
    assert all(value >= 0 for value in record["timings"].values())
    line = ponk.run("history", "export").stdout.splitlines()[-1]
    assert b'"duration_ms":-' not in line.replace(b" ", b"")
    # Order of arrival, not of the clock.
    ponk.write("a.py", "print(1)\n")
    ponk.run("submit", "a.py")
    clock("+0")
    ponk.run("submit", "a.py")
    assert [r["run_number"] for r in ponk.json("history", "list")] == [3, 2, 1]


def test_a_clock_set_ahead_ends_neither_the_daemon_nor_a_grace(ponk, clock):
    ponk.write("a.py", "print(1)\n")
    ponk.run("submit", "a.py")
    run = ponk.json("history", "last")
    ponk.write("b.py", "print('never run')\n")
    ponk.run("submit", "a.py")
    later = ponk.json("history", "last")["run_id"]
    ponk.run("history", "delete", later, "--yes")  # now nothing refers to b.py
    objects = sorted(p.name for p in (ponk.home / "store/objects").rglob("*") if p.is_file())

    clock("+1000000000")
    time.sleep(1.5)  # the daemon looks for idleness every second

    assert clock.daemon.poll() is None
    assert post(ponk.home / "daemon.sock", "/api/v1/maintenance/gc")["trashed"] == 0
    assert sorted(p.name for p in (ponk.home / "store/objects").rglob("*") if p.is_file()) == objects
    assert ponk.json("history", "info", run["run_id"])["status"] == "Completed"
