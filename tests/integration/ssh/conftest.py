# SPDX-License-Identifier: Apache-2.0
import os
import pathlib
import pty
import select
import shutil
import subprocess
import sys
import tempfile
import time

import pytest

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parents[2] / "support"))
sys.path.insert(0, str(pathlib.Path(__file__).resolve().parent))
from workbench import Ponk, program  # noqa: E402, F401
import host as hosts  # noqa: E402


@pytest.fixture(scope="session")
def ground():
    """A folder that every user may enter. Names of users are the process's own."""
    reason = hosts.missing()
    if reason:
        pytest.skip(reason)
    folder = pathlib.Path(tempfile.mkdtemp(prefix="ps", dir="/tmp"))
    folder.chmod(0o755)
    yield folder
    shutil.rmtree(folder, ignore_errors=True)


@pytest.fixture(scope="session")
def host_user(ground):
    user = hosts.User(f"pbox{os.getpid() % 1000000}", ground, hosts.PASSWORD)
    yield user
    user.remove()


@pytest.fixture(scope="session")
def me(ground):
    """Who uses ponk: a user with a home, and so an ~/.ssh, of the tests' own."""
    user = hosts.User(f"pme{os.getpid() % 1000000}", ground)
    yield user
    user.remove()


@pytest.fixture(scope="session")
def session_sshd(ground):
    server = hosts.Sshd().start()
    yield server
    server.remove()


@pytest.fixture
def sshd(session_sshd, host_user):
    """The host, as fresh as it gets: running, and nobody's key in it."""
    host_user.empty()
    if session_sshd.process.poll() is not None:
        session_sshd.start()
    return session_sshd


class UserPonk(Ponk):
    """ponk as another user runs it."""

    def __init__(self, program, user):
        for place in list(user.home.iterdir()):
            shutil.rmtree(place) if place.is_dir() else place.unlink()
        super().__init__(program, user.home)
        self.user = user
        self.environment.update({"HOME": str(user.home), "USER": user.name, "LOGNAME": user.name,
                                 "PATH": "/usr/local/bin:/usr/bin:/bin:/usr/sbin"})
        subprocess.run(["chown", "-R", f"{user.name}:", str(user.home)], check=True)

    def run(self, *words, cwd=None, code=0, input=b"", env=None, timeout=60):
        done = subprocess.run([self.program, *map(str, words)], cwd=cwd or self.project, input=input, user=self.user.name,
                              group=self.user.name, extra_groups=[], env={**self.environment, **(env or {})}, capture_output=True, timeout=timeout)
        if code is not None:
            assert done.returncode == code, (words, done.returncode, done.stdout[-2000:], done.stderr[-2000:])
        return done

    def start(self, *words, env=None):
        return subprocess.Popen([self.program, *map(str, words)], cwd=self.project, stdin=subprocess.DEVNULL, user=self.user.name,
                                group=self.user.name, extra_groups=[], env={**self.environment, **(env or {})},
                                stdout=subprocess.PIPE, stderr=subprocess.PIPE)

    def type(self, *words, answers=(), env=None, timeout=60):
        """On a terminal: waits for each question and types the answer. Returns (code, all that was shown)."""
        pid, terminal = pty.fork()
        if pid == 0:
            os.chdir(self.project)
            entry = __import__("pwd").getpwnam(self.user.name)
            os.setgroups([])
            os.setgid(entry.pw_gid)
            os.setuid(entry.pw_uid)
            os.execve(self.program, [self.program, *map(str, words)], {**self.environment, "TERM": "xterm", **(env or {})})
        shown = b""
        rest = list(answers)
        seen = 0
        end = time.monotonic() + timeout
        while time.monotonic() < end:
            ready, _, _ = select.select([terminal], [], [], 0.2)
            if not ready:
                continue
            try:
                got = os.read(terminal, 65536)
            except OSError:
                break
            if not got:
                break
            shown += got
            while rest and rest[0][0].encode() in shown[seen:]:
                seen = shown.index(rest[0][0].encode(), seen) + len(rest[0][0])
                time.sleep(0.1)  # echo goes off after the question
                os.write(terminal, rest.pop(0)[1].encode() + b"\n")
        _, status = os.waitpid(pid, 0)
        os.close(terminal)
        return os.waitstatus_to_exitcode(status), shown.decode(errors="replace")


@pytest.fixture(scope="session")
def own_program(program, ground):  # noqa: F811
    copy = ground / "ponk"
    shutil.copy(program, copy)
    copy.chmod(0o755)
    return copy


@pytest.fixture
def ponk(own_program, me):
    ours = UserPonk(own_program, me)
    yield ours
    subprocess.run([ours.program, "daemon", "stop"], env=ours.environment, user=me.name, group=me.name, extra_groups=[], capture_output=True,
                   timeout=60)
    for process in hosts.processes_of(me.name):
        try:
            os.kill(process, 9)
        except ProcessLookupError:
            pass


@pytest.fixture
def attach(ponk, sshd, host_user):
    """Attaches the host as target `host` with these words more, and the right fingerprint unless told otherwise."""

    def call(*words, run=ponk.run, fingerprint=True, name="box", kind="remotedocker", **options):
        expected = ("--fingerprint", sshd.fingerprint()) if fingerprint else ()
        return run("computetarget", "attach", kind, "--name", name, "--address", f"127.0.0.1:{sshd.port}", "--username",
                   host_user.name, *expected, *words, **options)

    return call
