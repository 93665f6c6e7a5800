# SPDX-License-Identifier: Apache-2.0
"""Secrets in a real desktop keyring: a private gnome-keyring on a private session bus."""
import json
import os
import shutil
import signal
import socket
import subprocess
import time

import pytest

NEEDS = ("dbus-run-session", "dbus-send", "gnome-keyring-daemon", "secret-tool")
VALUE = b"hunter2-in-the-keyring"


class Keyring:
    """A session bus with nothing but a keyring, all of it below `folder`."""

    def __init__(self, folder):
        self.environment = {
            "PATH": "/usr/bin:/bin", "HOME": str(folder), "LANG": "C.UTF-8", "XDG_RUNTIME_DIR": str(folder / "run"),
            "XDG_DATA_HOME": str(folder / "data"), "XDG_CONFIG_HOME": str(folder / "config"), "XDG_CACHE_HOME": str(folder / "cache"),
        }
        (folder / "run").mkdir(mode=0o700)
        self.bus = subprocess.Popen(["dbus-run-session", "--", "sh", "-c", 'echo "$DBUS_SESSION_BUS_ADDRESS"; exec cat'],
                                    env=self.environment, stdin=subprocess.PIPE, stdout=subprocess.PIPE,
                                    stderr=subprocess.DEVNULL)
        self.environment["DBUS_SESSION_BUS_ADDRESS"] = self.bus.stdout.readline().decode().strip()
        self.service = None

    def start(self):
        self.service = subprocess.Popen(["gnome-keyring-daemon", "--foreground", "--unlock", "--components=secrets"],
                                        env=self.environment, stdin=subprocess.PIPE, stdout=subprocess.DEVNULL,
                                        stderr=subprocess.DEVNULL)
        self.service.stdin.write(b"password")
        self.service.stdin.close()
        # Whoever asks for the service too early makes the bus start a second one, which nobody unlocks.
        for _ in range(600):
            if self.is_there() and b"/collection/" in self.ask("ReadAlias", "string:default").stdout:
                return
            time.sleep(0.05)
        pytest.fail("the keyring did not start")

    def is_there(self):
        answer = subprocess.run(["dbus-send", "--session", "--print-reply", "--dest=org.freedesktop.DBus", "/",
                                 "org.freedesktop.DBus.NameHasOwner", "string:org.freedesktop.secrets"],
                                env=self.environment, timeout=20, capture_output=True)
        return b"boolean true" in answer.stdout

    def ask(self, method, *arguments):
        return subprocess.run(["dbus-send", "--session", "--print-reply", "--dest=org.freedesktop.secrets",
                               "/org/freedesktop/secrets", "org.freedesktop.Secret.Service." + method, *arguments],
                              env=self.environment, timeout=20, capture_output=True)

    def lock(self):
        assert self.ask("Lock", "array:objpath:/org/freedesktop/secrets/collection/login").returncode == 0

    def stop(self):
        if self.service is not None:
            self.service.send_signal(signal.SIGCONT)
            self.service.terminate()
            self.service.wait(10)
        self.bus.stdin.close()  # its only program ends, and then the bus itself
        self.bus.wait(10)


@pytest.fixture
def keyring(tmp_path_factory, ponk):
    missing = [name for name in NEEDS if not shutil.which(name)]
    if missing:
        pytest.skip("not installed: " + ", ".join(missing))
    ours = Keyring(tmp_path_factory.mktemp("k"))
    try:
        ours.start()
        ponk.environment.update(ours.environment)
        yield ours
        subprocess.run([ponk.program, "daemon", "stop"], env=ponk.environment, capture_output=True, timeout=60)
    finally:
        ours.stop()


def submit(ponk, **options):
    ponk.write("x.py", "import os, ponk; print(os.environ['KEY']); ponk.log('key', os.environ['KEY'])\n")
    return ponk.run("submit", "--env", "KEY=secret:token", "x.py", **options)


def in_home(ponk, value):
    return [path for path in ponk.home.rglob("*") if path.is_file() and "runs" not in path.parts and value in path.read_bytes()]


def test_a_secret_lives_in_the_keyring(ponk, keyring):
    assert json.loads(ponk.text("secret", "set", "token", "-o", "json", input=VALUE))["where"] == "keyring"
    assert not (ponk.home / "secrets" / ".key").exists()
    assert not in_home(ponk, VALUE) and not in_home(ponk, VALUE.hex().encode())
    assert submit(ponk).stdout == b"***\n"
    assert ponk.json("history", "info", "last")["metrics"]["key"] == "***"
    ponk.run("secret", "set", "token", input=b"the second value\xff\n")
    assert submit(ponk).stdout == b"***\n"
    assert b"the second value" in ponk.run("logs", "last", "--raw").stdout
    ponk.run("secret", "remove", "token")
    submit(ponk, code=66)
    assert ponk.run("logs", "last").stdout == b"***\n"
    ponk.run("secret", "remove", "--purge", "token")
    found = subprocess.run(["secret-tool", "search", "--all", "application", "ponk"], env=keyring.environment,
                           timeout=20, capture_output=True)
    assert found.stdout == b""


def test_a_locked_keyring_is_called_locked(ponk, keyring):
    ponk.run("secret", "set", "token", input=VALUE)
    submit(ponk)
    keyring.lock()
    for words in (("logs", "last"), ("secret", "remove", "--purge", "token"),
                  ("submit", "--env", "KEY=secret:token", "x.py")):
        refused = ponk.run(*words, code=69)
        assert b"secret 'token' is in the desktop keyring, which is locked" in refused.stderr, words
        assert VALUE not in refused.stdout + refused.stderr
    # New secrets go where they can go, and the old one is not lost.
    assert json.loads(ponk.text("secret", "set", "other", "-o", "json", input=b"another value"))["where"] == "file"
    keyring.service.terminate()
    keyring.service.wait(10)
    keyring.start()
    assert submit(ponk).stdout == b"***\n"


def test_a_dead_bus_is_said_at_once(ponk, keyring):
    ponk.run("secret", "set", "token", input=VALUE)
    keyring.stop()
    refused = submit(ponk, code=69)
    assert b"keyring" in refused.stderr and b"ponk: hint: " in refused.stderr
    assert json.loads(ponk.text("secret", "set", "other", "-o", "json", input=b"another value"))["where"] == "file"
    assert {item["name"] for item in json.loads(ponk.text("secret", "list", "-o", "json"))} == {"token", "other"}


def test_a_keyring_that_hangs_is_not_waited_for_long(ponk, keyring):
    ponk.run("secret", "set", "token", input=VALUE)
    keyring.service.send_signal(signal.SIGSTOP)
    assert json.loads(ponk.text("secret", "set", "other", "-o", "json", input=b"another value"))["where"] == "file"
    refused = submit(ponk, code=69, timeout=55)
    assert b"the desktop keyring does not answer within 15 s" in refused.stderr


def test_a_bus_that_never_answers_is_no_keyring(ponk, tmp_path_factory):
    if not shutil.which("secret-tool"):
        pytest.skip("not installed: secret-tool")
    path = str(tmp_path_factory.mktemp("b") / "bus")
    with socket.socket(socket.AF_UNIX) as silent:
        silent.bind(path)
        silent.listen(10)
        ponk.environment["DBUS_SESSION_BUS_ADDRESS"] = "unix:path=" + path
        assert json.loads(ponk.text("secret", "set", "token", "-o", "json", input=VALUE))["where"] == "file"
        assert submit(ponk).stdout == b"***\n"
