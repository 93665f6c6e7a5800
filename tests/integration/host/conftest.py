# SPDX-License-Identifier: Apache-2.0
import os
import pathlib
import sys
import tempfile

import pytest

HERE = pathlib.Path(__file__).resolve()
sys.path[:0] = [str(HERE.parents[2] / "support"), str(HERE.parents[1] / "docker"), str(HERE.parent), str(HERE.parents[2] / "storms")]
from mlflow_client import client, mlflow_python, warm_python  # noqa: E402, F401
from workbench import ponk, program  # noqa: E402, F401
import host as hosts  # noqa: E402
import engine as engines  # noqa: E402


@pytest.fixture(scope="session")
def engine():
    reason = engines.missing()
    if reason:
        pytest.skip(reason)
    ours = engines.Engine(tempfile.mkdtemp(prefix="pd", dir="/tmp"), ["--live-restore"])
    ours.start()
    try:
        ours.load_base()
        yield ours
    finally:
        ours.stop()
        ours.remove()


@pytest.fixture(scope="session")
def machine(engine):
    reason = hosts.missing()
    if reason:
        pytest.skip(reason)
    network = hosts.Network()
    network.start()
    ours = hosts.Host(tempfile.mkdtemp(prefix="pb", dir="/tmp"), {"DOCKER_HOST": f"unix://{engine.socket}"}, network)
    ours.start()
    try:
        yield ours
    finally:
        ours.stop()
        network.stop()
        ours.remove()


@pytest.fixture
def away(ponk, machine):  # noqa: F811
    """A project with targets on another machine: `plain` and `docker`."""
    machine.trust(ponk)
    ponk.environment["PATH"] = os.environ["PATH"]
    ponk.write("aml_config/plain.compute", machine.compute("remote", "pythonLocation: python3"))
    ponk.write("aml_config/docker.compute", machine.compute("remotedocker", f"baseDockerImage: {engines.IMAGE}"))
    for name in ("plain", "docker"):
        ponk.write(f"aml_config/{name}.runconfig",
                   f"Target: {name}\nFramework: Python\nPrepareEnvironment: false\nCondaDependenciesFile: null\n"
                   "SparkDependenciesFile: null\n")
    return ponk
