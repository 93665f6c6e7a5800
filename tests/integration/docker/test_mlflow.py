# SPDX-License-Identifier: Apache-2.0
"""MLflow's API inside a container: on its own loopback, without any network."""
import os
import subprocess

import pytest

from mlflow_client import TRAINING, check_training, needs_sklearn, packages_of
from mlflow_script import ASKS_THE_DAEMON, CLIENT
from workbench import own_metrics

BODY = """
for step in range(20):
    client.metric("loss", step, step)
    if step == 10:
        for pid in relays():
            os.kill(pid, 9)
assert client.put("model/a.txt", b"hello")[0] == 200
"""


@pytest.mark.parametrize("shared", ["true", "false"])
def test_a_run_without_a_network_logs(docker, tmp_path, shared):
    compute = docker.project / "aml_config/docker.compute"
    compute.write_text(compute.read_text().replace("sharedVolumes: true", f"sharedVolumes: {shared}"))
    docker.write("aml_config/docker.runconfig",
                 "target: docker\nframework: Python\nenvironment:\n  python:\n    userManagedDependencies: true\n"
                 "  docker:\n    arguments: [--network=none]\n")
    docker.write("log.py", CLIENT + BODY + ASKS_THE_DAEMON)
    docker.run("submit", "-c", "docker", "log.py", timeout=300)
    record = docker.json("history", "last")

    assert own_metrics(record) == {"loss": 19}
    docker.run("history", "download", "last", "-d", tmp_path / "got")
    assert [file.read_text() for file in (tmp_path / "got").rglob("a.txt")] == ["hello"]


def test_the_real_client_logs_without_a_network(docker, tmp_path):
    python = os.environ.get("MLFLOW_PYTHON")
    if not python:
        pytest.skip("MLFLOW_PYTHON names no Python that has mlflow")
    packages, version = subprocess.run(
        [python, "-c", "import mlflow, sys; print(mlflow.__path__[0].rsplit('/', 1)[0]); print(*sys.version_info[:2])"],
        capture_output=True, text=True, check=True).stdout.splitlines()
    docker.write("aml_config/docker.runconfig",
                 "target: docker\nframework: Python\nenvironment:\n  python:\n    userManagedDependencies: true\n  docker:\n"
                 f"    arguments: [--network=none, '--volume={packages}:/mlflow-packages:ro', '--env=PYTHONPATH=/mlflow-packages']\n")
    docker.write("train.py", f"""
import sys
if '%d %d' % sys.version_info[:2] != {version!r}:
    print('another python')
    sys.exit()
import mlflow
mlflow.log_param('lr', 0.1)
for step in range(5):
    mlflow.log_metric('loss', 1 / (step + 1), step=step)
mlflow.log_text('hello', 'notes/a.txt')
found = mlflow.search_runs(filter_string='metrics.loss < 0.3', output_format='list')
assert [run.info.run_id for run in found] == [mlflow.active_run().info.run_id], found
client = mlflow.MlflowClient()
client.create_registered_model('R')
assert client.create_model_version('R', f'runs:/{{found[0].info.run_id}}/notes', found[0].info.run_id).version in (1, '1')
client.set_registered_model_alias('R', 'best', '1')
assert mlflow.artifacts.load_text('models:/R@best/a.txt') == 'hello'
""")
    refused = docker.run("submit", "-c", "docker", "train.py", code=73).stderr.decode()
    assert f"ponk allow docker-argument --volume={packages}:/mlflow-packages:ro" in refused
    docker.run("allow", "docker-argument", f"--volume={packages}:/mlflow-packages:ro")
    done = docker.run("submit", "-c", "docker", "train.py", timeout=300, env={"MLFLOW_DISABLE_TELEMETRY": "true"})
    if b"another python" in done.stdout:
        pytest.skip("the image has another Python than mlflow was installed for")
    record = docker.json("history", "last")

    assert own_metrics(record) == {"loss": 0.2} and record["params"] == {"lr": "0.1"}
    docker.run("history", "download", "last", "-d", tmp_path / "got")
    assert [file.read_text() for file in (tmp_path / "got").rglob("a.txt")] == ["hello"]


@pytest.mark.full
def test_the_real_client_trains_in_a_container_without_a_network(docker, mlflow_python, request):
    needs_sklearn(mlflow_python)
    packages = packages_of(mlflow_python)
    docker.write("aml_config/docker.runconfig",
                 "target: docker\nframework: Python\nenvironment:\n  python:\n    userManagedDependencies: true\n"
                 f"  environmentVariables: {{PYTHONPATH: {packages}, MLFLOW_DISABLE_TELEMETRY: 'true', GIT_PYTHON_REFRESH: quiet}}\n"
                 f"  docker:\n    arguments: [--network=none, '--volume={packages}:{packages}:ro']\n")
    docker.write("train.py", TRAINING)
    docker.run("allow", "docker-argument", "-v", f"{packages}:{packages}:ro")
    check_training(docker.run("submit", "--allow", "promote", "-c", "docker", "train.py", timeout=600), request.getfixturevalue("client"))
