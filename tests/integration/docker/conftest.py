# SPDX-License-Identifier: Apache-2.0
import os
import pathlib
import sys
import tempfile

import pytest

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parents[2] / "support"))
sys.path.insert(0, str(pathlib.Path(__file__).resolve().parent))
from mlflow_client import client, mlflow_python, warm_python  # noqa: E402, F401
from workbench import ponk, program  # noqa: E402, F401
import engine as engines  # noqa: E402


@pytest.fixture(scope="session")
def engine():
    reason = engines.missing()
    if reason:
        pytest.skip(reason)
    ours = engines.Engine(tempfile.mkdtemp(prefix="pd", dir="/tmp"))
    ours.start()
    try:
        ours.load_base()
        yield ours
    finally:
        ours.stop()
        ours.remove()


@pytest.fixture
def docker(ponk, engine):  # noqa: F811
    """A project with the target `docker` on the private engine."""
    ponk.environment["DOCKER_HOST"] = f"unix://{engine.socket}"
    ponk.environment["PATH"] = os.environ["PATH"]
    ponk.write("aml_config/docker.compute", f"type: localdocker\nbaseDockerImage: {engines.IMAGE}\nsharedVolumes: true\n")
    ponk.write("aml_config/docker.runconfig",
               "Target: docker\nFramework: Python\nPrepareEnvironment: false\nCondaDependenciesFile: null\n"
               "SparkDependenciesFile: null\n")
    return ponk
