# SPDX-License-Identifier: Apache-2.0
"""MLflow's API inside a container: on its own loopback, without any network."""
import pytest

from mlflow_script import CLIENT

BODY = """
for step in range(20):
    client.metric("loss", step, step)
    if step == 10:
        for pid in relays():
            os.kill(pid, 9)
assert client.put("model/a.txt", b"hello")[0] == 200
assert client.post("runs/search", experiment_ids=["0"])[0] == 501
"""


@pytest.mark.parametrize("shared", ["true", "false"])
def test_a_run_without_a_network_logs(docker, tmp_path, shared):
    compute = docker.project / "aml_config/docker.compute"
    compute.write_text(compute.read_text().replace("sharedVolumes: true", f"sharedVolumes: {shared}"))
    docker.write("aml_config/docker.runconfig",
                 (docker.project / "aml_config/docker.runconfig").read_text()
                 + "environment:\n  docker:\n    arguments: [--network=none]\n")
    docker.write("log.py", CLIENT + BODY)
    docker.run("submit", "-c", "docker", "log.py", timeout=300)
    record = docker.json("history", "last")

    assert record["metrics"] == {"loss": 19}
    docker.run("history", "download", "last", "-d", tmp_path / "got")
    assert [file.read_text() for file in (tmp_path / "got").rglob("a.txt")] == ["hello"]
