# SPDX-License-Identifier: Apache-2.0
"""MLflow's API inside a run on another machine: what is logged there comes home once."""
import pytest

from mlflow_script import ASKS_THE_DAEMON, CLIENT

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

    assert record["metrics"] == {"loss": 29} and record["params"] == {"lr": "0.1"}
    away.run("history", "download", "last", "-d", tmp_path / "got")
    assert [file.read_text() for file in (tmp_path / "got").rglob("a.txt")] == ["hello"]
