# SPDX-License-Identifier: Apache-2.0
"""`submit --interactive`: the terminal is the script's standard input."""
import os
import pty
import select
import signal
import subprocess
import time

import pytest


class Terminal:
    """ponk on a terminal of its own: what it shows, and what is typed."""

    def __init__(self, ponk, *words):
        self.end, other = pty.openpty()
        self.seen = b""
        self.process = subprocess.Popen(
            [ponk.program, "submit", *words], cwd=ponk.project, env={**ponk.environment, "TERM": "dumb"}, stdin=other, stdout=other,
            stderr=other, start_new_session=True,
            preexec_fn=lambda: __import__("fcntl").ioctl(0, __import__("termios").TIOCSCTTY, 0))
        os.close(other)

    def read(self, wanted=None, seconds=120):
        """Until `wanted` was shown, else until the end."""
        limit = time.monotonic() + seconds
        while wanted is None or wanted not in self.seen:
            assert time.monotonic() < limit, self.seen
            if not select.select([self.end], [], [], 1)[0]:
                continue
            try:
                piece = os.read(self.end, 65536)
            except OSError:  # nobody has the other end
                piece = b""
            if not piece:
                assert wanted is None, self.seen
                break
            self.seen += piece
        return self.seen

    def type(self, text):
        os.write(self.end, text)

    def code(self):
        self.read()
        os.close(self.end)
        return self.process.wait(60)


@pytest.fixture
def terminal(ponk):
    made = []

    def start(*words):
        made.append(Terminal(ponk, *words))
        return made[-1]

    yield start
    for each in made:
        if each.process.poll() is None:
            each.process.kill()
            each.process.wait()


def test_what_is_typed_reaches_input_and_the_log_keeps_what_the_script_wrote(ponk, terminal):
    ponk.write("ask.py", "name = input('name: ')\nprint('hello', name)\nprint([line for line in __import__('sys').stdin])\n")

    shown = terminal("--interactive", "ask.py")
    shown.read(b"name: ")
    shown.type(b"ann\n")
    shown.read(b"hello ann")
    shown.type(b"one\ntwo\n\x04")

    assert shown.code() == 0, shown.seen
    log = ponk.run("logs", "last").stdout
    assert log == b"name: hello ann\n['one\\n', 'two\\n']\n"
    assert not (ponk.home / "input").exists() or not any((ponk.home / "input").iterdir())


def test_what_is_typed_before_the_script_begins_is_not_lost(ponk, terminal):
    ponk.write("ask.py", "print(repr(__import__('sys').stdin.read()))\n")
    shown = terminal("--interactive", "ask.py")
    shown.type(b"yes\n\x04")
    assert shown.code() == 0, shown.seen
    assert ponk.run("logs", "last").stdout == b"'yes\\n'\n"


def test_a_breakpoint_can_be_used(ponk, terminal):
    ponk.write("stop.py", "x = 41\nbreakpoint()\nprint('x is', x)\n")

    shown = terminal("-i", "stop.py")
    shown.read(b"(Pdb) ")
    shown.type(b"x = x + 1\n")
    shown.type(b"continue\n")

    assert shown.code() == 0 and b"x is 42" in shown.seen


def test_ctrl_c_leaves_the_run_and_ends_its_input(ponk, terminal):
    ponk.write("ask.py", "print('ready', flush=True)\nprint(repr(__import__('sys').stdin.read()))\n")

    shown = terminal("-i", "ask.py")
    shown.read(b"ready")
    shown.type(b"text\n")
    shown.process.send_signal(signal.SIGINT)

    assert shown.code() == 79, shown.seen
    assert ponk.run("logs", "--follow", "last").stdout == b"ready\n'text\\n'\n"


def test_ctrl_d_is_not_explained_to_who_typed_it(ponk, terminal):
    ponk.write("ask.py", "input('name: ')\n")
    shown = terminal("-i", "ask.py")
    shown.read(b"name: ")
    shown.type(b"\x04")
    assert shown.code() == 1 and b"EOFError" in shown.seen and b"waits for a user" not in shown.seen


@pytest.mark.parametrize("words, told", [
    (["--interactive", "ask.py"], b"'--interactive' needs a terminal, and standard input is none"),
    (["-i", "--async", "ask.py"], b"omit '--async'"),
])
def test_without_a_terminal_it_is_refused(ponk, words, told):
    ponk.write("ask.py", "input()\n")
    assert told in ponk.run("submit", *words, code=64).stderr
    assert ponk.json("history", "list") == []


def test_a_rerun_has_no_input(ponk, terminal):
    ponk.write("ask.py", "print(repr(__import__('sys').stdin.read()))\n")
    shown = terminal("-i", "ask.py")
    shown.type(b"a\n\x04")
    assert shown.code() == 0
    assert ponk.run("experiment", "rerun", "last").stdout == b"''\n"
