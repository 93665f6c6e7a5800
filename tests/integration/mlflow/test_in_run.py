# SPDX-License-Identifier: Apache-2.0
"""The real client of MLflow inside runs on this machine, without any set-up."""
import json
import pathlib
import subprocess
import time

import pytest

from mlflow_script import go_on_without_daemon


@pytest.fixture
def runs(ponk, mlflow_python):
    """A project whose scripts find the client as `python`."""
    ponk.environment["PATH"] = f"{pathlib.Path(mlflow_python).parent}:/usr/bin:/bin"
    ponk.environment["MLFLOW_DISABLE_TELEMETRY"] = "true"
    ponk.environment["GIT_PYTHON_REFRESH"] = "quiet"
    return ponk


def ended(ponk, run, seconds=300):
    end = time.monotonic() + seconds
    while not (record := ponk.json("history", "info", "--run", run))["end_time_utc"]:
        assert time.monotonic() < end, record
        time.sleep(0.2)
    assert record["status"] == "Completed", ponk.text("logs", "--run", run, code=None)[-4000:]
    return record


def test_calls_of_the_fluent_interface_log_into_the_run(runs, tmp_path):
    runs.write("train.py", """
import os, mlflow
run_id = os.environ["MLFLOW_RUN_ID"]
mlflow.log_param("lr", 0.1)
for step in range(10):
    mlflow.log_metric("loss", 1 / (step + 1), step=step)
mlflow.log_metrics({"a": 1.0, "b": float("nan")})
mlflow.set_tags({"team": "x", "gone": "y"})
mlflow.delete_tag("gone")
mlflow.log_text("hello", "notes/a.txt")
open("empty.bin", "wb").close()
mlflow.log_artifact("empty.bin")
assert mlflow.active_run().info.run_id == run_id
client = mlflow.MlflowClient()
assert [m.step for m in client.get_metric_history(run_id, "loss")] == list(range(10))
assert {f.path for f in client.list_artifacts(run_id)} == {"notes", "empty.bin"}
assert open(mlflow.artifacts.download_artifacts(run_id=run_id, artifact_path="notes/a.txt")).read() == "hello"
with mlflow.start_run(nested=True, run_name="inner") as inner:
    mlflow.log_metric("deep", 7)
assert mlflow.get_run(inner.info.run_id).data.metrics == {"deep": 7.0}
mlflow.end_run()
""")
    run = runs.json("submit", "--async", "train.py")["run_id"]
    record = ended(runs, run)

    assert record["metrics"]["loss"] == 0.1 and record["metrics"]["a"] == 1 and record["params"] == {"lr": "0.1"}
    assert record["tags"]["team"] == "x" and "gone" not in record["tags"]
    runs.run("history", "download", "--run", run, "-d", tmp_path / "got")
    assert [file.read_text() for file in (tmp_path / "got").rglob("a.txt")] == ["hello"]


def test_a_script_that_names_an_experiment_and_makes_its_own_run_logs_into_the_run(runs):
    runs.write("train.py", """
import os, mlflow
run_id = os.environ["MLFLOW_RUN_ID"]
mlflow.set_experiment("another")
client = mlflow.MlflowClient()
run = client.create_run(client.get_experiment_by_name("another").experiment_id)
assert run.info.run_id == run_id
client.log_metric(run_id, "loss", 0.5)
client.set_terminated(run_id)
""")
    record = ended(runs, runs.json("submit", "--async", "train.py")["run_id"])

    assert record["metrics"]["loss"] == 0.5 and record["tags"]["ponk.experiment_name"] == "another"


def test_autolog_and_a_model_need_no_daemon(runs, mlflow_python):
    if subprocess.run([mlflow_python, "-c", "import sklearn"], capture_output=True).returncode != 0:
        pytest.skip("scikit-learn is not installed beside mlflow")
    runs.write("train.py", """
import os, time, mlflow, mlflow.sklearn
from sklearn.linear_model import LogisticRegression
from sklearn.datasets import load_iris
while not os.path.exists("go"):
    time.sleep(0.05)
mlflow.autolog(log_models=False)
X, y = load_iris(return_X_y=True)
model = LogisticRegression(max_iter=200).fit(X, y)
info = mlflow.sklearn.log_model(model, name="iris")
assert (mlflow.sklearn.load_model(info.model_uri).predict(X) == model.predict(X)).all()
open("done", "w").close()
""")
    run = runs.json("submit", "--async", "train.py")["run_id"]
    go_on_without_daemon(runs, run, 300)
    record = ended(runs, run)

    assert record["metrics"]["training_accuracy_score"] > 0.9 and record["params"]["max_iter"] == "200"


def test_other_runs_are_the_daemons_matter(runs):
    runs.write("first.py", "import mlflow\nmlflow.log_metric('score', 3)\n")
    runs.write("second.py", """
import json, mlflow
found = mlflow.search_runs(filter_string="metrics.score > 2", output_format="list")
print(json.dumps([run.info.run_id for run in found]))
""")
    first = runs.json("submit", "--async", "first.py")["run_id"]
    ended(runs, first)
    done = runs.run("submit", "second.py", timeout=300)

    assert json.loads(done.stdout.decode().splitlines()[-1]) == [first]


TRAINING = """
import os, mlflow, mlflow.sklearn, pandas
from sklearn.linear_model import LogisticRegression
from sklearn.datasets import load_iris
run_id = os.environ["MLFLOW_RUN_ID"]
client = mlflow.MlflowClient()
X, y = load_iris(return_X_y=True, as_frame=True)
mlflow.start_run()  # else autolog would end it, and the next call begin another
mlflow.sklearn.autolog(log_model_signatures=False)
model = LogisticRegression(max_iter=200).fit(X, y)
mlflow.sklearn.autolog(disable=True)
data = mlflow.data.from_pandas(X, name="iris")
mlflow.log_input(data, context="training")
requirements = ["scikit-learn"]
info = mlflow.sklearn.log_model(model, name="net", registered_model_name="Iris", pip_requirements=requirements)
mlflow.log_metric("checked", 0.5, step=3, model_id=info.model_id, dataset=data)
mlflow.set_logged_model_tags(info.model_id, {"a": "b"})
assert [m.value for m in mlflow.get_logged_model(info.model_id).metrics] == [0.5]
assert mlflow.register_model(f"runs:/{run_id}/net", "Other").version == "1"
client.set_registered_model_alias("Iris", "best", "1")
assert (mlflow.sklearn.load_model("models:/Iris@best").predict(X) == model.predict(X)).all()
with mlflow.start_run(nested=True, run_name="inner") as inner:
    mlflow.log_metric("deep", 7)
    mlflow.log_text("from inside", "notes/a.txt")
found = mlflow.search_runs(filter_string="metrics.deep > 6", output_format="list")
assert [run.info.run_id for run in found] == [inner.info.run_id]
assert len(mlflow.search_logged_models(filter_string="metrics.checked > 0.4", output_format="list")) == 1
mlflow.log_table({"x": [1]}, artifact_file="table.json")
assert len(mlflow.load_table("table.json", run_ids=[run_id])) == 1
mlflow.log_dict({"k": 1}, "plots/d.json")

@mlflow.trace
def double(x):
    return 2 * x

double(21)
mlflow.flush_trace_async_logging()
trace = mlflow.get_trace(mlflow.get_last_active_trace_id())
assert trace.data.spans[0].outputs == 42
print("NAMES", run_id, info.model_id, inner.info.run_id, trace.info.trace_id)
"""


def needs_sklearn(mlflow_python):
    if subprocess.run([mlflow_python, "-c", "import sklearn"], capture_output=True).returncode != 0:
        pytest.skip("scikit-learn is not installed beside mlflow")


def test_what_a_training_logs_is_there_outside(runs, mlflow_python, request):
    needs_sklearn(mlflow_python)
    runs.write("train.py", TRAINING)
    done = runs.run("submit", "train.py", timeout=600)
    run, model, inner, trace = next(line for line in done.stdout.decode().splitlines() if line.startswith("NAMES ")).split()[1:]
    client = request.getfixturevalue("client")
    answer = client(f"""
run = client.get_run("{run}")
model = client.get_logged_model("{model}")
loaded = mlflow.pyfunc.load_model("models:/Iris/1")
answer = {{
    "datasets": [[d.dataset.name, [t.value for t in d.tags]] for d in run.inputs.dataset_inputs],
    "outputs": model.model_id in [o.model_id for o in run.outputs.model_outputs], "models": len(run.outputs.model_outputs),
    "model": [model.name, str(model.status), model.source_run_id, model.tags["a"], [[m.key, m.value, m.dataset_name] for m in model.metrics]],
    "prediction": [int(p) for p in loaded.predict([[5.1, 3.5, 1.4, 0.2]])],
    "versions": [[v.name, int(v.version), v.run_id] for v in client.search_model_versions()],
    "alias": int(client.get_model_version_by_alias("Iris", "best").version),
    "inner": [client.get_run("{inner}").data.metrics["deep"], mlflow.artifacts.load_text("runs:/{inner}/notes/a.txt"),
              [f.path for f in client.list_artifacts("{inner}")]],
    "own file": mlflow.artifacts.load_dict("runs:/{run}/plots/d.json"),
    "trace": mlflow.get_trace("{trace}").data.spans[0].outputs,
}}
""")
    assert sorted(answer["datasets"]) == [["dataset", ["train"]], ["iris", ["training"]]] and answer["outputs"] and answer["models"] == 2
    assert answer["model"] == ["net", "READY", run, "b", [["checked", 0.5, "iris"]]]
    assert answer["prediction"] == [0] and answer["alias"] == 1
    assert sorted(answer["versions"]) == [["Iris", 1, run], ["Other", 1, run]]
    assert answer["inner"] == [7.0, "from inside", ["notes"]]
    assert answer["own file"] == {"k": 1} and answer["trace"] == 42


def test_without_the_daemon_nothing_hangs_and_what_was_logged_arrives(runs, mlflow_python):
    needs_sklearn(mlflow_python)
    runs.write("train.py", """
import os, time, mlflow, mlflow.sklearn
from sklearn.linear_model import LogisticRegression
from sklearn.datasets import load_iris
while not os.path.exists("go"):
    time.sleep(0.05)
began = time.monotonic()
try:
    mlflow.search_runs()
    raise SystemExit("somebody answered")
except mlflow.exceptions.MlflowException as problem:
    assert "ponk daemon" in str(problem), problem
assert time.monotonic() - began < 30
X, y = load_iris(return_X_y=True, as_frame=True)
mlflow.sklearn.autolog(log_models=False)
LogisticRegression(max_iter=200).fit(X, y)
mlflow.sklearn.autolog(registered_model_name="Away", log_model_signatures=False)
LogisticRegression(max_iter=200).fit(X, y)  # in a run of its own, whose model nobody can register now
open("done", "w").close()
""")
    run = runs.json("submit", "--async", "train.py")["run_id"]
    go_on_without_daemon(runs, run, 300)
    record = ended(runs, run)

    assert record["metrics"]["training_accuracy_score"] > 0.9


def test_a_run_changes_nothing_of_others(runs):
    runs.write("first.py", "import mlflow\nmlflow.log_metric('score', 3)\n")
    first = runs.json("submit", "--async", "first.py")["run_id"]
    ended(runs, first)
    runs.write("second.py", f"""
import mlflow
client = mlflow.MlflowClient()
for attempt in (lambda: client.delete_run("{first}"), lambda: client.set_tag("{first}", "a", "b"),
                lambda: client.log_metric("{first}", "score", 4), lambda: client.delete_experiment("0"),
                lambda: client.log_text("{first}", "x", "x.txt")):
    try:
        attempt()
        raise SystemExit("it was done")
    except Exception as problem:
        assert "PERMISSION_DENIED" in str(problem), problem
assert client.get_run("{first}").data.metrics == {{"score": 3.0}}
""")
    ended(runs, runs.json("submit", "--async", "second.py")["run_id"])
    record = ended(runs, first)

    assert record["metrics"]["score"] == 3 and "a" not in record["tags"]
