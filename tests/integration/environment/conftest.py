# SPDX-License-Identifier: Apache-2.0
import json
import os
import shutil
import socket
import subprocess
import sys
import tempfile
import time

import pytest

sys.path.insert(0, os.path.dirname(os.path.abspath(__file__)))
import conda_channel

PROBE = os.environ["PONK_BIN"]
SYSTEM_PATH = "/usr/local/bin:/usr/bin:/bin"
# In CI nothing may skip.
STRICT = os.environ.get("PONK_CI") == "1"


def skip(reason):
    if STRICT:
        pytest.fail("would be skipped: " + reason)
    pytest.skip(reason)


class Bench:
    """A project and a $PONK_HOME of its own, with calls of the probe on them."""

    def __init__(self, folder, tools=None):
        self.home = os.path.join(folder, "home")
        self.root = os.path.join(folder, "project")
        os.makedirs(self.root)
        os.makedirs(self.home)
        if tools:  # what was installed for our own use serves all tests
            os.symlink(tools, os.path.join(self.home, "tools"))
        self.path = SYSTEM_PATH
        self.variables = {}
        self.progress = ""

    def conda(self, text):
        with open(os.path.join(self.root, "conda_dependencies.yml"), "w") as stream:
            stream.write(text)

    def pip(self, *lines):
        self.conda("dependencies:\n  - python\n  - pip:\n" + "".join("    - %s\n" % line for line in lines))

    def environment(self):
        variables = dict(os.environ, PATH=self.path, PONK_ENV_FREE_SPACE="1000000")
        for name in ("VIRTUAL_ENV", "PYTHONPATH", "PONK_HOME"):
            variables.pop(name, None)
        variables.update(self.variables)
        return variables

    def start(self, **request):
        request = dict({"home": self.home, "root": self.root}, **request)
        process = subprocess.Popen([PROBE], stdin=subprocess.PIPE, stdout=subprocess.PIPE, stderr=subprocess.PIPE,
                                   env=self.environment(), text=True)
        process.stdin.write(json.dumps(request))
        process.stdin.close()
        process.stdin = None
        return process

    def finish(self, process, limit=400):
        out, self.progress = process.communicate(timeout=limit)
        return json.loads(out)

    def call(self, **request):
        return self.finish(self.start(**request))

    def prepare(self, **request):
        answer = self.call(**request)
        assert "error" not in answer, answer["error"] + "\n" + self.progress
        return answer

    def python(self, answer, code):
        return subprocess.run([answer["record"]["interpreter"], "-c", code], stdout=subprocess.PIPE, check=True,
                              text=True).stdout.strip()


def versions(answer):
    return {package["name"]: package["version"] for package in answer["lock"]["packages"]}


@pytest.fixture(scope="session")
def tools(tmp_path_factory):
    return str(tmp_path_factory.mktemp("tools"))


@pytest.fixture
def bench(tmp_path, tools):
    return Bench(str(tmp_path), tools)


@pytest.fixture(scope="session")
def uv(tmp_path_factory):
    """A folder with uv in it, from PyPI."""
    folder = str(tmp_path_factory.mktemp("uv"))
    subprocess.run(["/usr/bin/python3", "-m", "venv", folder], check=True)
    done = subprocess.run([folder + "/bin/pip", "install", "-q", "uv"], stderr=subprocess.PIPE, text=True)
    if done.returncode != 0:
        skip("uv cannot be had: " + done.stderr[-300:])
    alone = folder + "/only"
    os.makedirs(alone)
    shutil.copy(folder + "/bin/uv", alone)
    return alone


@pytest.fixture(scope="session")
def pypi():
    try:
        socket.create_connection(("pypi.org", 443), timeout=10).close()
    except OSError as problem:
        if not os.environ.get("HTTPS_PROXY"):
            skip("PyPI cannot be reached: %s" % problem)


@pytest.fixture(scope="session")
def channel(tmp_path_factory):
    reason = conda_channel.missing()
    if reason:
        skip(reason)
    return conda_channel.make_channel(str(tmp_path_factory.mktemp("channel") / "c"))


class Engine:
    def __init__(self, folder):
        self.socket = os.path.join(folder, "docker.sock")
        words = ["dockerd", "--data-root", folder + "/data", "--exec-root", folder + "/exec", "--pidfile", folder + "/pid",
                 "-H", "unix://" + self.socket, "--iptables=false", "--ip6tables=false", "--bridge=none"]
        self.log = open(folder + "/log", "w")
        self.process = subprocess.Popen(words, stdout=self.log, stderr=self.log)
        for _ in range(300):
            if subprocess.run(self.words("version"), stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL).returncode == 0:
                return
            if self.process.poll() is not None:
                break
            time.sleep(0.1)
        self.stop()
        raise RuntimeError("dockerd does not start, see %s/log" % folder)

    def words(self, *words):
        return ["docker", "-H", "unix://" + self.socket] + list(words)

    def docker(self, *words, **options):
        return subprocess.run(self.words(*words), stdout=subprocess.PIPE, check=True, text=True, **options).stdout.strip()

    def variant(self, name, script, changes=()):
        """A new image: the base after the script has run in it."""
        container = self.docker("run", "-d", "--network", "none", BASE, "/bin/sh", "-c", script)
        assert self.docker("wait", container) == "0", self.docker("logs", container)
        self.docker("commit", *[word for change in changes for word in ("-c", change)], container, name)
        self.docker("rm", container)

    def stop(self):
        if self.process.poll() is None:
            self.process.terminate()
            self.process.wait(60)
        self.log.close()


BASE = "ponk-test-base:1"


def base_archive():
    """A tar of a small Debian with python3, venv and pip: given in PONK_TEST_BASE (a file for `docker load` or
    `docker import`), else made once by debootstrap."""
    given = os.environ.get("PONK_TEST_BASE")
    if given:
        return given
    cache = os.path.join(os.path.dirname(PROBE).split("/build/")[0], ".cache", "base-image.tar")
    if not os.path.exists(cache):
        if not shutil.which("debootstrap") or os.geteuid() != 0:
            skip("no base image: set PONK_TEST_BASE, or be root and have debootstrap")
        with tempfile.TemporaryDirectory() as folder:
            subprocess.run(["debootstrap", "--variant=minbase", "--include=python3,python3-venv,python3-pip",
                            "bookworm", folder + "/root"], check=True, stdout=subprocess.DEVNULL)
            os.makedirs(os.path.dirname(cache), exist_ok=True)
            subprocess.run(["tar", "-C", folder + "/root", "-cf", cache + ".part", "."], check=True)
            os.rename(cache + ".part", cache)
    return cache


@pytest.fixture(scope="session")
def engine():
    if os.geteuid() != 0 or not shutil.which("dockerd") or not shutil.which("docker"):
        skip("a container engine of our own needs root, dockerd and docker")
    archive = base_archive()
    folder = tempfile.mkdtemp(prefix="ponk-engine-", dir="/tmp")  # a short path: it holds a socket
    engine = Engine(folder)
    try:
        loaded = subprocess.run(engine.words("load", "-i", archive), stdout=subprocess.PIPE, stderr=subprocess.DEVNULL, text=True)
        if loaded.returncode == 0:
            engine.docker("tag", loaded.stdout.split("Loaded image", 1)[1].split(": ", 1)[1].strip(), BASE)
        else:
            engine.docker("import", archive, BASE)
        yield engine
    finally:
        engine.stop()
        subprocess.run(["rm", "-rf", folder])
