# SPDX-License-Identifier: Apache-2.0
"""The daemon as its users meet it: when it cannot start, hangs, or is of another version."""
import contextlib
import json
import os
import pathlib
import re
import shutil
import signal
import socket
import subprocess
import time

import pytest

from workbench import Ponk

BOUND = 60  # seconds; far more than any command may take to say that the daemon hangs


def wait_for(condition, seconds=60):
    end = time.monotonic() + seconds
    while not condition():
        assert time.monotonic() < end, "nothing happened in time"
        time.sleep(0.05)


def daemon_pid(ponk):
    return ponk.json("daemon", "status")["pid"]


@pytest.fixture
def hanging(ponk):
    """A ponk whose daemon is there and does not answer."""
    ponk.write("train.py", "print('hello')\n")
    ponk.run("submit", "train.py")
    pid = daemon_pid(ponk)
    os.kill(pid, signal.SIGSTOP)
    yield ponk, pid
    with contextlib.suppress(ProcessLookupError):
        os.kill(pid, signal.SIGCONT)


def test_why_the_daemon_cannot_start_is_told_once(ponk):
    ponk.home.mkdir()
    (ponk.home / "history").write_text("in the way")

    done = ponk.run("runs", code=69)

    said = done.stderr.decode().splitlines()
    assert said[-1] == f"ponk: error: the daemon could not start: '{ponk.home}/history' exists and is not a folder"
    assert sum("is not a folder" in line for line in said) == 1
    assert [line for line in said if line.startswith("ponk: hint: ")] == [f"ponk: hint: See its log: '{ponk.home}/daemon.log'."]
    assert "is not a folder" in (ponk.home / "daemon.log").read_text()


def test_hint_of_the_daemon_reaches_the_user(ponk):
    ponk.run("project", "list")
    pid = daemon_pid(ponk)
    (ponk.home / "daemon.sock").unlink()

    said = ponk.run("runs", code=69).stderr.decode().splitlines()

    os.kill(pid, signal.SIGTERM)
    assert said[-1] == f"ponk: error: the daemon could not start: another daemon (process {pid}) serves '{ponk.home}'"
    assert any(line.startswith("ponk: hint: ") and f"kill {pid}" in line for line in said)


def test_process_list_shows_what_the_daemon_is(ponk):
    ponk.run("project", "list")
    place = pathlib.Path("/proc") / str(daemon_pid(ponk))

    assert place.joinpath("cmdline").read_bytes().split(b"\0")[:3] == [b"ponk", b"daemon", b"run"]
    assert place.joinpath("comm").read_text() == "ponk-daemon\n"


def test_every_command_tells_within_a_bound_that_the_daemon_hangs(hanging, next_program):
    ponk, pid = hanging
    lines = ["submit train.py", "submit --async train.py", "logs last", "logs --follow last", "cancel last", "runs",
             "experiment status last", "experiment rerun last", "experiment clean --all", "history info last",
             "history last", "project list", "asset list --name x", "secret list", "daemon status", "daemon stop"]
    programs = [(ponk.program, line) for line in lines] + [(next_program, "runs")]

    began = [(line, subprocess.Popen([program, *line.split()], cwd=ponk.project, env=ponk.environment,
                                     stdin=subprocess.DEVNULL, stdout=subprocess.PIPE, stderr=subprocess.PIPE))
             for program, line in programs]
    checks = ponk.json("doctor", code=65, timeout=BOUND)

    for line, process in began:
        said = process.communicate(timeout=BOUND)[1].decode().splitlines()
        assert process.returncode == 75, (line, process.returncode, said)
        assert said[-1] == f"ponk: error: the daemon (process {pid}) at '{ponk.home}/daemon.sock' does not answer", line
        assert any(f"'kill -9 {pid}'" in text for text in said if text.startswith("ponk: hint: ")), line
    [check] = [check for check in checks if check["name"] == "daemon"]
    assert check["status"] == "fail" and str(pid) in check["message"] and f"kill -9 {pid}" in check["hint"]
    # The next step that was told works, and nothing is lost.
    os.kill(pid, signal.SIGKILL)
    assert len(ponk.json("history", "list")) == 1


def test_follower_gives_up_on_a_daemon_that_hangs_later(ponk):
    ponk.write("slow.py", "import time\nprint('begun', flush=True)\ntime.sleep(300)\n")
    follower = subprocess.Popen([ponk.program, "submit", "slow.py"], cwd=ponk.project, env=ponk.environment,
                                stdout=subprocess.PIPE, stderr=subprocess.PIPE)
    assert follower.stdout.readline() == b"begun\n"
    pid = daemon_pid(ponk)
    os.kill(pid, signal.SIGSTOP)
    try:
        said = follower.communicate(timeout=150)[1].decode().splitlines()
    finally:
        os.kill(pid, signal.SIGCONT)
    assert follower.returncode == 75, said
    assert said[-1].startswith("ponk: error: ") and "does not answer" in said[-1]
    ponk.run("cancel", "last", "--wait", "--grace", "1s")


def other_version(ponk, program, *words):
    return subprocess.run([program, *words], cwd=ponk.project, env=ponk.environment, capture_output=True, check=True, timeout=60).stdout


def test_versions_share_a_daemon_until_its_user_stops_it(ponk, next_program):
    ponk.write("count.py", "import sys, time\nfor i in range(60):\n    print('line', i, flush=True)\n    time.sleep(0.05)\n"
                           "sys.stdout.write('end')\nraise SystemExit(9)\n")
    follower = subprocess.Popen([ponk.program, "submit", "count.py"], cwd=ponk.project, env=ponk.environment,
                                stdout=subprocess.PIPE, stderr=subprocess.PIPE)
    assert follower.stdout.readline() == b"line 0\n"
    before = ponk.json("daemon", "status")

    status = json.loads(other_version(ponk, next_program, "experiment", "status", "last", "-o", "json"))
    shared = ponk.json("daemon", "status")
    other_version(ponk, next_program, "daemon", "stop")
    other_version(ponk, next_program, "runs")

    assert status["status"] == "Running"
    assert (shared["version"], shared["pid"]) == (before["version"], before["pid"])
    # The follower has started its own again, or follows the other's: it loses no byte over it.
    rest = follower.communicate(timeout=60)[0]
    log = b"".join(b"line %d\n" % i for i in range(60)) + b"end"
    assert b"line 0\n" + rest == log and follower.returncode == 9
    record = json.loads(other_version(ponk, next_program, "history", "last"))
    assert (record["status"], record["exit_code"]) == ("Failed", 9)
    assert record["evidence"]["log_length"] == len(log) and record["evidence"]["by"] == "stub"
    assert other_version(ponk, next_program, "logs", "last") == log


def test_the_next_command_after_a_stop_starts_its_own_version(ponk, next_program):
    ponk.run("runs")
    own = ponk.json("daemon", "status")["version"]
    other_version(ponk, next_program, "daemon", "stop")

    other_version(ponk, next_program, "runs")

    assert ponk.json("daemon", "status")["version"] == own + "-next"


def test_a_daemon_whose_program_was_removed_ends_when_it_is_idle(ponk, tmp_path):
    copy = tmp_path / "ponk"
    shutil.copy(ponk.program, copy)
    other_version(ponk, copy, "runs")
    pid = daemon_pid(ponk)

    copy.unlink()

    for _ in range(600):
        if not os.path.exists(f"/proc/{pid}"):
            break
        time.sleep(0.1)
    assert not os.path.exists(f"/proc/{pid}")
    assert "its program was removed" in (ponk.home / "daemon.log").read_text()


def test_time_limit_holds_when_the_stub_is_killed(ponk):
    ponk.write("long.py", "import time\nprint('begun', flush=True)\ntime.sleep(600)\n")
    follower = subprocess.Popen([ponk.program, "submit", "--time-limit", "3s", "long.py"], cwd=ponk.project,
                                env=ponk.environment, stdout=subprocess.PIPE, stderr=subprocess.PIPE)
    assert follower.stdout.readline() == b"begun\n"
    run = ponk.json("history", "last")["run_id"]
    who = dict(line.split(" ", 1) for line in (ponk.task(run) / "pid").read_text().splitlines() if " " in line)
    os.kill(int(who["stub"].split()[0]), signal.SIGKILL)

    said = follower.communicate(timeout=60)[1].decode()

    assert follower.returncode == 72, said
    assert "time limit of 3 s" in said.splitlines()[-1]
    record = ponk.json("history", "last")
    assert record["status"] == "Failed" and record["evidence"]["cause"] == "time-limit"
    assert not pathlib.Path("/proc", who["main"].split()[0]).exists()


def test_file_in_place_of_the_socket_is_named(ponk):
    ponk.home.mkdir()
    (ponk.home / "daemon.sock").write_text("precious")

    said = ponk.run("runs", code=73).stderr.decode()

    assert f"'{ponk.home}/daemon.sock' is not a socket" in said.splitlines()[-1] and "Move the file" in said
    assert (ponk.home / "daemon.sock").read_text() == "precious"


def test_socket_path_longer_than_the_kernel_allows_works(program, tmp_path_factory):
    folder = tmp_path_factory.mktemp("p") / ("x" * 100) / ("y" * 100)
    folder.mkdir(parents=True)
    ponk = Ponk(program, folder)
    ponk.write("x.py", "print('far down')\n")
    assert len(str(ponk.home / "daemon.sock")) > 107

    assert ponk.text("submit", "x.py") == "far down\n"
    assert daemon_pid(ponk) > 0
    ponk.run("daemon", "stop")


def test_dead_socket_is_no_hindrance(ponk):
    ponk.home.mkdir(mode=0o700)
    left_over = socket.socket(socket.AF_UNIX)
    left_over.bind(str(ponk.home / "daemon.sock"))
    left_over.close()
    assert ponk.json("project", "list") == []


def as_stranger(words):
    """The command line as a user who is not root, whoever runs the tests."""
    if os.geteuid() != 0:
        return words
    return ["setpriv", "--reuid=65534", "--regid=65534", "--clear-groups", *words]


@pytest.fixture
def stranger(program, tmp_path_factory):
    """A ponk that can be run by a user who is not root: the program and its folders are open to all."""
    folder = tmp_path_factory.mktemp("p")
    for above in [folder, *folder.parents]:
        if os.stat(above).st_uid == os.geteuid() and not os.stat(above).st_mode & 0o005 == 0o005:
            os.chmod(above, os.stat(above).st_mode | 0o055)
    copy = folder / "ponk"
    shutil.copy(program, copy)
    copy.chmod(0o755)
    return Ponk(copy, folder)


def test_nobody_looks_into_the_memory_of_the_daemon(stranger):
    if os.geteuid() == 0:
        for folder in [stranger.project, pathlib.Path(stranger.environment["HOME"])]:
            os.chown(folder, 65534, 65534)
    (stranger.project / "a.py").write_text("import os\nos.makedirs('outputs', exist_ok=True)\nopen('outputs/m', 'w').write('m')\nprint('ran')\n")
    try:
        done = run_as_stranger(stranger, "submit", "a.py")
        assert (done.returncode, done.stdout) == (0, b"ran\n"), done
        pid = json.loads(run_as_stranger(stranger, "daemon", "status", "-o", "json").stdout)["pid"]
        # The kernel gives these to root when a process may neither be dumped nor traced.
        assert os.stat(f"/proc/{pid}/environ").st_uid == 0 and os.stat(f"/proc/{pid}/mem").st_uid == 0
        reader = as_stranger(["cat", f"/proc/{pid}/environ"])
        assert subprocess.run(reader, capture_output=True, timeout=BOUND).returncode != 0
    finally:
        run_as_stranger(stranger, "daemon", "stop")


def run_as_stranger(ponk, *words):
    return subprocess.run(as_stranger([ponk.program, *words]), cwd=ponk.project, env=ponk.environment,
                          stdin=subprocess.DEVNULL, capture_output=True, timeout=BOUND)


def test_home_that_cannot_be_made_is_told(stranger):
    stranger.environment["PONK_HOME"] = "/proc/ponk"
    done = run_as_stranger(stranger, "runs")
    assert done.returncode in (66, 69, 73), done
    assert b"'/proc/ponk'" in done.stderr.splitlines()[-1] and b"PONK_HOME" in done.stderr


def test_home_that_cannot_be_written_is_told(stranger):
    stranger.home.mkdir()
    stranger.home.chmod(0o555)

    done = run_as_stranger(stranger, "runs")

    said = done.stderr.decode().splitlines()
    assert done.returncode == 69, said
    assert said[-1] == f"ponk: error: cannot write to ponk's folder '{stranger.home}': Permission denied"
    assert "ponk: hint: Set PONK_HOME to a folder that you can write to." in said
    assert list(stranger.home.iterdir()) == []


def test_socket_of_another_user_is_refused(stranger):
    """Where it is root who runs the tests, the stranger meets a socket of root; else one made by nobody else can be had."""
    if os.geteuid() != 0:
        pytest.skip("a second user can only be had by root")
    stranger.home.mkdir(mode=0o700)
    os.chown(stranger.home, 65534, 65534)
    other = socket.socket(socket.AF_UNIX)
    other.bind(str(stranger.home / "daemon.sock"))
    other.listen()
    (stranger.home / "daemon.sock").chmod(0o777)

    done = run_as_stranger(stranger, "runs")

    other.setblocking(False)
    with pytest.raises(BlockingIOError):
        other.accept()  # not a word was said to it
    assert done.returncode == 73 and b"belongs to another user (uid 0)" in done.stderr.splitlines()[-1]
    assert b"PONK_HOME" in done.stderr


@pytest.mark.parametrize("words", [
    ["--password", "topsecret"], ["--password=topsecret"], ["-w", "topsecret"], ["-wtopsecret"],
    ["--private-key-passphrase", "topsecret"],
])
def test_password_vanishes_from_the_process_list(ponk, words):
    # It is held up while it writes its answer: the pipe is full.
    reader, writer = os.pipe()
    os.set_blocking(writer, False)
    try:
        while True:
            os.write(writer, b"x" * 4096)
    except BlockingIOError:
        pass
    os.set_blocking(writer, True)
    process = subprocess.Popen([ponk.program, "computetarget", "attach", "remotedocker", "--name", "box", "--address", "h",
                                "--username", "u", *words], cwd=ponk.project, env=ponk.environment, stderr=writer)
    os.close(writer)
    line = pathlib.Path("/proc", str(process.pid), "cmdline")

    wait_for(lambda: b"attach" in line.read_bytes() and b"topsecret" not in line.read_bytes(), 20)

    assert b"*********" in line.read_bytes() and process.poll() is None
    while os.read(reader, 65536):
        pass
    os.close(reader)
    process.wait(timeout=BOUND)


def own_memory(pid):
    """KiB that are not pages of the program's file, whose number depends on how it was built."""
    return int(re.search(r"RssAnon:\s+(\d+) kB", pathlib.Path(f"/proc/{pid}/status").read_text()).group(1))


def test_a_daemon_is_small_again_after_many_runs_at_once(ponk):
    ponk.write("data.bin", "x" * 3_000_000)
    ponk.write("a.py", "import time\ntime.sleep(1)\n")
    ponk.run("submit", "a.py")
    pid = daemon_pid(ponk)
    before = own_memory(pid)
    for _ in range(24):
        ponk.run("submit", "--async", "a.py")
    wait_for(lambda: ponk.json("daemon", "status")["active_runs"] == 0)

    # It gives memory back when it has been quiet for a while.
    wait_for(lambda: time.sleep(2) or own_memory(pid) < before + 3_000)
    assert daemon_pid(ponk) == pid
