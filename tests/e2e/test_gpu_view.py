# SPDX-License-Identifier: Apache-2.0
"""GPUs as commands show them, with a fake driver (tests/support/fake_gpu_probe.py)."""
import fcntl
import json
import os
import pty
import re
import select
import signal
import struct
import subprocess
import termios
import time

import pytest

from workbench import REPOSITORY

PROBE = REPOSITORY / "tests" / "support" / "fake_gpu_probe.py"


@pytest.fixture
def gpus(ponk, tmp_path):
    """Says what GPUs there are from now on."""
    file = tmp_path / "gpus.json"

    def say(state):
        new = file.with_suffix(".new")
        new.write_text(json.dumps(state))
        new.rename(file)

    ponk.environment.update(PONK_GPU_PROBE=str(PROBE), PONK_FAKE_GPUS=str(file))
    return say


def test_machine_without_gpus_says_so(ponk, gpus):
    gpus({})
    done = ponk.run("gpu", "list", "-o", "json")
    assert json.loads(done.stdout) == []
    assert b"no GPU on local" in done.stderr


def test_gpus_are_listed_with_figures_and_processes(ponk, gpus):
    with subprocess.Popen(["sleep", "1000"], env={"PATH": "/usr/bin:/bin", "PONK_RUN_ID": "ab" * 16}) as child:
        try:
            gpus({"devices": [{"uuid": "GPU-A", "name": "Card", "sample": {"utilisation": 0.83, "power_watts": 412},
                               "processes": [{"pid": child.pid, "memory": 9 << 30}]}, {"uuid": "GPU-B"}]})
            (first, second) = ponk.json("gpu", "list")
            table = ponk.text("gpu", "list", "-o", "table", env={"COLUMNS": "200"})
        finally:
            child.kill()
    assert first["targets"] == ["local"] and first["uuid"] == "GPU-A" and first["driver_version"] == "580.1"
    assert first["sample"]["utilisation"] == 0.83 and first["sample"]["memory_used"] == 9 << 30
    (process,) = first["processes"]
    assert process["pid"] == child.pid and process["program"] == "sleep" and process["run"] == "ab" * 16
    assert second["processes"] == []
    assert re.search(r"local +0 +\S+, run abababab +Card +83 % +9\.0 of 80\.0 GiB .*412 W", table), table


def test_reason_for_having_none_comes_with_the_next_step(ponk, gpus):
    gpus({"problem": {"kind": "unavailable", "message": "the driver is not loaded", "hint": "Run 'modprobe nvidia'."}})
    said = ponk.run("gpu", "list").stderr.decode()
    assert "local: the driver is not loaded" in said and "hint: Run 'modprobe nvidia'." in said


def test_driver_that_dies_is_an_answer(ponk, gpus):
    gpus({"exit": 3})
    said = ponk.run("gpu", "list").stderr.decode()
    assert "ended with code 3 before it answered" in said
    ponk.run("gpu", "list", "-t", "local", code=69)


def test_target_that_is_not_there_is_named(ponk, gpus):
    done = ponk.run("gpu", "list", "-t", "nowhere", code=66)
    assert b"'nowhere'" in done.stderr


def test_watch_in_a_pipe_writes_a_line_per_gpu_and_look(ponk, gpus):
    gpus({"devices": [{"name": "Card", "sample": {"utilisation": 0.5}}, {"name": "Other"}]})
    lines = ponk.text("gpu", "watch", "--count", "2", "--interval", "0.2").splitlines()
    assert len(lines) == 4
    assert re.fullmatch(r"\S+Z  local 0  Card  busy 50 %  memory 0\.0 of 80\.0 GiB", lines[0]), lines[0]
    assert "Other" in lines[3]


def test_watch_as_json_is_a_document_per_look(ponk, gpus):
    gpus({"devices": 1})
    text = ponk.text("gpu", "watch", "--count", "2", "--interval", "0.2", "-o", "json")
    document, end = json.JSONDecoder().raw_decode(text)
    assert document[0]["uuid"] == "GPU-0" and text[end:].strip()


def test_watch_refuses_what_is_no_interval(ponk):
    for words in (["--interval", "0"], ["--interval", "x"], ["--count", "0"]):
        assert ponk.run("gpu", "watch", *words, code=64).stderr


def read_some(terminal):
    """What was written there within a second; None when nobody has it open any more."""
    try:
        return os.read(terminal, 65536) if select.select([terminal], [], [], 1)[0] else b""
    except OSError:
        return None


def test_watch_on_a_terminal_redraws_and_ends_at_ctrl_c(ponk, gpus):
    gpus({"devices": [{"name": "Card", "sample": {"utilisation": 0.5, "temperature": 61}}]})
    leader, follower = pty.openpty()
    fcntl.ioctl(follower, termios.TIOCSWINSZ, struct.pack("HHHH", 24, 80, 0, 0))
    with subprocess.Popen([ponk.program, "gpu", "watch", "--interval", "0.2"], cwd=ponk.project, stdin=follower,
                          stdout=follower, stderr=subprocess.PIPE, env={**ponk.environment, "TERM": "xterm"},
                          start_new_session=True) as child:
        os.close(follower)
        seen = b""
        end = time.monotonic() + 60
        while seen.count(b"heat") < 3 and time.monotonic() < end:
            seen += read_some(leader) or b""
        child.send_signal(signal.SIGINT)
        while (more := read_some(leader)) is not None and time.monotonic() < end:
            seen += more
        assert child.wait(timeout=10) == 0, child.stderr.read()
    os.close(leader)
    text = seen.decode()
    assert "50 %" in text and "61 °C" in text
    assert re.search("\x1b\\[\\d+A\r", text)  # drawn over, not below
    assert text.startswith("\x1b[?25l") and text.rstrip().endswith("\x1b[?25h")  # the cursor is back
