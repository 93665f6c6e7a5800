# SPDX-License-Identifier: Apache-2.0
"""A machine of the tests' own to run things on: an sshd with its own keys and home folder, in a network namespace of its
own where that can be had, so that its packets can be dropped. Everything is ended by process id."""
import hashlib
import json
import os
import pathlib
import random
import shutil
import signal
import socket
import subprocess
import time

USER = "root"


def missing():
    """Why there can be no such machine here, or None."""
    if os.geteuid() != 0:
        return "a machine of our own needs root"
    for program in ("sshd", "ssh", "ssh-keygen"):
        if not find(program):
            return f"'{program}' is not installed"
    return None


def find(program):
    return shutil.which(program, path=os.environ["PATH"] + ":/usr/sbin:/sbin")


def run(*words, check=True):
    done = subprocess.run(list(map(str, words)), capture_output=True, stdin=subprocess.DEVNULL, timeout=60)
    assert not check or done.returncode == 0, (words, done.stderr.decode())
    return done


class Network:
    """A namespace with one line to it; `cut` drops all packets without a word to either side."""

    def __init__(self):
        number = random.choice([n for n in range(250) if not os.path.exists(f"/run/netns/ponk{n}")])
        self.name = f"ponk{number}"
        self.near, self.far = f"10.213.{number}.1", f"10.213.{number}.2"
        self.line, self.end = f"pk{number}a", f"pk{number}b"

    def start(self):
        run("ip", "netns", "add", self.name)
        run("ip", "link", "add", self.line, "type", "veth", "peer", "name", self.end)
        run("ip", "link", "set", self.end, "netns", self.name)
        run("ip", "addr", "add", f"{self.near}/30", "dev", self.line)
        run("ip", "link", "set", self.line, "up")
        self.inside("ip", "addr", "add", f"{self.far}/30", "dev", self.end)
        self.inside("ip", "link", "set", self.end, "up")
        self.inside("ip", "link", "set", "lo", "up")

    def inside(self, *words):
        return run("ip", "netns", "exec", self.name, *words)

    def cut(self):
        # A route to nowhere on the far side: what comes in gets no answer, what goes out is dropped.
        self.inside("ip", "route", "replace", "blackhole", f"{self.near}/32")

    def repair(self):
        self.inside("ip", "route", "del", "blackhole", f"{self.near}/32")

    def stop(self):
        run("ip", "link", "del", self.line, check=False)
        run("ip", "netns", "del", self.name, check=False)


class Host:
    def __init__(self, folder, variables=None, network=None):
        self.folder = pathlib.Path(folder)
        self.home = self.folder / "user"
        self.network = network
        self.variables = dict(variables or {})
        self.boot = None  # what it calls its boot, where that is another than ours; needs a network of its own
        self.process = None
        self.address = network.far if network else "127.0.0.1"
        self.port = free_port() if not network else 2222

    def start(self):
        self.home.mkdir(parents=True, exist_ok=True)
        for name in ("host", "key"):
            if not (self.folder / name).exists():
                run("ssh-keygen", "-q", "-t", "ed25519", "-N", "", "-f", self.folder / name)
        words = {"HOME": self.home, "PATH": os.environ["PATH"] + ":/usr/sbin", **self.variables}
        (self.folder / "config").write_text("\n".join([
            f"Port {self.port}", f"ListenAddress {self.address}", f"HostKey {self.folder}/host", "StrictModes no", "UsePAM no",
            f"AuthorizedKeysFile {self.folder}/key.pub", "PasswordAuthentication no", f"PidFile {self.folder}/sshd.pid",
            "PermitRootLogin yes", "MaxStartups 100", "MaxSessions 100", "ClientAliveInterval 20",
            "SetEnv " + " ".join(f"{name}={value}" for name, value in words.items()), ""]))
        pathlib.Path("/run/sshd").mkdir(exist_ok=True)
        command = [find("sshd"), "-D", "-e", "-f", str(self.folder / "config")]
        if self.boot:  # `ip netns exec` has mounts of its own
            (self.folder / "boot_id").write_text(self.boot + "\n")
            command = ["sh", "-c", 'mount --bind "$0" /proc/sys/kernel/random/boot_id && exec "$@"', str(self.folder / "boot_id"), *command]
        if self.network:
            command = ["ip", "netns", "exec", self.network.name, *command]
        self.process = subprocess.Popen(command, stdin=subprocess.DEVNULL, stdout=subprocess.DEVNULL,
                                        stderr=open(self.folder / "log", "ab"), start_new_session=True)
        for _ in range(100):
            try:
                socket.create_connection((self.address, self.port), timeout=1).close()
                return
            except OSError:
                assert self.process.poll() is None, (self.folder / "log").read_text()[-2000:]
                time.sleep(0.05)
        raise AssertionError("sshd does not answer")

    def trust(self, ponk, port=None):
        """What `computetarget attach` leaves behind: the host's key, accepted, and settings."""
        port = port or self.port
        identity = hashlib.sha256(f"{USER}@{self.address}:{port}".encode()).hexdigest()[:16]
        folder = ponk.home / "ssh" / identity
        folder.mkdir(parents=True, exist_ok=True)
        for place in (ponk.home, ponk.home / "ssh", folder):
            place.chmod(0o700)
        key = " ".join((self.folder / "host.pub").read_text().split()[:2])
        (folder / "known_hosts").write_text(f"[{self.address}]:{port} {key}\n")
        settings = {"version": 1, "user": USER, "host": self.address, "port": port, "identity": "user"}
        (folder / "settings.json").write_text(json.dumps(settings))
        for name in ("known_hosts", "settings.json"):
            (folder / name).chmod(0o600)

    def compute(self, kind, *lines, port=None):
        return "\n".join([f"type: {kind}", f"address: {self.address}:{port or self.port}", f"username: {USER}",
                          f"privateKey: {self.folder}/key", *lines, ""])

    def sessions(self):
        """The sshd processes of connections: all below the listening one."""
        return [pid for pid in descendants(self.process.pid) if name_of(pid) == "sshd"]

    def helpers(self):
        """The ponk-agent processes that are serving."""
        return [pid for pid in descendants(self.process.pid) if name_of(pid).startswith("ponk-agent")]

    def reboot(self, boot):
        """Everything on it ends at once, and it comes up with another boot."""
        runs = [int(pid) for pid in os.listdir("/proc") if pid.isdigit() and self.is_ours(pid)]
        self.stop()
        for pid in runs:
            signal_process(pid, signal.SIGKILL)
        self.boot = boot
        self.start()

    def is_ours(self, pid):
        try:
            return str(self.home) in pathlib.Path(f"/proc/{pid}/cmdline").read_text() + os.readlink(f"/proc/{pid}/cwd")
        except OSError:
            return False

    def stop(self):
        if self.process is None:
            return
        for pid in [*self.sessions(), *self.helpers()]:
            signal_process(pid, signal.SIGCONT)
            signal_process(pid, signal.SIGKILL)
        self.process.kill()
        self.process.wait(timeout=20)
        self.process = None

    def remove(self):
        shutil.rmtree(self.folder, ignore_errors=True)


def signal_process(pid, number):
    try:
        os.kill(pid, number)
    except ProcessLookupError:
        pass


def name_of(pid):
    try:
        return pathlib.Path(f"/proc/{pid}/comm").read_text().strip()
    except OSError:
        return ""


def descendants(pid):
    parents = {}
    for entry in pathlib.Path("/proc").iterdir():
        if entry.name.isdigit():
            try:
                parents[int(entry.name)] = int((entry / "stat").read_text().rpartition(")")[2].split()[1])
            except (OSError, IndexError, ValueError):
                pass
    found = [pid]
    for one in found:
        found += [child for child, parent in parents.items() if parent == one]
    return found[1:]


def free_port():
    with socket.socket() as probe:
        probe.bind(("127.0.0.1", 0))
        return probe.getsockname()[1]
