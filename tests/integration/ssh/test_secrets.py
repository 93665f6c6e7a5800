# SPDX-License-Identifier: Apache-2.0
"""Passwords and passphrases appear nowhere: not in a process list, an environment, a file, a log or an answer."""
import os
import pathlib
import threading
import time

import host as hosts
from test_attach import give_key

PASSWORD = "hunter2-Zx81-unusual"


class Watch:
    """Walks the command lines and environments of all processes until told to stop."""

    def __init__(self, *words, ours=()):
        self.words = [word.encode() for word in words]
        self.found = []
        self.looks = 0
        self.ended = threading.Event()
        self.thread = threading.Thread(target=self.walk)
        self.ours = {os.getpid(), *ours}

    def walk(self):
        while not self.ended.is_set():
            self.looks += 1
            for process in pathlib.Path("/proc").iterdir():
                if not process.name.isdigit() or int(process.name) in self.ours:
                    continue
                for kind in ("cmdline", "environ"):
                    try:
                        text = (process / kind).read_bytes()
                    except OSError:
                        continue
                    for word in self.words:
                        if word in text:
                            self.found.append((kind, process.name, text))

    def __enter__(self):
        self.thread.start()
        return self

    def __exit__(self, *_):
        self.ended.set()
        self.thread.join()


def files_with(word, *folders):
    found = []
    for folder in folders:
        for place in pathlib.Path(folder).rglob("*"):
            if place.is_file() and not place.is_symlink() and word.encode() in place.read_bytes():
                found.append(place)
    return found


def test_password_is_nowhere(ponk, sshd, host_user):
    host_user.set_password(PASSWORD)
    try:
        process = ponk.start("computetarget", "attach", "remotedocker", "--name", "box", "--address", f"127.0.0.1:{sshd.port}",
                             "--username", host_user.name, "--fingerprint", sshd.fingerprint(), f"--password={PASSWORD}")
        line = pathlib.Path(f"/proc/{process.pid}/cmdline")
        while PASSWORD.encode() in line.read_bytes() or b"attach" not in line.read_bytes():
            time.sleep(0.001)  # blanked as soon as it is read
        with Watch(PASSWORD) as watch:
            out, err = process.communicate(timeout=60)
        assert process.returncode == 0, err
        assert watch.looks > 3 and watch.found == []
        assert PASSWORD.encode() not in out + err
        told = ponk.run("computetarget", "check", "box", code=None)
        shown = ponk.run("computetarget", "show", "box")
        doctor = ponk.run("doctor", code=None)
        for done in (told, shown, doctor):
            assert PASSWORD.encode() not in done.stdout + done.stderr
        assert files_with(PASSWORD, ponk.user.home, host_user.home, sshd.folder) == []
    finally:
        host_user.set_password(hosts.PASSWORD)


def test_password_that_is_typed_is_nowhere(ponk, sshd, host_user):
    host_user.set_password(PASSWORD)
    try:
        with Watch(PASSWORD) as watch:
            code, shown = ponk.type("attach", "remote", "--name", "box", "--address", f"127.0.0.1:{sshd.port}", "--username",
                                    host_user.name, answers=[("[y/N]", "y"), ("Password of", PASSWORD)])
        assert code == 0, shown
        assert watch.found == [] and PASSWORD not in shown
        assert files_with(PASSWORD, ponk.user.home, host_user.home, sshd.folder) == []
    finally:
        host_user.set_password(hosts.PASSWORD)


def test_passphrase_is_nowhere(ponk, sshd, me, host_user):
    key = give_key(me, host_user, passphrase=PASSWORD)
    process = ponk.start("attach", "remote", "--name", "box", "--address", f"127.0.0.1:{sshd.port}", "--username", host_user.name,
                         "--fingerprint", sshd.fingerprint(), "--private-key-file", key, "--private-key-passphrase", PASSWORD)
    line = pathlib.Path(f"/proc/{process.pid}/cmdline")
    while PASSWORD.encode() in line.read_bytes() or b"attach" not in line.read_bytes():
        time.sleep(0.001)
    with Watch(PASSWORD) as watch:
        out, err = process.communicate(timeout=60)

    assert process.returncode == 0, err
    assert watch.found == [] and files_with(PASSWORD, me.home, host_user.home) == []
