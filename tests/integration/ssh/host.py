# SPDX-License-Identifier: Apache-2.0
"""A host of the tests' own: real users of this machine, a real sshd on a loopback port with keys and settings of its
own. Everything is taken away again, by name and by process id."""
import os
import pathlib
import shutil
import signal
import socket
import subprocess
import tempfile
import time

PASSWORD = "tr0ub4dor-&3 'x' $y"


def missing():
    """Why there can be no host here, or None."""
    if os.geteuid() != 0:
        return "users can be made by root only"
    for program in ("/usr/sbin/sshd", "useradd", "chpasswd", "ssh", "ssh-keygen", "ssh-agent"):
        if not shutil.which(program):
            return f"'{program}' is not installed (apt install openssh-server)"
    return None


class User:
    """A user of this machine with a home below `folder`."""

    def __init__(self, name, folder, password=None, shell="/bin/bash"):
        self.name = name
        self.home = pathlib.Path(folder) / name
        subprocess.run(["useradd", "--no-log-init", "-M", "-d", str(self.home), "-s", shell, name], check=True)
        self.home.mkdir(mode=0o755)
        (self.home / ".bashrc").write_text("")
        subprocess.run(["chown", "-R", f"{name}:", str(self.home)], check=True)
        if password:
            self.set_password(password)

    def set_password(self, password):
        subprocess.run(["chpasswd"], input=f"{self.name}:{password}".encode(), check=True)

    def write(self, path, text, mode=0o600):
        place = self.home / path
        if not place.parent.exists():
            place.parent.mkdir(parents=True, mode=0o700)
        place.write_text(text)
        place.chmod(mode)
        subprocess.run(["chown", "-R", f"{self.name}:", str(self.home / pathlib.Path(path).parts[0])], check=True)
        return place

    @property
    def authorized(self):
        place = self.home / ".ssh/authorized_keys"
        return place.read_text() if place.exists() else ""

    def empty(self):
        for place in self.home.iterdir():
            shutil.rmtree(place) if place.is_dir() and not place.is_symlink() else place.unlink()
        self.write(".bashrc", "")

    def remove(self):
        for process in processes_of(self.name):
            try:
                os.kill(process, signal.SIGKILL)
            except ProcessLookupError:
                pass
        for _ in range(50):
            if subprocess.run(["userdel", self.name], capture_output=True).returncode in (0, 6):
                break
            time.sleep(0.1)
        shutil.rmtree(self.home, ignore_errors=True)


def processes_of(name):
    done = subprocess.run(["ps", "-u", name, "-o", "pid="], capture_output=True)
    return [int(word) for word in done.stdout.split()]


def free_port():
    with socket.socket() as probe:
        probe.bind(("127.0.0.1", 0))
        return probe.getsockname()[1]


def make_key(path, kind="ed25519", passphrase=""):
    subprocess.run(["ssh-keygen", "-q", "-t", kind, "-N", passphrase, "-C", "test", "-f", str(path)], check=True)


class Sshd:
    def __init__(self, options=(), before=(), host="127.0.0.1"):
        self.host = host
        self.folder = pathlib.Path(tempfile.mkdtemp(prefix="sshd", dir="/tmp"))
        self.port = free_port()
        self.before = list(before)  # a command that starts it: unshare and the like
        self.options = list(options)
        self.process = None
        for kind in ("ed25519", "rsa"):
            make_key(self.folder / f"host_{kind}", kind)

    def start(self):
        pathlib.Path("/run/sshd").mkdir(exist_ok=True)
        (self.folder / "config").write_text("\n".join([
            *self.options,  # the first word counts
            f"ListenAddress {self.host}:{self.port}", f"HostKey {self.folder}/host_ed25519", f"HostKey {self.folder}/host_rsa",
            "PidFile none", "UsePAM no", "PasswordAuthentication yes", "KbdInteractiveAuthentication no", "PermitRootLogin no",
            "MaxStartups 100:30:200", ""]))
        log = open(self.folder / "log", "ab")
        self.process = subprocess.Popen([*self.before, "/usr/sbin/sshd", "-D", "-e", "-f", self.folder / "config"],
                                        stdout=log, stderr=log, stdin=subprocess.DEVNULL, start_new_session=True)
        for _ in range(200):
            try:
                socket.create_connection((self.host, self.port), 1).close()
                return self
            except OSError:
                assert self.process.poll() is None, (self.folder / "log").read_text()
                time.sleep(0.05)
        raise AssertionError("sshd does not listen")

    def tree(self):
        """It and every process below it."""
        pids = [self.process.pid]
        for pid in pids:
            try:
                pids += map(int, pathlib.Path(f"/proc/{pid}/task/{pid}/children").read_text().split())
            except OSError:
                pass
        return pids

    def signal(self, number):
        for pid in self.tree():
            try:
                os.kill(pid, number)
            except ProcessLookupError:
                pass

    def stop(self):
        if self.process and self.process.poll() is None:
            self.signal(signal.SIGKILL)
            self.process.wait(timeout=20)

    def remove(self):
        self.stop()
        shutil.rmtree(self.folder, ignore_errors=True)

    def new_host_keys(self):
        for kind in ("ed25519", "rsa"):
            for suffix in ("", ".pub"):
                (self.folder / f"host_{kind}{suffix}").unlink()
            make_key(self.folder / f"host_{kind}", kind)

    def fingerprint(self, kind="ed25519"):
        done = subprocess.run(["ssh-keygen", "-lf", self.folder / f"host_{kind}.pub"], capture_output=True, check=True)
        return done.stdout.decode().split()[1]

    def known_hosts_line(self, kind="ed25519"):
        return f"[{self.host}]:{self.port} {(self.folder / f'host_{kind}.pub').read_text()}"
