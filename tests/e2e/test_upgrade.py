# SPDX-License-Identifier: Apache-2.0
"""Homes of earlier versions open with this program, and those of later ones are left alone."""
import json
import os
import re
import shutil
import socket
import subprocess
import threading

import pytest

from golden_homes import GOLDEN, lock, unpack

HOMES = sorted(GOLDEN.glob("home-v*.tar.gz"))
FIRST = GOLDEN / "home-v1.tar.gz"
FORMAT = "ponk-home 2\n"
# Arguments of the script, status, exit code, steps that it logged.
RUNS = [("completed", "Completed", 0, 20), ("failing", "Failed", 3, 3), ("waiting", "Canceled", 143, 1), ("remote", "Completed", 0, 5),
        ("container", "Completed", 0, 5)]


def files_of(home):
    """Every file with its content, by a name that no version changes."""
    out = {}
    for place in home.rglob("*"):
        if place.is_file():
            name = str(place.relative_to(home)).replace("/attempts/1/tasks/0/", "/")
            out[name] = place.read_bytes()
    return out


def check(ponk, runs):
    listed = {run["run_id"]: run for run in ponk.json("runs", "--all-projects")}
    assert sorted(listed) == runs
    for run, (word, status, code, steps) in zip(runs, RUNS):
        info = ponk.json("history", "info", run)
        assert (info["status"], info["exit_code"], info["arguments"][1]) == (status, code, word)
        assert info["loss"] == pytest.approx(1 / steps)
        assert ponk.text("logs", run) == "".join(f"step {step}\n" for step in range(steps))
        got = ponk.project / "got" / run
        ponk.run("history", "download", run, "-d", got)
        assert (got / "outputs/model.txt").read_text() == f"weights of {word}\n"
    assert [token["name"] for token in ponk.json("token", "list")] == ["golden"]


@pytest.mark.parametrize("archive", HOMES, ids=lambda path: path.name.split(".")[0])
def test_a_home_of_each_version_opens(ponk, archive):
    runs = unpack(archive, ponk.home)
    before = files_of(ponk.home)

    check(ponk, runs)

    assert (ponk.home / "format").read_text() == FORMAT
    after = files_of(ponk.home)
    for name, content in before.items():
        if name.startswith("runs/") and not name.endswith("/box"):
            assert after[name] == content, name
    for gone in ("doors.json", "boxes"):
        assert not (ponk.home / gone).exists()
    assert [sorted(place.name for place in (ponk.home / "hosts" / kind).iterdir()) for kind in ("remote", "remotedocker")] != [[], []]
    ponk.write("a.py", "print('new')\n")
    assert ponk.text("submit", "a.py") == "new\n", "and runs begin in it"


def test_history_is_rebuilt_from_a_home_of_the_first_version(ponk):
    runs = unpack(FIRST, ponk.home)
    (ponk.home / "history/history.db").unlink()

    listed = ponk.json("runs", "--all-projects")

    assert sorted(run["run_id"] for run in listed) == runs
    assert {run["status"] for run in listed} == {"Completed", "Failed", "Canceled"}


@pytest.mark.parametrize("name", ["lock", "side.lock"])
def test_a_home_with_a_living_run_of_the_first_version_is_refused(ponk, name):
    runs = unpack(FIRST, ponk.home)
    folder = ponk.home / "runs" / runs[2]
    for gone in ("exit", "end.json"):
        (folder / gone).rename(ponk.project / gone)
    before = files_of(ponk.home)
    held = lock(folder / name)

    said = ponk.run("runs", code=69).stderr.decode()

    assert f"a run of an earlier version of ponk is still running: {runs[2]}" in said
    assert "cancel with that version" in said
    for changed, content in before.items():
        assert (ponk.home / changed).read_bytes() == content, changed
    os.close(held)
    for gone in ("exit", "end.json"):
        (ponk.project / gone).rename(folder / gone)
    check(ponk, runs)


def test_a_run_of_the_first_version_on_another_machine_must_end_first(ponk):
    runs = unpack(FIRST, ponk.home)
    folder = ponk.home / "runs" / runs[3]
    for name in ("exit", "end.json"):
        (folder / name).rename(ponk.project / name)

    said = ponk.run("runs", code=69).stderr.decode()

    assert f"a run of an earlier version of ponk is still running: {runs[3]}" in said
    for name in ("exit", "end.json"):
        (ponk.project / name).rename(folder / name)
    check(ponk, runs)


def test_a_run_that_has_ended_is_not_alive_because_a_process_of_it_holds_the_lock(ponk):
    runs = unpack(FIRST, ponk.home)
    held = lock(ponk.home / "runs" / runs[0] / "lock")

    check(ponk, runs)

    os.close(held)


def test_folders_that_nobody_may_write_to_are_converted(bound):
    runs = unpack(FIRST, bound.home)
    folder = bound.home / "runs" / runs[0]
    (folder / "mine").mkdir(mode=0o555)
    (folder / "journal").chmod(0)

    check(bound, runs)

    assert (bound.task(runs[0]) / "mine").is_dir() and list(bound.task(runs[0]).glob("journal/*.journal"))


def test_runs_on_a_disk_that_was_not_mounted_at_the_upgrade_are_converted_later(ponk):
    runs = unpack(FIRST, ponk.home)
    (ponk.home / "runs").rename(ponk.project / "disk")
    ponk.run("runs", "--all-projects")
    ponk.run("daemon", "stop")
    assert (ponk.home / "format").read_text() == FORMAT

    shutil.rmtree(ponk.home / "runs")
    (ponk.project / "disk").rename(ponk.home / "runs")

    assert ponk.text("logs", runs[0]) == "".join(f"step {step}\n" for step in range(20))


def answer_as_daemon(ponk, **about):
    """A daemon of some other program on the socket of this home, for as long as the test lasts."""
    ponk.home.mkdir(mode=0o700, exist_ok=True)
    server = socket.socket(socket.AF_UNIX)
    server.bind(str(ponk.home / "daemon.sock"))
    server.listen()
    body = json.dumps({"version": "9.9.9", "pid": os.getpid(), "serves": [], **about}).encode()

    def serve():
        while True:
            try:
                client = server.accept()[0]
            except OSError:
                return
            asked.append(client.recv(65536).split(b"\r\n")[0].decode())
            client.sendall(b"HTTP/1.1 200 OK\r\nContent-Type: application/json\r\nConnection: close\r\nContent-Length: %d\r\n\r\n%s" % (len(body), body))
            client.close()

    asked = []
    threading.Thread(target=serve, daemon=True).start()
    return server, asked


def test_a_daemon_that_speaks_another_api_is_named_and_not_ended(ponk):
    server, asked = answer_as_daemon(ponk, api=99)

    said = ponk.run("runs", code=None)

    server.close()
    (ponk.home / "daemon.sock").unlink()
    text = said.stderr.decode()
    assert said.returncode != 0
    assert f"the daemon of ponk 9.9.9 (process {os.getpid()}) speaks version 99 of the API" in text
    assert "Run 'ponk daemon stop'" in text
    assert asked and not [line for line in asked if line.startswith("POST")]


def test_the_daemon_is_shared_also_when_the_other_program_could_not_serve(ponk, next_program):
    ponk.run("runs")
    before = ponk.json("daemon", "status")
    (ponk.home / "format").write_text("ponk-home 99\n")

    subprocess.run([next_program, "runs"], cwd=ponk.project, env=ponk.environment, capture_output=True, timeout=60, check=True)

    assert ponk.json("daemon", "status")["pid"] == before["pid"]


def test_a_home_of_a_newer_version_is_refused_in_one_sentence(ponk):
    ponk.home.mkdir(mode=0o700)
    (ponk.home / "format").write_text("ponk-home 99\n")

    said = ponk.run("runs", code=69).stderr.decode()

    assert f"'{ponk.home}' was written by a newer ponk (format 99, this one knows 2)" in said
    assert not (ponk.home / "history").exists()


@pytest.mark.parametrize("text", ["", "ponk-home\n", "ponk-home x\n", "ponk-home -1\n", "{}\n"])
def test_a_damaged_format_is_an_error_that_names_the_file(ponk, text):
    ponk.home.mkdir(mode=0o700)
    (ponk.home / "format").write_text(text)

    said = ponk.run("runs", code=69).stderr.decode()

    assert f"'{ponk.home}/format' is damaged" in said


@pytest.mark.parametrize("call", [1, 2, 4, 17, 30, 40])
def test_an_upgrade_that_is_killed_goes_on_with_the_next_command(ponk, call):
    if not os.path.exists("/usr/bin/strace"):
        pytest.skip("strace is not installed")
    runs = unpack(FIRST, ponk.home)
    trace = ponk.project / "trace"
    killed = subprocess.run(
        ["/usr/bin/strace", "-f", "-qq", "-o", trace, "-e", "trace=rename,renameat,renameat2", "-e",
         f"inject=rename,renameat,renameat2:signal=KILL:when={call}", ponk.program, "daemon", "run"],
        env=ponk.environment, capture_output=True, timeout=120)
    assert killed.returncode != 0 and "killed by SIGKILL" in trace.read_text()
    assert not (ponk.home / "format").exists()

    check(ponk, runs)

    assert (ponk.home / "format").read_text() == FORMAT
    stray = [place for place in (ponk.home / "runs").glob("*/*")
             if not re.fullmatch(r"attempts|work|host|record\.json|end\.json", place.name)]
    assert stray == []
