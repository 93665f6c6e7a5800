# SPDX-License-Identifier: Apache-2.0
"""Clients that are not MLflow's own: the package `mlflow` of npm, by another author and of 2019, and curl."""
import json
import pathlib
import re
import shlex
import shutil
import subprocess

import pytest

REPOSITORY = pathlib.Path(__file__).resolve().parents[3]


@pytest.fixture
def place(ponk):
    """Where the server is, as `ponk tracking env --plain` says it to a shell: these clients know nothing of our certificate."""
    words = [line.removeprefix("export ") for line in ponk.text("tracking", "env", "--plain").splitlines() if line.startswith("export ")]
    return dict(shlex.split(word)[0].split("=", 1) for word in words)


@pytest.fixture(scope="module")
def node_modules():
    if not shutil.which("npm"):
        pytest.skip("npm is not installed")
    folder = REPOSITORY / ".cache" / "npm"
    folder.mkdir(parents=True, exist_ok=True)
    if not (folder / "node_modules" / "mlflow").is_dir():
        done = subprocess.run(["npm", "install", "--silent", "--no-audit", "--no-fund", "--prefix", folder, "mlflow@2.0.7"],
                              capture_output=True, text=True, timeout=300)
        if done.returncode != 0:
            pytest.skip(f"the package cannot be installed here: {done.stderr[-300:]}")
    return folder / "node_modules"


NODE = """
const MLflow = require('mlflow')
const {Experiments, Runs, Metrics, Artifacts} = new MLflow({endpoint: process.env.MLFLOW_TRACKING_URI,
    headers: {Authorization: 'Bearer ' + process.env.MLFLOW_TRACKING_TOKEN}})
;(async () => {
  const {experiment_id} = await Experiments.create({name: 'from node'})
  const {run: {info: {run_id}}} = await Runs.create({experiment_id, user_id: 'someone', start_time: 1700000000000,
                                                     tags: [{key: 'kind', value: 'first'}]})
  for (let step = 0; step < 5; step++)
    await Runs.logMetric({run_id, key: 'loss', value: 1 / (step + 1), timestamp: 1700000000000 + step, step})
  await Runs.logParameter({run_id, key: 'lr', value: '0.1'})
  await Runs.setTag({run_id, key: 'colour', value: 'blue'})
  await Runs.logBatch({run_id, metrics: [{key: 'accuracy', value: 0.5, timestamp: 1, step: 1}],
                       params: [{key: 'depth', value: '3'}], tags: [{key: 'a', value: 'b'}]})
  await Runs.deleteTag({run_id, key: 'a'})
  await Runs.update({run_id, status: 'FINISHED', end_time: 1700000001000})
  const {runs} = await Runs.search({experiment_ids: [experiment_id], filter: "metrics.loss < 0.3 and params.lr = '0.1'"})
  const history = await Metrics.getHistory({run_id, metric_key: 'loss'})
  const {run} = await Runs.get({run_id})
  const listed = await Experiments.list({})
  const artifacts = await Artifacts.list({run_id})
  await Runs.delete({run_id})
  const gone = await Runs.search({experiment_ids: [experiment_id]})
  await Runs.restore({run_id})
  await Experiments.update({experiment_id, new_name: 'renamed'})
  const {experiment} = await Experiments.get({experiment_id})
  await Experiments.delete({experiment_id})
  console.log(JSON.stringify({run_id, found: runs.map(r => r.info.run_id), history, run, listed, artifacts, gone, experiment}))
})().catch(problem => { console.error(problem); process.exit(1) })
"""


def test_the_client_of_npm(ponk, place, node_modules):
    done = subprocess.run(["node", "-e", NODE], capture_output=True, text=True, timeout=120,
                          env={**ponk.environment, **place, "NODE_PATH": str(node_modules)})
    assert done.returncode == 0, done.stderr
    answer = json.loads(done.stdout.splitlines()[-1])

    assert answer["found"] == [answer["run_id"]]
    assert [(m["step"], m["value"]) for m in answer["history"]["metrics"]] == [(n, 1 / (n + 1)) for n in range(5)]
    data = answer["run"]["data"]
    assert {m["key"]: m["value"] for m in data["metrics"]} == {"loss": 0.2, "accuracy": 0.5}
    assert {p["key"]: p["value"] for p in data["params"]} == {"lr": "0.1", "depth": "3"}
    tags = {t["key"]: t["value"] for t in data["tags"]}
    assert tags["kind"] == "first" and tags["colour"] == "blue" and "a" not in tags
    assert answer["run"]["info"]["status"] == "FINISHED"
    assert "from node" in [e["name"] for e in answer["listed"]["experiments"]]
    assert answer["artifacts"].get("files", []) == [] and answer["gone"].get("runs", []) == []
    assert answer["experiment"]["name"] == "renamed"


def curl(place, *words):
    """Status and body of one call by curl, told where as a person would."""
    done = subprocess.run(["curl", "--silent", "--show-error", "--write-out", "\n%{http_code}", *words],
                          capture_output=True, text=True, timeout=60, env={"PATH": "/usr/bin:/bin", **place})
    assert done.returncode == 0, done.stderr
    body, status = done.stdout.rsplit("\n", 1)
    return int(status), body


@pytest.fixture
def api(place):
    if not shutil.which("curl"):
        pytest.skip("curl is not installed")
    base = place["MLFLOW_TRACKING_URI"] + "/api/2.0/mlflow/"
    token = "Authorization: Bearer " + place["MLFLOW_TRACKING_TOKEN"]

    def call(path, body=None, *words, status=200):
        data = ["--header", "Content-Type: application/json", "--data", json.dumps(body)] if body is not None else []
        got = curl(place, "--header", token, *data, *words, base + path)
        assert got[0] == status, got
        return json.loads(got[1])

    return call


def test_curl_logs_and_is_told_what_it_does_wrong(api, place):
    experiment = api("experiments/create", {"name": "by curl"})["experiment_id"]
    run = api("runs/create", {"experiment_id": experiment, "start_time": 1})["run"]["info"]["run_id"]
    api("runs/log-metric", {"run_id": run, "key": "loss", "value": "0.25", "timestamp": "7", "step": "1"})
    api("runs/log-batch", {"run_id": run, "metrics": [{"key": "loss", "value": 0.5, "timestamp": 8, "step": 2}]})
    history = api(f"metrics/get-history?run_id={run}&metric_key=loss")
    assert [(m["step"], m["timestamp"], m["value"]) for m in history["metrics"]] == [(1, 7, 0.25), (2, 8, 0.5)]
    assert api(f"runs/get?run_id={run}")["run"]["info"]["status"] == "RUNNING"
    wrong = api("runs/log-metric", {"run_id": run, "key": "loss", "timestamp": 1}, status=400)
    assert wrong["error_code"] == "INVALID_PARAMETER_VALUE" and "value" in wrong["message"]
    assert api("runs/nothing", {}, status=404)["error_code"] == "ENDPOINT_NOT_FOUND"
    # `curl -d` alone says that it sends a form.
    status, body = curl(place, "--header", "Authorization: Bearer " + place["MLFLOW_TRACKING_TOKEN"], "--data", "{}",
                        place["MLFLOW_TRACKING_URI"] + "/api/2.0/mlflow/runs/search")
    assert status == 400 and "Content-Type must be 'application/json'" in body


def test_curl_knows_the_daemon_by_its_certificate(ponk, api):
    given = ponk.json("tracking", "env")
    words = ["--header", "Authorization: Bearer " + given["MLFLOW_TRACKING_TOKEN"], given["MLFLOW_TRACKING_URI"] + "/api/2.0/mlflow/experiments/list"]
    assert curl(given, "--cacert", given["MLFLOW_TRACKING_SERVER_CERT_PATH"], *words)[0] == 200
    refused = subprocess.run(["curl", "--silent", *words], capture_output=True, timeout=60, env={"PATH": "/usr/bin:/bin"})
    assert refused.returncode == 60, "without it the token is not sent"


def test_curl_without_or_with_a_wrong_token(api, place):
    target = place["MLFLOW_TRACKING_URI"] + "/api/2.0/mlflow/experiments/search"
    words = ["--header", "Content-Type: application/json", "--data", '{"max_results": 1}', target]
    status, body = curl(place, *words)
    assert status == 401 and "ponk tracking env" in body
    assert curl(place, "--header", "Authorization: Bearer wrong", *words)[0] == 401
    assert curl(place, "--user", "anyone:" + place["MLFLOW_TRACKING_TOKEN"], *words)[0] == 200


def test_curl_sends_and_fetches_a_large_artifact_in_parts(api, place, tmp_path):
    experiment = api("experiments/create", {"name": "files"})["experiment_id"]
    run = api("runs/create", {"experiment_id": experiment})["run"]["info"]
    assert re.fullmatch(r"mlflow-artifacts:/\d+/[0-9a-f]{32}/artifacts", run["artifact_uri"])
    large, back = tmp_path / "large.bin", tmp_path / "back.bin"
    block = bytes(range(256)) * 4096
    with large.open("wb") as file:
        for _ in range(64):
            file.write(block)
    token = "Authorization: Bearer " + place["MLFLOW_TRACKING_TOKEN"]
    address = (place["MLFLOW_TRACKING_URI"] + "/api/2.0/mlflow-artifacts/artifacts/"
               + run["artifact_uri"].removeprefix("mlflow-artifacts:/") + "/folder/large.bin")
    assert curl(place, "--header", token, "--upload-file", str(large), address)[0] == 200
    # As somebody whose connection broke: the first half, then the rest.
    half = large.stat().st_size // 2
    status, _ = curl(place, "--header", token, "--range", f"0-{half - 1}", "--output", str(back), address)
    assert status == 206 and back.stat().st_size == half
    status, _ = curl(place, "--header", token, "--continue-at", "-", "--output", str(back), address)
    assert status == 206
    assert back.read_bytes() == large.read_bytes()
    listed = api(f"artifacts/list?run_id={run['run_id']}&path=folder")
    assert listed["files"] == [{"path": "folder/large.bin", "is_dir": False, "file_size": large.stat().st_size}]
