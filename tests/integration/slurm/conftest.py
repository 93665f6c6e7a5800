# SPDX-License-Identifier: Apache-2.0
import os
import pathlib
import shutil
import sys
import tempfile

import pytest

HERE = pathlib.Path(__file__).resolve()
sys.path[:0] = [str(HERE.parents[2] / "support"), str(HERE.parents[1] / "host"), str(HERE.parents[2] / "e2e"),
                str(HERE.parent)]
from workbench import ponk, program  # noqa: E402, F401
import cluster as clusters  # noqa: E402
import host as hosts  # noqa: E402


RUNCONFIG = ("Target: cluster\nFramework: Python\nPrepareEnvironment: false\nCondaDependenciesFile: null\n"
             "SparkDependenciesFile: null\n")


@pytest.fixture(scope="session")
def cluster():
    reason = clusters.missing()
    if reason:
        pytest.skip(reason)
    folder = tempfile.mkdtemp(prefix="slurm", dir="/tmp")
    ours = clusters.Cluster(folder)
    try:
        yield ours.start()
    finally:
        ours.stop()
        shutil.rmtree(folder, ignore_errors=True)


@pytest.fixture
def slurm(ponk, cluster):  # noqa: F811
    """A project with the target `cluster`, whose login node is this machine."""
    ponk.environment.update(cluster.variables)
    ponk.environment["PATH"] = os.environ["PATH"]
    ponk.write("aml_config/cluster.compute", "type: slurm\n")
    ponk.write("aml_config/cluster.runconfig", RUNCONFIG)
    return ponk


@pytest.fixture
def login(ponk, cluster):  # noqa: F811
    """The same with a login node that is reached by SSH; its home is another folder."""
    reason = hosts.missing()
    if reason:
        pytest.skip(reason)
    node = hosts.Host(tempfile.mkdtemp(prefix="login", dir="/tmp"), cluster.variables)
    node.start()
    node.trust(ponk)
    ponk.environment["PATH"] = os.environ["PATH"]
    ponk.write("aml_config/cluster.compute", node.compute("slurm"))
    ponk.write("aml_config/cluster.runconfig", RUNCONFIG)
    try:
        yield ponk, node
    finally:
        ponk.run("daemon", "stop", code=None)
        node.stop()
        node.remove()
