#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""The same calls to MLflow's server and to ponk: differential_models.py PONK_HOME [MLFLOW]

PONK_HOME is the home of a daemon that runs; MLFLOW the program `mlflow` (default: of PATH). A server of MLflow is started on loopback
with a database of its own and ended again. Prints each call whose status, error code or answer differ, ids and times left out, and exits
1 when one differs that is not in EXPECTED.
"""
import http.client
import json
import os
import re
import signal
import socket
import subprocess
import sys
import tempfile
import time
import urllib.parse

# Calls that are meant to differ; docs/design/models.md says why.
EXPECTED = {"params twice, same value", "outputs again", "metric of no model", "status that is none", "bad page",
            "order key twice", "archive for none", "empty trace", "page of none", "dataset of nothing", "tag of no trace",
            "http source", "nan of a model"}


class Unix(http.client.HTTPConnection):
    def __init__(self, path):
        super().__init__("localhost", timeout=60)
        self.path = path

    def connect(self):
        self.sock = socket.socket(socket.AF_UNIX)
        self.sock.connect(self.path)


class Server:
    def __init__(self, connect):
        self.connect, self.words = connect, {}

    def call(self, method, path, body=None):
        """Names that earlier answers gave stand in braces: {run}."""
        def filled(value):
            if isinstance(value, str):
                return re.sub(r"\{(\w+)\}", lambda m: self.words.get(m[1], m[0]), value)
            if isinstance(value, list):
                return [filled(v) for v in value]
            return {k: filled(v) for k, v in value.items()} if isinstance(value, dict) else value
        path = filled(path if path.startswith("/") else "/api/2.0/mlflow/" + path)
        connection = self.connect()
        text = None if body is None else json.dumps(filled(body))
        connection.request(method, path, text, {"Content-Type": "application/json"})
        answer = connection.getresponse()
        data = answer.read().decode("utf-8", "replace")
        connection.close()
        try:
            return answer.status, json.loads(data or "{}")
        except ValueError:
            return answer.status, {"error_code": "no JSON"}


TIMES = re.compile("timestamp|_time$|_time_")
UNIMPORTANT = {"sqlstate", "error_class", "model_id", "workspace", "mlflow.trace.infoFinalized"}


def plain(value, words):
    """Without ids and times; lists in an order of their own, since none of these lists has a promised one inside an entity."""
    if isinstance(value, dict):
        kept = {}
        for key, inner in value.items():
            if key in UNIMPORTANT or key == "next_page_token" or key == "message":
                continue
            kept[key] = "TIME" if TIMES.search(key) and isinstance(inner, int) else plain(inner, words)
        return kept
    if isinstance(value, list):
        entries = [plain(v, words) for v in value]
        return sorted(entries, key=json.dumps) if entries and isinstance(entries[0], dict) and "key" in entries[0] else entries
    if isinstance(value, str):
        value = re.sub(r"(m-)?[0-9a-f]{32}", "ID", value)
        value = re.sub(r"^[a-z]+-[a-z]+-\d+$", "NAME", value)
        return json.dumps(json.loads(value)) if value.startswith("[{") else value
    return value


def query(path, **fields):
    return path + "?" + urllib.parse.urlencode(fields, doseq=True)


TRACES = "/api/3.0/mlflow/traces"
LOCATION = {"type": "MLFLOW_EXPERIMENT", "mlflow_experiment": {"experiment_id": "0"}}
TRACE = {"trace_id": "tr-1", "trace_location": LOCATION, "request_time": "2026-03-01T12:30:05.123Z", "execution_duration": "0.091s",
         "state": "OK", "trace_metadata": {"mlflow.sourceRun": "r", "a": "b"}, "tags": {"mlflow.traceName": "f", "x": "y"},
         "request_preview": "{}", "response_preview": "3"}
DATASET = {"name": "n", "digest": "d", "source_type": "local", "source": "s", "schema": "{}", "profile": "{}"}
PROMPT = [{"key": "mlflow.prompt.is_prompt", "value": "true"}]


def version(source, **fields):
    return "POST", "model-versions/create", {"name": "m1", "source": source, **fields}


# (name, method, path, body, {word: path of keys in the answer})
CALLS = [
    ("run", "POST", "runs/create", {"experiment_id": "0"}, {"run": "run.info.run_id"}),
    ("model without experiment", "POST", "logged-models", {}),
    ("model", "POST", "logged-models", {"experiment_id": "0", "name": "a", "model_type": "agent", "source_run_id": "{run}",
                                        "params": [{"key": "x", "value": "1"}], "tags": [{"key": "t", "value": "v"}]},
     {"model": "model.info.model_id"}),
    ("model without a name", "POST", "logged-models", {"experiment_id": "0"}),
    ("model of no experiment", "POST", "logged-models", {"experiment_id": "77"}),
    ("model of a word", "POST", "logged-models", {"experiment_id": "x"}),
    ("model of a path", "POST", "logged-models", {"experiment_id": "0", "name": "a/b"}),
    ("no model", "GET", "logged-models/m-none", None),
    ("ready", "PATCH", "logged-models/{model}", {"model_id": "{model}", "status": "LOGGED_MODEL_READY"}),
    ("ready by number", "PATCH", "logged-models/{model}", {"model_id": "{model}", "status": 2}),
    ("status that is none", "PATCH", "logged-models/{model}", {"model_id": "{model}", "status": "BOGUS"}),
    ("ready again", "PATCH", "logged-models/{model}", {"model_id": "{model}", "status": 2}),
    ("no status", "PATCH", "logged-models/{model}", {"model_id": "{model}"}),
    ("tags of a model", "PATCH", "logged-models/{model}/tags", {"tags": [{"key": "k", "value": "w"}]}),
    ("tag goes", "DELETE", "logged-models/{model}/tags/k", None),
    ("tag is gone", "DELETE", "logged-models/{model}/tags/k", None),
    ("params", "POST", "logged-models/{model}/params", {"model_id": "{model}", "params": [{"key": "p", "value": "2"}]}),
    ("params twice, same value", "POST", "logged-models/{model}/params",
     {"model_id": "{model}", "params": [{"key": "p", "value": "2"}]}),
    ("metric", "POST", "runs/log-metric", {"run_id": "{run}", "key": "acc", "value": 0.5, "timestamp": 5, "step": 1,
                                           "model_id": "{model}", "dataset_name": "d", "dataset_digest": "1"}),
    ("metric in a batch", "POST", "runs/log-batch",
     {"run_id": "{run}", "metrics": [{"key": "acc", "value": 0.75, "timestamp": 6, "model_id": "{model}"}]}),
    ("metric of no model", "POST", "runs/log-metric",
     {"run_id": "{run}", "key": "no", "value": 1, "timestamp": 6, "model_id": "m-none"}),
    ("the model", "GET", "logged-models/{model}", None),
    ("search by metric", "POST", "logged-models/search",
     {"experiment_ids": ["0"], "order_by": [{"field_name": "metrics.acc", "ascending": False}], "filter": "metrics.acc > 0.1"}),
    ("search on a dataset", "POST", "logged-models/search", {"experiment_ids": ["0"], "datasets": [{"dataset_name": "d"}]}),
    ("search by attribute", "POST", "logged-models/search", {"experiment_ids": ["0"], "filter": "name = 'a' AND params.x = '1'"}),
    ("order of nothing", "POST", "logged-models/search", {"experiment_ids": ["0"], "order_by": [{"field_name": "bogus"}]}),
    ("order by params", "POST", "logged-models/search", {"experiment_ids": ["0"], "order_by": [{"field_name": "params.x"}]}),
    ("dataset without name", "POST", "logged-models/search", {"experiment_ids": ["0"], "datasets": [{"dataset_digest": "1"}]}),
    ("search nowhere", "POST", "logged-models/search", {}),
    ("search in no number", "POST", "logged-models/search", {"experiment_ids": ["x"]}),
    ("bad page", "POST", "logged-models/search", {"experiment_ids": ["0"], "page_token": "bad"}),
    ("page of none", "POST", "logged-models/search", {"experiment_ids": ["0"], "max_results": -1}),
    ("outputs", "POST", "runs/outputs", {"run_id": "{run}", "models": [{"model_id": "{model}", "step": 3}]}),
    ("outputs again", "POST", "runs/outputs", {"run_id": "{run}", "models": [{"model_id": "{model}", "step": 3}]}),
    ("outputs of nothing", "POST", "runs/outputs", {"run_id": "{run}"}),
    ("outputs of no run", "POST", "runs/outputs", {"run_id": "a" * 32, "models": [{"model_id": "{model}"}]}),
    ("inputs", "POST", "runs/log-inputs", {"run_id": "{run}", "models": [{"model_id": "{model}"}], "datasets": [
        {"tags": [{"key": "mlflow.data.context", "value": "train"}], "dataset": DATASET}]}),
    ("inputs again", "POST", "runs/log-inputs", {"run_id": "{run}", "datasets": [
        {"tags": [{"key": "mlflow.data.context", "value": "other"}], "dataset": DATASET}]}),
    ("dataset of nothing", "POST", "runs/log-inputs", {"run_id": "{run}", "datasets": [{"dataset": {"digest": "x"}}]}),
    ("long name", "POST", "runs/log-inputs", {"run_id": "{run}", "datasets": [{"dataset": {**DATASET, "name": "x" * 501}}]}),
    ("inputs of a path", "POST", "runs/log-inputs", {"run_id": "../x"}),
    ("inputs of no run", "POST", "runs/log-inputs", {"run_id": "none"}),
    ("runs by dataset", "POST", "runs/search", {"experiment_ids": ["0"], "filter": "dataset.name = 'n' AND dataset.context = 'train'"}),
    ("no datasets", "POST", "/ajax-api/2.0/mlflow/experiments/search-datasets", {}),
    ("no model text", "POST", "runs/log-model", {"run_id": "{run}", "model_json": "x"}),
    ("empty model text", "POST", "runs/log-model", {"run_id": "{run}", "model_json": "{}"}),
    ("registered", "POST", "registered-models/create",
     {"name": "m1", "tags": [{"key": "a", "value": "1"}, {"key": "a", "value": "2"}], "description": "d"}),
    ("registered again", "POST", "registered-models/create", {"name": "m1"}),
    ("prompt of a model's name", "POST", "registered-models/create", {"name": "m1", "tags": PROMPT}),
    ("name of a path", "POST", "registered-models/create", {"name": "a/b"}),
    ("name up", "POST", "registered-models/create", {"name": ".."}),
    ("name of blanks", "POST", "registered-models/create", {"name": " "}),
    ("odd key", "POST", "registered-models/create", {"name": "x", "tags": [{"key": "k$"}]}),
    ("no name", "GET", "registered-models/get", None),
    ("unknown name", "GET", "registered-models/get?name=none", None),
    ("version", *version("s3://b/x", run_id="r1", tags=[{"key": "q", "value": "1"}], run_link="http://x", description="dd")),
    ("second version", *version("s3://b/x")),
    ("version of no name", "POST", "model-versions/create", {"name": "none", "source": "s3://b/x"}),
    *((f"source {source}", *version(source)) for source in (
        "/etc/passwd", "file:///etc/passwd", "../x", "s3://b/../x", "mlflow-artifacts:/0/x", "models:/m1/1", "models:/none/1",
        "models:/m-none", "runs:/abc/model", "x", "s3://b/a//b", "dbfs:/x", "s3://b?x=1", "models:/m1@nope", "models:/m1/latest",
        "s3://b/./a", "s3://b/%252e%252e/x", "")),
    ("http source", *version("http://h/x")),
    ("of its run", *version("runs:/{run}/model", run_id="{run}")),
    ("files of its run", *version("mlflow-artifacts:/0/{run}/artifacts/model", run_id="{run}")),
    ("files of another", *version("mlflow-artifacts:/0/{run}/model", run_id="{run}")),
    ("of its model", *version("models:/{model}", model_id="{model}")),
    ("of a model", *version("models:/{model}")),
    ("get version", "GET", query("model-versions/get", name="m1", version="1"), None),
    ("version of a word", "GET", query("model-versions/get", name="m1", version="x"), None),
    ("version that is none", "GET", query("model-versions/get", name="m1", version="99"), None),
    ("where it is", "GET", query("model-versions/get-download-uri", name="m1", version="1"), None),
    ("stage", "POST", "model-versions/transition-stage", {"name": "m1", "version": "1", "stage": "production"}),
    ("stage cleared", "POST", "model-versions/transition-stage",
     {"name": "m1", "version": "2", "stage": "Production", "archive_existing_versions": True}),
    ("no stage", "POST", "model-versions/transition-stage", {"name": "m1", "version": "2", "stage": "bogus"}),
    ("archive for none", "POST", "model-versions/transition-stage",
     {"name": "m1", "version": "2", "stage": "None", "archive_existing_versions": True}),
    ("latest", "POST", "registered-models/get-latest-versions", {"name": "m1", "stages": ["production"]}),
    ("latest of no stage", "POST", "registered-models/get-latest-versions", {"name": "m1", "stages": ["bogus"]}),
    *((f"alias {alias}", "POST", "registered-models/alias", {"name": "m1", "alias": alias, "version": "1"})
      for alias in ("champ", "latest", "v1", "a b", "x" * 256)),
    ("alias of no version", "POST", "registered-models/alias", {"name": "m1", "alias": "x", "version": "99"}),
    ("by alias", "GET", query("registered-models/alias", name="m1", alias="champ"), None),
    ("by no alias", "GET", query("registered-models/alias", name="m1", alias="none"), None),
    ("no alias goes", "DELETE", "registered-models/alias", {"name": "m1", "alias": "none"}),
    ("tag", "POST", "registered-models/set-tag", {"name": "m1", "key": "k", "value": "v"}),
    ("tag without key", "POST", "registered-models/set-tag", {"name": "m1", "value": "v"}),
    ("no tag goes", "DELETE", "registered-models/delete-tag", {"name": "m1", "key": "zz"}),
    ("version tag", "POST", "model-versions/set-tag", {"name": "m1", "version": "1", "key": "k", "value": "v"}),
    ("described", "PATCH", "model-versions/update", {"name": "m1", "version": "1", "description": "new"}),
    ("undescribed", "PATCH", "model-versions/update", {"name": "m1", "version": "1"}),
    ("model described", "PATCH", "registered-models/update", {"name": "m1", "description": "new"}),
    ("other", "POST", "registered-models/create", {"name": "m2"}),
    ("renamed to taken", "POST", "registered-models/rename", {"name": "m2", "new_name": "m1"}),
    ("renamed", "POST", "registered-models/rename", {"name": "m2", "new_name": "m3"}),
    ("prompt", "POST", "registered-models/create", {"name": "p1", "tags": PROMPT}),
    ("prompt version", "POST", "model-versions/create", {"name": "p1", "source": "dummy-source", "tags": PROMPT}),
    ("prompt of a path", "POST", "model-versions/create", {"name": "p1", "source": "/x", "tags": PROMPT}),
    *((f"models {text}", "GET", query("registered-models/search", filter=text), None) for text in (
        "name = 'm3'", "name ILIKE 'M3%'", "tags.`mlflow.prompt.is_prompt` = 'true'", "tags.a = '3'", "name IN ('m3')", "x",
        "version = '1'")),
    ("too many models", "GET", query("registered-models/search", max_results=1001), None),
    ("order key twice", "GET", query("registered-models/search", order_by=["last_updated_timestamp DESC", "timestamp"]), None),
    *((f"versions {text}", "GET", query("model-versions/search", filter=text, order_by="version_number ASC"), None) for text in (
        "", "name = 'm1' AND version_number > 5", "run_id IN ('r1')", "source_path LIKE 's3%'", "tags.q = '1'", "source_path IN ('x')",
        "tags.`mlflow.prompt.is_prompt` = 'true'")),
    ("no versions", "GET", query("model-versions/search", max_results=0), None),
    ("version goes", "DELETE", "model-versions/delete", {"name": "m1", "version": "1"}),
    ("version is gone", "DELETE", "model-versions/delete", {"name": "m1", "version": "1"}),
    ("name goes", "DELETE", "registered-models/delete", {"name": "m1"}),
    ("name is gone", "DELETE", "registered-models/delete", {"name": "m1"}),
    ("trace", "POST", TRACES, {"trace": {"trace_info": TRACE}}),
    ("trace again", "POST", TRACES, {"trace": {"trace_info": TRACE}}),
    ("no trace", "POST", TRACES, {}),
    ("empty trace", "POST", TRACES, {"trace": {}}),
    ("trace of no experiment", "POST", TRACES, {"trace": {"trace_info": {**TRACE, "trace_id": "tr-9", "trace_location": {
        "type": "MLFLOW_EXPERIMENT", "mlflow_experiment": {"experiment_id": "99"}}}}}),
    ("get trace", "GET", TRACES + "/tr-1", None),
    ("get no trace", "GET", TRACES + "/none", None),
    *((f"traces {text}", "POST", TRACES + "/search", {"locations": [LOCATION], "filter": text}) for text in (
        "", "status = 'OK'", "tags.x = 'y'", "trace.name = 'f'", "timestamp_ms > 5", "metadata.a = 'b'", "run_id = 'r'",
        "execution_time_ms < 5", "bogus = '1'", "tags.x IN ('y')")),
    ("too many traces", "POST", TRACES + "/search", {"locations": [LOCATION], "max_results": 501}),
    ("traces of nowhere", "POST", TRACES + "/search", {}),
    ("trace tag", "PATCH", TRACES + "/tr-1/tags", {"key": "k", "value": "v"}),
    ("trace tag goes", "DELETE", TRACES + "/tr-1/tags", {"key": "k"}),
    ("tag of no trace", "PATCH", TRACES + "/none/tags", {"key": "k", "value": "v"}),
    ("delete nothing", "POST", "traces/delete-traces", {"experiment_id": "0"}),
    ("delete trace", "POST", "traces/delete-traces", {"experiment_id": "0", "request_ids": ["tr-1"]}),
    ("model goes", "DELETE", "logged-models/{model}", None),
    ("model is gone", "GET", "logged-models/{model}", None),
    ("deleted model", "GET", "logged-models/{model}?allow_deleted=true", None),
]


def remember(server, answer, words):
    for word, path in words.items():
        value = answer
        for key in path.split("."):
            value = value.get(key, {}) if isinstance(value, dict) else {}
        server.words[word] = value if isinstance(value, str) else "missing"


def compare(reference, ours):
    wrong = 0
    for name, method, path, body, *rest in CALLS:
        answers = []
        for server in (reference, ours):
            status, answer = server.call(method, path, body)
            remember(server, answer, rest[0] if rest else {})
            answers.append((status, plain(answer, server.words)))
        if answers[0] == answers[1]:
            continue
        meant = name in EXPECTED
        wrong += not meant
        print(f"{'meant' if meant else 'DIFFERS'}: {name}: {method} {path}")
        for who, answer in zip(("mlflow", "ponk"), answers):
            print(f"    {who:6} {answer[0]} {json.dumps(answer[1])[:1500]}")
    print(f"{len(CALLS)} calls, {wrong} answers differ that should not")
    return wrong


def start_reference(program, folder):
    with socket.create_server(("127.0.0.1", 0)) as free:
        port = free.getsockname()[1]
    server = subprocess.Popen([program, "server", "--host", "127.0.0.1", "--port", str(port), "--workers", "1",
                               "--backend-store-uri", f"sqlite:///{folder}/reference.db", "--default-artifact-root",
                               "mlflow-artifacts:/", "--artifacts-destination", f"{folder}/artifacts", "--serve-artifacts"],
                              cwd=folder, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL, start_new_session=True,
                              env={**os.environ, "MLFLOW_DISABLE_TELEMETRY": "true"})
    until = time.monotonic() + 240
    while time.monotonic() < until:
        try:
            connection = http.client.HTTPConnection("127.0.0.1", port, timeout=5)
            connection.request("GET", "/health")
            if connection.getresponse().status == 200:
                return server, port
        except OSError:
            time.sleep(0.5)
    os.killpg(server.pid, signal.SIGTERM)
    sys.exit("the server of MLflow does not answer")


def main():
    home = sys.argv[1]
    program = sys.argv[2] if len(sys.argv) > 2 else "mlflow"
    with tempfile.TemporaryDirectory() as folder:
        server, port = start_reference(program, folder)
        try:
            reference = Server(lambda: http.client.HTTPConnection("127.0.0.1", port, timeout=60))
            wrong = compare(reference, Server(lambda: Unix(os.path.join(home, "daemon.sock"))))
        finally:
            os.killpg(server.pid, signal.SIGTERM)
            server.wait()
    sys.exit(1 if wrong else 0)


if __name__ == "__main__":
    main()
