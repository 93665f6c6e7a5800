# SPDX-License-Identifier: Apache-2.0
import json
import os
import shutil
import subprocess
import sys
import tempfile

import pytest

HERE = os.path.dirname(os.path.abspath(__file__))
sys.path.insert(0, HERE)
sys.path.insert(0, os.path.join(os.path.dirname(HERE), "docker"))
sys.path.insert(0, os.path.join(os.path.dirname(os.path.dirname(HERE)), "support"))
import conda_channel  # noqa: E402
import engine as engines  # noqa: E402

BASE = engines.IMAGE

PROBE = os.environ["PONK_BIN"]
SYSTEM_PATH = "/usr/local/bin:/usr/bin:/bin"


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
        pytest.skip("uv cannot be had: " + done.stderr[-300:])
    alone = folder + "/only"
    os.makedirs(alone)
    shutil.copy(folder + "/bin/uv", alone)
    return alone


@pytest.fixture(scope="session")
def pypi(tmp_path_factory):
    """Asks by the way that the tests go themselves: pip with the settings in force."""
    done = subprocess.run([sys.executable, "-m", "pip", "download", "-q", "--no-deps", "-d", str(tmp_path_factory.mktemp("w")),
                           "six==1.16.0"], capture_output=True, text=True)
    if done.returncode != 0:
        pytest.skip("PyPI cannot be reached: " + done.stderr[-300:])


@pytest.fixture(scope="session")
def channel(tmp_path_factory):
    reason = conda_channel.missing()
    if reason:
        pytest.skip(reason)
    return conda_channel.make_channel(str(tmp_path_factory.mktemp("channel") / "c"))


class Engine(engines.Engine):
    def __init__(self, folder):
        super().__init__(folder)
        self.socket = str(self.socket)

    def words(self, *words):
        return ["docker", "-H", "unix://" + self.socket] + list(words)

    def docker(self, *words, input=None):
        return super().docker(*words, input=input).strip()

    def variant(self, name, script, changes=()):
        """A new image: the base after the script has run in it."""
        container = self.docker("run", "-d", "--network", "none", BASE, "/bin/sh", "-c", script)
        assert self.docker("wait", container) == "0", self.docker("logs", container)
        self.docker("commit", *[word for change in changes for word in ("-c", change)], container, name)
        self.docker("rm", container)


@pytest.fixture(scope="session")
def engine():
    reason = engines.missing()
    if reason:
        pytest.skip(reason)
    ours = Engine(tempfile.mkdtemp(prefix="pe", dir="/tmp"))  # a short path: it holds a socket
    ours.start()
    try:
        ours.load_base()
        yield ours
    finally:
        ours.stop()
        ours.remove()
