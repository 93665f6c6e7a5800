# SPDX-License-Identifier: Apache-2.0
"""The page's command prompt with a real daemon: what is in it, who may open it, and that nobody of it stays."""
import base64
import json
import os
import pathlib
import re
import shutil
import signal
import subprocess
import sys
import time

import pytest
from login import Page
from web_socket import WebSocket
from wheels import write_wheel


class Shell:
    """A prompt as the page has one."""

    def __init__(self, port, session, project, columns=200, rows=40, headers=None):
        self.socket = WebSocket(port, path="/api/v1/ui/prompt", timeout=120, headers=headers)
        self.socket.send({"hello": session, "project": project, "columns": columns, "rows": rows})
        self.taken, self.asked = 0, 0
        self.begun = self.socket.receive()["hello"]

    def next(self):
        message = self.socket.receive()
        if "output" not in message:
            return message
        piece = base64.b64decode(message["output"])
        self.taken += len(piece)
        self.socket.send({"taken": self.taken})
        return piece

    def until(self, word):
        seen = b""
        while word not in seen:
            piece = self.next()
            assert isinstance(piece, bytes), (piece, seen[-2000:])
            seen += piece
        return seen

    def type(self, text):
        self.socket.send({"input": text})

    def end(self):
        """Lets the shell end; what it said of that."""
        self.type("exit 0\n")
        while isinstance(said := self.next(), bytes):
            pass
        return said["ended"]

    def ask(self, command):
        """What a command prints, both streams, and its code. The marks are put together by the shell: their echo is another text."""
        self.asked += 1
        self.type(f"echo be'gin'{self.asked}; {{ {command}\n}} 2>&1; echo en'd'{self.asked}=$?#\n")
        seen = self.until(f"end{self.asked}=".encode())
        while not re.search(rb"end%d=\d+#" % self.asked, seen):
            seen += self.next()
        found = re.search(rb"begin%d\r\n(.*?)end%d=(\d+)#" % (self.asked, self.asked), seen, re.S)
        return found[1].decode().replace("\r\n", "\n"), int(found[2])


class Prompted(Page):
    def __init__(self, ponk):
        super().__init__(ponk)
        ponk.write("ok.py", "print('ok')\n")
        ponk.run("submit", "ok.py")
        self.project = self.project_id()
        self.session = self.allowed()

    def project_id(self):
        return self.ponk.json("history", "list")[0]["project"]

    def allowed(self, **variables):
        code = self.code(prompt=True, environment=[f"{name}={value}" for name, value in {**self.ponk.environment, "SHELL": "/bin/bash", **variables}.items()], umask=0o27)
        return self.log_in(code=code["code"])[1]["session"]

    def open(self, **more):
        return Shell(self.port, more.pop("session", self.session), self.project, **more)


@pytest.fixture
def page(ponk):
    return Prompted(ponk)


def members(session):
    """The living processes of a session."""
    found = []
    for entry in pathlib.Path("/proc").iterdir():
        try:
            words = (entry / "stat").read_text().rpartition(")")[2].split()
        except (OSError, ValueError):
            continue
        if words and int(words[3]) == session and words[0] not in "ZX":
            found.append(int(entry.name))
    return found


def wait_until_gone(session):
    deadline = time.monotonic() + 60
    while members(session):
        assert time.monotonic() < deadline, members(session)
        time.sleep(0.02)


def test_a_shell_of_the_users_own_in_the_projects_folder(page):
    shell = page.open(columns=97, rows=31)
    assert shell.begun["shell"] == "bash" and shell.begun["folder"] == str(page.ponk.project)
    assert shell.ask("pwd")[0].strip() == str(page.ponk.project)
    assert shell.ask("stty size; umask; echo $TERM $PONK_HOME") == (f"31 97\n0027\nxterm-256color {page.ponk.home}\n", 0)
    shell.socket.send({"columns": 120, "rows": 50})
    assert shell.ask("stty size")[0] == "50 120\n"
    assert shell.ask("false")[1] == 1
    # Nothing of the daemon's.
    own = pathlib.Path("/proc") / shell.ask("echo $$")[0].strip() / "fd"
    assert {os.readlink(entry).startswith("/dev/pts/") for entry in own.iterdir()} == {True}
    # But for the two that the C library keeps to itself: whoever starts these tests may ignore them.
    masks = re.findall(r"Sig\w+:\s+(\w+)", shell.ask("grep -E 'Sig(Ign|Blk)' /proc/self/status")[0])
    assert [int(mask, 16) & ~(0b11 << 31) for mask in masks] == [0, 0]
    shell.type("exit 5\n")
    while not isinstance(ended := shell.next(), dict):
        pass
    assert ended == {"ended": {"code": 5, "signal": None}} and shell.socket.closed() == 1000


def test_python_pip_and_az_of_the_target(page):
    """What a run on `local` has; the user's own files do not put another one in front."""
    (page.ponk.home.parent / ".bashrc").write_text("export FROM_RC=yes\nPATH=/usr/bin:/bin:$PATH\n")
    shell = page.open()
    first = shell.until(b"\r\n").decode()
    assert first.startswith(f"ponk: python is {shell.begun['python']} (the Python on PATH)")
    assert shell.ask("echo $FROM_RC")[0] == "yes\n"
    tools = shell.ask("dirname $(command -v python)")[0].strip()
    assert tools.startswith(f"{page.ponk.home}/prompt/") and os.stat(tools).st_mode & 0o777 == 0o700
    for name in ("python3", "pip", "pip3", "az", "ponk"):
        assert shell.ask(f"command -v {name}")[0] == f"{tools}/{name}\n"
    assert shell.ask("python -c 'import sys; print(sys.executable)'")[0].strip() == shell.begun["python"]
    assert shell.ask("az ml version")[0] == shell.ask("ponk version")[0] != ""
    assert "ok.py" in shell.ask("az ml history list -o table")[0]


def test_an_environment_of_the_project_is_the_python(page):
    subprocess.run([sys.executable, "-m", "venv", "--without-pip", page.ponk.project / ".venv"], check=True)
    shell = page.open()
    assert "'.venv' of the project" in shell.until(b"\r\n").decode()
    assert shell.ask("python -c 'import sys; print(sys.prefix)'")[0].strip() == str(page.ponk.project / ".venv")
    assert shell.ask("echo $VIRTUAL_ENV")[0].strip() == str(page.ponk.project / ".venv")


def test_a_python_that_hangs_holds_nothing_up(page):
    """It is found, and not started: not even to learn its version."""
    started = page.ponk.project.parent / "started"
    python = page.ponk.write(".venv/bin/python", f"#!/bin/sh\n: >'{started}'\nexec sleep 1000\n")
    python.chmod(0o755)
    page.ponk.write(".venv/pyvenv.cfg", "home = /usr/bin\n")
    shells = [page.open() for _ in range(3)]
    assert {shell.begun["python"] for shell in shells} == {str(python)}
    assert not started.exists()


def test_packages_that_are_not_installed_yet_are_told(page):
    page.ponk.write("requirements.txt", "tinytool==1.0\n")
    shell = page.open()
    first = shell.until(b"\r\n").decode()
    assert "'requirements.txt' are not installed yet" in first and "ponk experiment prepare -c local" in first
    # No run would start with these, but a shell does.
    page.ponk.write("aml_config/local.runconfig", "Target: [\n")
    assert "runs on 'local' would not start" in page.open().until(b"\r\n").decode()


def test_an_environment_that_ponk_built_is_used_and_not_changed(page, tmp_path):
    write_wheel(tmp_path, "tinytool", "1.0")
    page.ponk.environment.update(PIP_NO_INDEX="1", PIP_FIND_LINKS=str(tmp_path), PONK_ENV_FREE_SPACE="1000000")
    page.ponk.write("requirements.txt", "tinytool==1.0\n")
    page.ponk.run("experiment", "prepare", "-c", "local")
    shell = page.open(session=page.allowed())
    assert "(the project has requirements.txt)" in shell.until(b"\r\n").decode()
    assert f"{page.ponk.home}/envs/" in shell.begun["python"]
    assert shell.ask("python -c 'import tinytool; print(tinytool.__name__)'") == ("tinytool\n", 0)
    said, code = shell.ask("pip install tinytool")
    assert code == 1 and "built from 'requirements.txt'" in said
    assert shell.ask("pip list | grep tinytool")[0].split() == ["tinytool", "1.0"]
    assert shell.ask("echo $VIRTUAL_ENV")[0].startswith(f"{page.ponk.home}/envs/")
    # Nor is it removed meanwhile, but afterwards.
    environment = page.ponk.json("environment", "list")[0]["id"]
    assert page.ponk.run("environment", "remove", environment, code=None).returncode != 0
    shell.end()
    page.ponk.run("environment", "remove", environment)


def test_pip_tells_of_packages_that_are_gone(page):
    shell = page.open()
    said, code = shell.ask("pip install tensorflow-gpu==1.4.0 cntk-gpu")
    assert code == 1
    assert "the package 'tensorflow-gpu' was withdrawn from PyPI in 2022" in said and "pip install 'tensorflow[and-cuda]'" in said
    assert "'cntk-gpu' is no longer developed" in said and "nothing was installed" in said
    # On stderr, and nobody asked pip.
    assert shell.ask("pip install tensorflow-gpu 2>/dev/null") == ("", 1)
    # All else is pip's own.
    assert shell.ask("pip --version | cut -d' ' -f1 || true")[0].split() in (["pip"], [f"{shell.begun['python']}:", "No", "module", "named", "pip"])


def test_it_is_refused_without_the_option(page):
    without = page.log_in(code=page.code()["code"])[1]["session"]
    assert page.ask("GET", "/api/v1/ui/session", without)[1]["prompt"] is False
    assert page.ask("GET", "/api/v1/ui/session", page.session)[1]["prompt"] is True
    token = page.ponk.text("token", "create", "--name", "t", "--role", "administer", "-o", "table").strip()
    of_token = page.log_in(token=token, prompt=True)[1]["session"]
    for session in (without, of_token):
        socket = WebSocket(page.port, path="/api/v1/ui/prompt")
        socket.send({"hello": session, "project": page.project, "columns": 80, "rows": 24})
        assert socket.closed() == 4403
    for hello in (token, "", "ponk_session_" + "0" * 64):
        socket = WebSocket(page.port, path="/api/v1/ui/prompt")
        socket.send({"hello": hello, "project": page.project, "columns": 80, "rows": 24})
        assert socket.closed() == 4401
    for headers in ({"Origin": "http://evil.example"}, {"Origin": "null"}, {"Sec-Fetch-Site": "cross-site"}, {"Host": "evil.example"}):
        assert WebSocket(page.port, path="/api/v1/ui/prompt", headers=headers).status == 403


def test_the_command_gives_the_right_and_a_new_daemon_has_forgotten_it(page):
    address = page.ponk.text("ui", "--no-open", "--prompt")
    made = page.log_in(code=re.search(r"code=([0-9a-f]+)", address)[1])[1]
    assert made["prompt"] is True
    shell = page.open(session=made["session"])
    assert shell.ask("echo $LANG")[0] == "C.UTF-8\n"
    os.kill(page.ponk.json("daemon", "status")["pid"], signal.SIGKILL)
    page.ponk.run("runs")
    assert page.ask("GET", "/api/v1/ui/session", made["session"])[1]["prompt"] is False


def test_nobody_stays_when_it_is_closed(page):
    shell = page.open()
    pid = int(shell.ask("echo $$")[0])
    shell.ask("(trap '' HUP; exec sleep 1000) & sleep 1000 & nohup sleep 1000 >/dev/null 2>&1 &")
    assert len(members(pid)) >= 4
    shell.socket.close()
    wait_until_gone(pid)

    shell = page.open()
    pid = int(shell.ask("echo $$; sleep 1000 &")[0].split()[0])
    ended = page.ask("GET", "/api/v1/ui/session", page.session)[1]["id"]
    page.ponk.run("session", "remove", ended)
    assert shell.socket.closed() == 4401
    wait_until_gone(pid)

    shell = page.open(session=page.allowed())
    pid = int(shell.ask("echo $$; (trap '' HUP; exec sleep 1000) &")[0].split()[0])
    page.ponk.run("daemon", "stop")
    assert shell.socket.closed() == 1001
    wait_until_gone(pid)


def test_a_flood_waits_for_the_page_and_ctrl_c_arrives(page):
    shell = page.open()
    shell.ask("true")
    shell.type("yes\n")
    # Not taken: no more than the window comes.
    shown, window = 0, 128 * 1024
    while shown < window - 1:
        shown += len(base64.b64decode(shell.socket.receive()["output"]))
    assert shown <= window
    # Nothing comes behind it; this waits for what must not be there, and not for what must.
    shell.socket.socket.settimeout(1)
    with pytest.raises(TimeoutError):
        shown += len(base64.b64decode(shell.socket.receive()["output"]))
    shell.socket.socket.settimeout(120)
    shell.type("\x03")
    shell.taken += shown
    shell.socket.send({"taken": shell.taken})
    assert shell.ask("echo after")[0] == "after\n"


def test_a_long_paste_is_read_and_what_nobody_reads_is_dropped(page):
    shell = page.open()
    shell.ask("true")
    # More than is kept for a program in all, but not at once.
    shell.type("stty -echo -icanon; echo rea''dy; for i in 1 2 3 4 5; do head -c 500000 | wc -c; done; stty sane\n")
    shell.until(b"ready\r\n")
    for _ in range(5):
        for _ in range(50):
            shell.type("x" * 10_000)
        assert b"dropped" not in shell.until(b"500000")
    shell.type("sh -c 'echo sleep\"\"ing; exec sleep 1000'\n")
    shell.until(b"sleeping\r\n")
    for _ in range(150):
        shell.type("echo not this\n" * 700)
    shell.until(b"bytes of typed text were dropped: the program does not read")
    # Ctrl-C is not behind it.
    shell.type("\x03")
    assert shell.ask("echo after")[0] == "after\n"


def test_who_left_the_prompt_leaves_nothing_behind(page):
    """The daemon takes the remains of processes that began a session of their own."""
    shell = page.open()
    name = str(page.ponk.project / "stray")
    pid = int(shell.ask(f"setsid -f sh -c 'echo $$ >{name}; exec sleep 1000' >/dev/null 2>&1 </dev/null; until [ -s {name} ]; do sleep 0.05; done; cat {name}")[0])
    daemon = page.ponk.json("daemon", "status")["pid"]
    assert (pathlib.Path("/proc") / str(pid) / "stat").read_text().rpartition(")")[2].split()[1] == str(daemon)
    time.sleep(2.5)  # it is looked for each second
    shell.end()
    os.kill(pid, signal.SIGKILL)
    deadline = time.monotonic() + 60
    while (pathlib.Path("/proc") / str(pid)).exists():
        assert time.monotonic() < deadline
        time.sleep(0.05)


def test_a_program_that_was_replaced_is_the_new_one(ponk, tmp_path):
    """The daemon goes on with the file of before, whose name the kernel marks as deleted."""
    program = tmp_path / "bin" / "ponk"
    program.parent.mkdir()
    shutil.copy(ponk.program, program)
    ponk.program = str(program)
    page = Prompted(ponk)
    shutil.copy(program, tmp_path / "next")
    os.replace(tmp_path / "next", program)
    shell = page.open()
    assert os.readlink(shell.ask("command -v ponk")[0].strip()) == str(program)
    assert shell.ask("ponk version")[1] == 0
    program.rename(tmp_path / "elsewhere")
    shell = page.open()
    assert "the program that the daemon was started from is gone" in shell.until(b"\r\n").decode()
    assert shell.ask("command -v az")[1] != 0
    # For what else uses it.
    (tmp_path / "elsewhere").rename(program)


def test_a_home_that_path_cannot_lead_to_is_told(ponk):
    ponk.home = ponk.home.parent / "ho:me"
    ponk.environment["PONK_HOME"] = str(ponk.home)
    page = Prompted(ponk)
    socket = WebSocket(page.port, path="/api/v1/ui/prompt")
    socket.send({"hello": page.session, "project": page.project, "columns": 80, "rows": 24})
    assert socket.closed() == 1011


def test_it_is_in_the_audit_log(page):
    shell = page.open()
    shell.type("echo secret-word; exit 3\n")
    while not isinstance(shell.next(), dict):
        pass
    lines = [json.loads(line) for line in (page.ponk.home / "audit" / "000001.jsonl").read_text().splitlines()]
    mine = [line["object"] for line in lines if line["route"] == "/api/v1/ui/prompt"]
    assert mine == [{"project": page.project, "prompt": "opened"}, {"project": page.project, "prompt": "ended", "code": 3}]
    assert "secret-word" not in (page.ponk.home / "audit" / "000001.jsonl").read_text()
    page.ponk.run("audit", "verify")
