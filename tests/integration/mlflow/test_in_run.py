# SPDX-License-Identifier: Apache-2.0
"""The real client of MLflow inside runs on this machine, without any set-up."""
import json
import time

import pytest

from mlflow_client import TRAINING, check_training, needs_sklearn
from mlflow_script import go_on_without_daemon
from tracking import Tracking


def ended(ponk, run, seconds=300):
    end = time.monotonic() + seconds
    while not (record := ponk.json("history", "info", "--run", run))["end_time_utc"]:
        assert time.monotonic() < end, record
        time.sleep(0.2)
    assert record["status"] == "Completed", ponk.text("logs", "--run", run, code=None)[-4000:]
    return record


def write(ponk, name, text, says):
    """A script whose client tells the relay where it is, or does not: -E hides what runs have on PYTHONPATH."""
    if says:
        ponk.write(name, text)
        return
    ponk.write("real_" + name, text)
    ponk.write(name, f"import subprocess, sys\nsys.exit(subprocess.call([sys.executable, '-E', 'real_{name}'] + sys.argv[1:]))\n")


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


@pytest.mark.parametrize("says", [True, False])
def test_searches_find_what_the_script_put_under_its_name_and_nothing_else(runs, says):
    write(runs, "other.py", """
import mlflow
mlflow.set_experiment("baseline")
with mlflow.start_run():
    mlflow.log_metric("q", 100)
""", says)
    write(runs, "sweep.py", """
import mlflow
mlflow.set_experiment("sweep-a")
for q in range(3):
    with mlflow.start_run():
        mlflow.log_metric("q", q)
found = mlflow.MlflowClient().search_runs([mlflow.get_experiment_by_name("sweep-a").experiment_id], order_by=["metrics.q DESC"])
assert [run.data.metrics["q"] for run in found] == [2, 1, 0], found
found = mlflow.MlflowClient().search_runs([mlflow.get_experiment_by_name("baseline").experiment_id], "metrics.q > 1")
assert [run.data.metrics["q"] for run in found] == [100], found
""", says)
    assert ended(runs, runs.json("submit", "--async", "other.py")["run_id"])["status"] == "Completed"
    submitted = runs.json("submit", "--async", "sweep.py")["run_id"]
    assert ended(runs, submitted)["status"] == "Completed", runs.text("logs", submitted)

    assert runs.json("history", "info", "last")["run_id"] == submitted
    assert sorted(run["q"] for run in runs.json("history", "list", "--experiment", "sweep-a")) == [0, 1, 2]


def test_searches_by_name_also_find_what_others_have(runs):
    tracking = Tracking(runs)
    theirs = tracking.make_experiment("the others'")
    earlier = [tracking.make_run(theirs) for _ in range(2)]
    runs.write("search.py", """
import mlflow, sys
for _ in range(3):
    with mlflow.start_run():
        mlflow.log_metric("q", 1)
assert len(mlflow.search_runs()) == 3
found = mlflow.search_runs(experiment_names=["the others'"])
assert sorted(found.run_id) == sorted(sys.argv[1:]), found
assert len(mlflow.search_runs()) == 3
mlflow.set_experiment("the others'")
with mlflow.start_run() as mine:
    pass
found = mlflow.search_runs()
assert sorted(found.run_id) == sorted(sys.argv[1:] + [mine.info.run_id]), found
""")
    submitted = runs.json("submit", "--async", "search.py", *earlier)["run_id"]
    assert ended(runs, submitted)["status"] == "Completed", runs.text("logs", submitted)


@pytest.mark.parametrize("says", [True, False])
def test_names_of_experiments_are_kept_apart_once_the_run_goes_on(runs, says):
    runs.write("base.py", """
import mlflow
mlflow.set_experiment("base")
with mlflow.start_run():
    mlflow.log_metric("q", 100)
""")
    write(runs, "train.py", """
import os, subprocess, sys, mlflow
client = mlflow.MlflowClient()
def values(*experiments):
    return sorted(run.data.metrics["q"] for run in client.search_runs([each.experiment_id for each in experiments]))

mine = mlflow.set_experiment("mine")
with mlflow.start_run():
    mlflow.log_metric("q", 1)
    base = mlflow.get_experiment_by_name("base")
    # in an order that tells nothing
    assert (values(mine), values(base)) == ([1], [100])
    assert mlflow.get_experiment(base.experiment_id).name == "base"
    assert (values(base), values(mine), values(mine, base)) == ([100], [1], [1, 100])
assert sorted(mlflow.search_runs(experiment_names=["base", "mine"])["metrics.q"]) == [1, 100]

second = mlflow.set_experiment("second")
with mlflow.start_run() as run:
    mlflow.log_metric("q", 2)
with mlflow.start_run(run_id=run.info.run_id):  # goes on in it
    mlflow.log_param("p", 1)
subprocess.run([sys.executable, "-c", "import mlflow; mlflow.start_run(); mlflow.log_metric('q', 3)"], check=True)
assert (values(mine), values(second), values(base)) == ([1], [2, 3], [100])
mlflow.set_experiment("mine")
assert sorted(mlflow.search_runs()["metrics.q"]) == [1]
""", says)
    assert ended(runs, runs.json("submit", "--async", "base.py")["run_id"])["status"] == "Completed"
    submitted = runs.json("submit", "--async", "train.py")["run_id"]
    assert ended(runs, submitted)["status"] == "Completed", runs.text("logs", submitted)

    assert sorted(run["q"] for run in runs.json("history", "list", "--experiment", "second")) == [2, 3]
    assert [run["q"] for run in runs.json("history", "list", "--experiment", "mine")] == [1]


def test_a_client_that_says_where_it_is_is_never_misunderstood(runs):
    runs.write("base.py", """
import mlflow
for name, q in (("base", 100), ("old", 200)):
    mlflow.set_experiment(name)
    with mlflow.start_run():
        mlflow.log_metric("q", q)
""")
    runs.write("train.py", """
import multiprocessing, mlflow
client = mlflow.MlflowClient()

def values(*experiments):
    return sorted(run.data.metrics["q"] for run in client.search_runs([each.experiment_id for each in experiments]))

def work(q):
    with mlflow.start_run():
        mlflow.log_metric("q", q)

def main():
    base, old = (client.get_experiment_by_name(name) for name in ("base", "old"))
    assert (values(old), values(base), values(base, old)) == ([200], [100], [100, 200])
    mine = mlflow.set_experiment("mine")
    assert len(mlflow.search_runs(experiment_names=["base"])) == 1 and values(mine) == []
    client.get_experiment_by_name("old")
    work(1)
    assert (values(old), values(mine)) == ([200], [1])
    mlflow.set_experiment("workers")
    for how in ("fork", "spawn"):
        worker = multiprocessing.get_context(how).Process(target=work, args=(7,))
        worker.start()
        worker.join()
        assert worker.exitcode == 0

if __name__ == "__main__":
    main()
""")
    assert ended(runs, runs.json("submit", "--async", "base.py")["run_id"])["status"] == "Completed"
    submitted = runs.json("submit", "--async", "train.py")["run_id"]
    assert ended(runs, submitted)["status"] == "Completed", runs.text("logs", submitted)
    assert [run["q"] for run in runs.json("history", "list", "--experiment", "mine")] == [1]
    assert [run["q"] for run in runs.json("history", "list", "--experiment", "workers")] == [7, 7]


@pytest.mark.parametrize("says", [True, False])
def test_a_script_that_looks_whether_it_was_done_already(runs, says):
    write(runs, "train.py", """
import sys, mlflow
for model in sys.argv[1].split(","):
    mlflow.set_experiment("model-" + model)
    if len(mlflow.search_runs(filter_string="params.done = 'yes' and status = 'FINISHED'")):
        continue
    assert len(mlflow.search_runs()) == 0, "a run that was not started is none"
    with mlflow.start_run(run_name=model):
        mlflow.log_param("done", "yes")
""", says)
    for models in ("lr", "lr,svm", "svm,lr,tree"):
        submitted = runs.json("submit", "--async", "train.py", models)["run_id"]
        assert ended(runs, submitted)["status"] == "Completed", runs.text("logs", submitted)
    for model in ("lr", "svm", "tree"):
        assert [run["name"] for run in runs.json("history", "list", "--experiment", "model-" + model)] == [model]


def test_all_experiments_are_searched_wholly(runs):
    runs.write("train.py", """
import mlflow
for name in ("one", "two"):
    mlflow.set_experiment(name)
    for q in range(2):
        with mlflow.start_run():
            mlflow.log_metric("q", q)
assert sorted(mlflow.search_runs(search_all_experiments=True)["metrics.q"]) == [0, 0, 1, 1]
""")
    submitted = runs.json("submit", "--async", "train.py")["run_id"]
    assert ended(runs, submitted)["status"] == "Completed", runs.text("logs", submitted)


@pytest.mark.parametrize("says", [True, False])
def test_a_name_in_the_scripts_environment_is_where_its_runs_go(runs, says):
    write(runs, "train.py", f"""
import os, mlflow
os.environ["MLFLOW_EXPERIMENT_NAME"] = "foo"
for q in range(3):
    with mlflow.start_run():
        mlflow.log_metric("q", q)
assert sorted(mlflow.search_runs()["metrics.q"]) == {[0, 1, 2] if says else [1, 2]}
""", says)
    for _ in range(2):
        submitted = runs.json("submit", "--async", "train.py")["run_id"]
        assert ended(runs, submitted)["status"] == "Completed", runs.text("logs", submitted)
        runs.run("history", "delete", "--yes", submitted)
    runs.write("plain.py", "import mlflow\nmlflow.log_metric('q', 9)\n")
    submitted = runs.json("submit", "--async", "--env", "MLFLOW_EXPERIMENT_NAME=bar", "plain.py")["run_id"]
    assert ended(runs, submitted)["tags"]["ponk.experiment_name"] == "bar"


def test_autolog_and_a_model_need_no_daemon(runs, mlflow_python):
    needs_sklearn(mlflow_python)
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


def test_what_a_training_logs_is_there_outside(runs, mlflow_python, request):
    needs_sklearn(mlflow_python)
    runs.write("train.py", TRAINING)
    done = runs.run("submit", "--allow", "promote", "train.py", timeout=600)
    check_training(done, request.getfixturevalue("client"))


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
assert client.get_run("{first}").data.metrics["score"] == 3.0
""")
    ended(runs, runs.json("submit", "--async", "second.py")["run_id"])
    record = ended(runs, first)

    assert record["metrics"]["score"] == 3 and "a" not in record["tags"]


def test_names_that_are_no_utf8_keep_no_client_from_reading(runs, client):
    script = "tr\udce9.py"  # as file systems of Latin-1 have it
    runs.write(script, """
import mlflow, ponk
ponk.log_param("file", "data\\udcff.csv")
with mlflow.start_run() as run:
    mlflow.log_metric("a", 1)
    assert mlflow.get_run(run.info.run_id).data.metrics["a"] == 1
    mlflow.search_runs([run.info.experiment_id])
""")
    done = runs.run("submit", "--name", "n\udcff", script, code=None)
    assert done.returncode == 0, (done.stdout + done.stderr)[-3000:].decode(errors="replace")

    found = client("""
[one] = [run for each in client.search_experiments() for run in client.search_runs([each.experiment_id])]
answer = [one.info.run_name, one.data.params, one.data.tags["mlflow.source.name"]]
""")
    assert found == ["n\ufffd", {"file": "data\ufffd.csv"}, "tr\ufffd.py"]
    assert runs.json("history", "last")["name"] == "n\udcff"
