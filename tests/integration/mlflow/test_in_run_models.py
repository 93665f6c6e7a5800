# SPDX-License-Identifier: Apache-2.0
"""Models, prompts and child runs that the real client makes inside runs."""
import time

from tracking import Tracking


def submit(ponk, text):
    ponk.write("train.py", text)
    done = ponk.run("submit", "train.py", code=None)
    assert done.returncode == 0, (done.stdout + done.stderr)[-4000:].decode()
    return ponk.json("history", "info", "last")["run_id"]


def test_a_metric_is_of_every_model_that_it_is_logged_for(runs):
    run = submit(runs, """
import mlflow
client = mlflow.MlflowClient()
with mlflow.start_run() as run:
    models = [mlflow.initialize_logged_model(name=name).model_id for name in ("one", "two")]
    for model in [None] + models:
        client.log_metric(run.info.run_id, "acc", .9, timestamp=5, step=0, model_id=model)
    client.log_metric(run.info.run_id, "acc", .9, timestamp=5, step=0, model_id=models[1])  # as after a lost answer
    for model in models:
        assert [(m.key, m.value) for m in client.get_logged_model(model).metrics] == [("acc", .9)], model
    assert len(client.get_metric_history(run.info.run_id, "acc")) == 1
    mlflow.log_metric("inf", float("inf"))
    assert client.get_run(run.info.run_id).data.metrics["inf"] == 1.7976931348623157e308
""")
    tracking = Tracking(runs)
    experiment = tracking.ask("GET", "runs/get", {"run_id": run})["run"]["info"]["experiment_id"]
    found = tracking.ask("POST", "logged-models/search", {"experiment_ids": [experiment], "filter": "metrics.acc > 0.8"})
    assert sorted(model["info"]["name"] for model in found["models"]) == ["one", "two"]
    history = tracking.ask("GET", "metrics/get-history", {"run_id": run, "metric_key": "acc"})
    assert len(history["metrics"]) == 1


def test_what_a_child_run_logs_while_it_is_deleted_is_not_lost(runs):
    runs.write("train.py", """
import mlflow, pathlib, time
mlflow.start_run()
child = mlflow.start_run(nested=True)
print(child.info.run_id, flush=True)
for step in range(100):
    mlflow.log_metric("v", step, step=step)
    if step == 20:
        while not pathlib.Path(%r).exists():
            time.sleep(0.02)
mlflow.end_run()
""" % str(runs.project / "deleted"))
    run = runs.json("submit", "--async", "train.py")["run_id"]
    end = time.monotonic() + 120
    while not (said := runs.text("logs", "--run", run, code=None).split()):
        assert time.monotonic() < end
        time.sleep(0.1)
    child = said[0]
    tracking = Tracking(runs)
    while tracking.call("GET", "runs/get", {"run_id": child}).status == 404:  # the daemon reads a tenth of a second later
        assert time.monotonic() < end
        time.sleep(0.02)
    tracking.ask("POST", "runs/delete", {"run_id": child})
    (runs.project / "deleted").touch()
    while not runs.json("history", "info", "--run", run)["end_time_utc"]:
        assert time.monotonic() < end
        time.sleep(0.1)
    tracking.ask("POST", "runs/restore", {"run_id": child})

    history = tracking.ask("GET", "metrics/get-history", {"run_id": child, "metric_key": "v"})
    assert [point["step"] for point in history["metrics"]] == list(range(100))
    assert tracking.ask("GET", "runs/get", {"run_id": child})["run"]["info"]["status"] == "FINISHED"


# Models of scikit-learn have a test of their own; loading its parts takes most of the time that a small script has.
MODEL = """
import mlflow
class Model(mlflow.pyfunc.PythonModel):
    def predict(self, context, model_input): return [row[0] for row in model_input]
"""


def test_files_of_a_registered_model_are_not_deleted_by_the_way(runs):
    run = submit(runs, MODEL + """
with mlflow.start_run():
    with mlflow.start_run(nested=True):
        mlflow.log_text("c", "c.txt")
    mlflow.pyfunc.log_model(name="m", python_model=Model(), registered_model_name="iris", pip_requirements=[])
""")
    refused = runs.run("history", "delete", run, "--yes", code=73).stderr.decode()
    assert "version 1 of the model 'iris'" in refused and "--force" in refused
    children = [one["run_id"] for one in runs.json("history", "info", "--run", run)["child_runs"]]
    assert len(children) == 1

    assert runs.json("history", "delete", run, "--yes", "--force")["deleted"] == [run] + children

    assert runs.json("history", "list") == []
    for gone in [run] + children:
        runs.run("history", "info", "--run", gone, code=66)


def test_prompts_are_made_in_a_run_and_are_its_own(runs):
    submit(runs, """
import mlflow
prompt = mlflow.genai.register_prompt(name="greeting", template="Hello {{name}}")
assert prompt.version == 1
assert mlflow.genai.load_prompt("prompts:/greeting/1").format(name="Ann") == "Hello Ann"
mlflow.MlflowClient().set_prompt_version_tag("greeting", 1, "lang", "en")
""")
    said = runs.write("other.py", """
import mlflow
try:
    mlflow.MlflowClient().set_prompt_version_tag("greeting", 1, "lang", "de")
except mlflow.exceptions.MlflowException as error:
    print(error)
""")
    assert "PERMISSION_DENIED" in runs.run("submit", said.name).stdout.decode()


PROMOTING = MODEL + """
client = mlflow.MlflowClient()
with mlflow.start_run():
    mlflow.pyfunc.log_model(name="m", python_model=Model(), registered_model_name="prod", pip_requirements=[])
    version = client.search_model_versions("name = 'prod'")[0].version
    for change in (lambda: client.set_registered_model_alias("prod", "champion", version),
                   lambda: client.transition_model_version_stage("prod", version, "Production"),
                   lambda: client.delete_registered_model_alias("prod", "champion"),
                   lambda: client.delete_registered_model("prod")):
        try:
            change()
        except mlflow.exceptions.MlflowException as error:
            print("REFUSED", error)
"""


def test_no_run_decides_what_others_load_unless_its_submitter_allowed_it(runs, client):
    runs.write("first.py", PROMOTING)
    said = runs.run("submit", "first.py").stdout.decode()
    assert said.count("REFUSED") == 4 and said.count("ponk submit --allow promote") == 4
    client("client.set_registered_model_alias('prod', 'champion', '1')")
    # A file of the project cannot grant it.
    runs.write("aml_config/generous.runconfig", "Target: local\nFramework: Python\nAllow: promote\nMayPromote: true\n")
    assert runs.run("submit", "-c", "generous", "first.py").stdout.decode().count("REFUSED") == 4
    assert client("answer = client.get_model_version_by_alias('prod', 'champion').version") in ("1", 1)

    granted = runs.run("submit", "--allow", "promote", "first.py")
    assert "REFUSED" not in granted.stdout.decode()
    assert client("answer = [m.name for m in client.search_registered_models()]") == []
    # Who repeats an old run does not want its decision repeated.
    assert runs.run("experiment", "rerun", "last").stdout.decode().count("REFUSED") == 4


def test_what_a_run_made_is_loaded_outside_while_it_goes_on(runs, client, tmp_path):
    logged, go = tmp_path / "logged", tmp_path / "go"
    runs.write("train.py", MODEL + f"""
import os, time
with mlflow.start_run():
    mlflow.log_text("half way", "notes/a.txt")
    mlflow.pyfunc.log_model(name="m", python_model=Model(), registered_model_name="live", pip_requirements=[])
    with mlflow.start_run(nested=True, run_name="inner"):
        mlflow.log_text("c", "c.txt")
    open({str(logged)!r}, "w").close()
    while not os.path.exists({str(go)!r}): time.sleep(0.05)
""")
    run = runs.json("submit", "--async", "train.py")["run_id"]
    end = time.monotonic() + 120
    while not logged.exists():
        assert time.monotonic() < end, runs.text("logs", "--run", run, code=None)[-4000:]
        time.sleep(0.1)
    # What a run says reaches the daemon a moment later, in order: the child's end is the last of it.
    while [child["status"] for child in runs.json("history", "info", "--run", run).get("child_runs", [])] != ["Completed"]:
        assert time.monotonic() < end
        time.sleep(0.1)
    look = f"""
run = {run!r}
child = next(each for each in client.search_runs([client.get_run(run).info.experiment_id]) if each.info.run_name == "inner")
answer = [client.get_run(run).info.status,
          [file.path for file in client.list_artifacts(run, "notes")],
          mlflow.artifacts.load_text(f"runs:/{{run}}/notes/a.txt"),
          mlflow.artifacts.load_text(f"runs:/{{child.info.run_id}}/c.txt"),
          mlflow.pyfunc.load_model("models:/live/1").predict([[0], [1]])]
"""
    expected = [["notes/a.txt"], "half way", "c", [0, 1]]
    assert client(look) == ["RUNNING"] + expected
    go.touch()
    while runs.json("history", "info", "--run", run)["status"] != "Completed":
        assert time.monotonic() < end
        time.sleep(0.1)
    assert client(look) == ["FINISHED"] + expected


def test_a_child_run_that_the_script_deleted_takes_nothing_until_it_is_restored(runs):
    submit(runs, """
import mlflow
from mlflow.exceptions import MlflowException
client = mlflow.MlflowClient()
with mlflow.start_run() as run:
    with mlflow.start_run(nested=True) as child:
        mlflow.log_metric("a", 1)
    kid = child.info.run_id
    client.delete_run(kid)
    assert client.get_run(kid).info.lifecycle_stage == "deleted"
    for call in (lambda: client.log_metric(kid, "b", 2), lambda: client.log_param(kid, "p", 1), lambda: client.set_tag(kid, "t", 1)):
        try:
            call()
        except MlflowException as refused:
            assert "must be in the 'active' state" in str(refused), refused
        else:
            raise AssertionError("a deleted run took something")
    client.restore_run(kid)
    client.log_metric(kid, "c", 3)
    assert client.get_run(kid).info.lifecycle_stage == "active"
""")
    tracking = Tracking(runs)
    made = runs.json("history", "info", "last")["child_runs"]
    data = tracking.ask("GET", "runs/get", {"run_id": made[0]["run_id"]})["run"]["data"]
    assert sorted(each["key"] for each in data["metrics"]) == ["a", "c"] and "params" not in data


def test_a_model_of_an_earlier_run_is_loaded_by_that_runs_id(runs):
    first = submit(runs, """
import mlflow
class Model(mlflow.pyfunc.PythonModel):
    def predict(self, context, model_input): return [len(model_input)]
with mlflow.start_run():
    mlflow.pyfunc.log_model(name="model", python_model=Model(), pip_requirements=[])
""")
    submit(runs, f"""
import mlflow
uri = "runs:/{first}/model"
with mlflow.start_run() as run:
    assert mlflow.pyfunc.load_model(uri).predict([1, 2, 3]) == [3]
    class Model(mlflow.pyfunc.PythonModel):
        def predict(self, context, model_input): return [0]
    mlflow.pyfunc.log_model(name="model", python_model=Model(), pip_requirements=[])
    assert mlflow.pyfunc.load_model("runs:/" + run.info.run_id + "/model").predict([1]) == [0]
    assert mlflow.pyfunc.load_model(uri).predict([1, 2]) == [2]
""")
