# SPDX-License-Identifier: Apache-2.0
"""MLflow's API inside a run on another machine: what is logged there comes home once."""
import pytest

from mlflow_client import TRAINING, check_training, needs_sklearn
from mlflow_script import ASKS_THE_DAEMON, CLIENT
from workbench import own_metrics

BODY = """
for step in range(30):
    client.metric("loss", step, step)
    if step == 10:
        for pid in relays():
            os.kill(pid, 9)
assert client.post("runs/log-parameter", run_id=RUN, key="lr", value="0.1")[0] == 200
assert client.put("model/a.txt", b"hello")[0] == 200
"""


@pytest.mark.parametrize("target", ["plain", "docker"])
def test_a_run_on_another_machine_logs(away, tmp_path, target):
    away.write("log.py", CLIENT + BODY + ASKS_THE_DAEMON)
    away.run("submit", "-c", target, "log.py", timeout=300)
    record = away.json("history", "last")

    assert own_metrics(record) == {"loss": 29} and record["params"] == {"lr": "0.1"}
    away.run("history", "download", "last", "-d", tmp_path / "got")
    assert [file.read_text() for file in (tmp_path / "got").rglob("a.txt")] == ["hello"]


def test_the_real_client_trains_on_another_machine(away, machine, mlflow_python, request):
    needs_sklearn(mlflow_python)
    away.write("aml_config/plain.compute", machine.compute("remote", f"pythonLocation: {mlflow_python}"))
    away.write("aml_config/plain.runconfig",
               "target: plain\nframework: Python\nenvironment:\n  python:\n    userManagedDependencies: true\n"
               "  environmentVariables: {MLFLOW_DISABLE_TELEMETRY: 'true', GIT_PYTHON_REFRESH: quiet}\n")
    away.write("train.py", TRAINING)
    check_training(away.run("submit", "--allow", "promote", "-c", "plain", "train.py", timeout=600), request.getfixturevalue("client"))
