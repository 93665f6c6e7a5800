# SPDX-License-Identifier: Apache-2.0
import pathlib
import subprocess
import sys

import pytest

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parents[2] / "support"))
sys.path.insert(0, str(pathlib.Path(__file__).resolve().parent))
from workbench import REPOSITORY, ponk, program  # noqa: E402, F401


@pytest.fixture(scope="session")
def packages(program, tmp_path_factory):  # noqa: F811
    """What `make packages` makes of the program under test."""
    folder = tmp_path_factory.mktemp("packages")
    subprocess.run(["/usr/bin/python3", REPOSITORY / "tools/make_packages.py", program, folder], check=True, capture_output=True)
    return folder


@pytest.fixture(scope="session")
def wheel(packages):
    found, = packages.glob("*.whl")
    return found


def pip(environment, *words):
    """The pip of the tests' own Python, in that environment: making one without it takes no time."""
    subprocess.run([sys.executable, "-m", "pip", "-q", "--disable-pip-version-check", "--python", environment / "bin/python", *words],
                   check=True, capture_output=True)


@pytest.fixture(scope="session")
def make_environment(wheel, tmp_path_factory):
    """Makes an environment that has the wheel and nothing else."""
    def make():
        environment = tmp_path_factory.mktemp("e") / "env"
        subprocess.run([sys.executable, "-m", "venv", "--without-pip", environment], check=True)
        pip(environment, "install", "--no-index", wheel)
        return environment
    return make


@pytest.fixture(scope="session")
def environment(make_environment):
    return make_environment()
