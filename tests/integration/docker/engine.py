# SPDX-License-Identifier: Apache-2.0
"""A container engine of the tests' own: private folders, a private socket, ended by its process id.

The image is made once with debootstrap (no registry is needed) and kept as a file below the cache folder."""
import os
import pathlib
import shutil
import signal
import subprocess
import tempfile
import time

IMAGE = "ponk-test-base:1"
PACKAGES = "python3,python3-venv,python3-pip,ca-certificates"


def missing():
    """Why no engine can be started here, or None."""
    if os.geteuid() != 0:
        return "an engine needs root"
    for program in ("dockerd", "docker", "debootstrap"):
        if not shutil.which(program):
            return f"'{program}' is not installed"
    try:
        base_archive()
    except subprocess.CalledProcessError as problem:
        return f"no base image can be made, is there a network? ({problem})"
    return None


def base_archive():
    """A tar file of a small Debian with Python, made at the first call on a machine."""
    cache = pathlib.Path(os.environ.get("XDG_CACHE_HOME") or pathlib.Path.home() / ".cache") / "ponk-tests"
    archive = cache / f"debian-{PACKAGES.count(',') + 1}-packages.tar"
    if archive.exists():
        return archive
    cache.mkdir(parents=True, exist_ok=True)
    with tempfile.TemporaryDirectory(dir=cache) as folder:
        root = pathlib.Path(folder) / "root"
        subprocess.run(["debootstrap", "--variant=minbase", f"--include={PACKAGES}", "bookworm", str(root)],
                       check=True, stdout=subprocess.DEVNULL)
        made = pathlib.Path(folder) / "image.tar"
        subprocess.run(["tar", "-C", str(root), "--exclude=./var/cache/apt", "-cf", str(made), "."], check=True)
        made.rename(archive)
    return archive


class Engine:
    def __init__(self, folder, options=()):
        self.folder = pathlib.Path(folder)
        self.socket = self.folder / "docker.sock"
        self.options = list(options)
        self.process = None
        self.containerd = None

    def start(self):
        """Starts containerd beside it, as a service manager does: it outlives an engine that is killed."""
        log = open(self.folder / "log", "ab")
        if self.containerd is None:
            self.containerd = subprocess.Popen(
                ["containerd", "--root", self.folder / "containerd", "--state", self.folder / "state",
                 "--address", self.folder / "containerd.sock"], stdout=log, stderr=log, start_new_session=True)
        self.process = subprocess.Popen(
            ["dockerd", "--containerd", self.folder / "containerd.sock", "--data-root", self.folder / "data", "--exec-root", self.folder / "exec",
             "--pidfile", self.folder / "pid", "-H", f"unix://{self.socket}", "--iptables=false", "--ip6tables=false",
             "--bridge=none", *self.options],
            stdout=log, stderr=log, start_new_session=True)
        for _ in range(600):
            if subprocess.run(["docker", "-H", f"unix://{self.socket}", "version"], capture_output=True).returncode == 0:
                return
            assert self.process.poll() is None, (self.folder / "log").read_text()[-3000:]
            time.sleep(0.1)
        raise AssertionError("dockerd does not answer: " + (self.folder / "log").read_text()[-3000:])

    def stop(self, how=signal.SIGTERM):
        self.process.send_signal(how)
        self.process.wait(timeout=60)

    def docker(self, *words, input=None):
        done = subprocess.run(["docker", "-H", f"unix://{self.socket}", *map(str, words)], capture_output=True, stdin=input)
        assert done.returncode == 0, (words, done.stderr.decode())
        return done.stdout.decode()

    def load_base(self):
        if IMAGE not in self.docker("images", "--format", "{{.Repository}}:{{.Tag}}"):
            with open(base_archive(), "rb") as archive:
                self.docker("import", "-", IMAGE, input=archive)

    def remove(self):
        """After the end: takes away what is left, mounts included."""
        self.containerd.terminate()
        self.containerd.wait(timeout=60)
        for line in reversed(pathlib.Path("/proc/self/mounts").read_text().splitlines()):
            place = line.split()[1]
            if place.startswith(str(self.folder)):
                subprocess.run(["umount", "-l", place], capture_output=True)
        shutil.rmtree(self.folder, ignore_errors=True)
