# SPDX-License-Identifier: Apache-2.0
"""What people do with MLflow's client, on ponk."""


def test_the_first_script_of_the_manual(client, ponk):
    answer = client("""
mlflow.set_experiment("digits")
with mlflow.start_run(run_name="first") as run:
    mlflow.log_param("lr", 0.1)
    mlflow.log_params({"epochs": 3, "note": "žluť"})
    for step in range(5):
        mlflow.log_metric("loss", 1 / (step + 1), step=step)
    mlflow.log_metrics({"accuracy": 0.9, "nan": math.nan, "inf": math.inf})
    mlflow.set_tag("team", "blue")
    mlflow.set_tags({"a": 1, "b": ""})
got = client.get_run(run.info.run_id)
answer = {"id": run.info.run_id, "status": got.info.status, "name": got.info.run_name, "params": got.data.params,
          "loss": got.data.metrics["loss"], "nan": str(got.data.metrics["nan"]), "inf": got.data.metrics["inf"],
          "team": got.data.tags["team"], "b": got.data.tags["b"], "uri": got.info.artifact_uri,
          "user": got.data.tags["mlflow.user"], "ended": got.info.end_time >= got.info.start_time > 0}
""")
    assert answer["status"] == "FINISHED" and answer["name"] == "first" and answer["ended"]
    assert answer["params"] == {"lr": "0.1", "epochs": "3", "note": "žluť"}
    assert answer["loss"] == 0.2 and answer["nan"] == "nan" and answer["inf"] == 1.7976931348623157e308
    assert answer["team"] == "blue" and answer["b"] == "" and answer["user"]
    assert answer["uri"] == f"mlflow-artifacts:/1/{answer['id']}/artifacts"
    # The same run for ponk.
    record = ponk.json("history", "info", answer["id"])
    assert record["status"] == "Completed" and record["metrics"]["loss"] == 0.2
    assert [project["name"] for project in ponk.json("project", "list")] == ["digits"]


def test_without_an_experiment_it_is_the_default_one(client):
    assert client("""
with mlflow.start_run() as run:
    pass
answer = [run.info.experiment_id, client.get_experiment("0").name, len(run.info.run_name.split("-"))]
""") == ["0", "Default", 3]


def test_a_run_is_taken_up_again(client):
    assert client("""
with mlflow.start_run() as run:
    mlflow.log_param("p", 1)
with mlflow.start_run(run_id=run.info.run_id, tags={"again": "yes"}):
    during = client.get_run(run.info.run_id).info.status
    mlflow.log_metric("m", 2)
got = client.get_run(run.info.run_id)
answer = [during, got.info.status, got.data.tags["again"], got.data.metrics["m"]]
""") == ["RUNNING", "FINISHED", "yes", 2.0]


def test_nested_runs_and_failures(client):
    answer = client("""
with mlflow.start_run() as parent:
    with mlflow.start_run(nested=True) as child:
        pass
try:
    with mlflow.start_run() as broken:
        raise ValueError("no")
except ValueError:
    pass
got = client.search_runs(["0"], f"tags.mlflow.parentRunId = '{parent.info.run_id}'")
answer = [[run.info.run_id for run in got] == [child.info.run_id], client.get_run(broken.info.run_id).info.status]
""")
    assert answer == [True, "FAILED"]


def test_experiments_live_and_die(client):
    answer = client("""
one = client.create_experiment("one", tags={"k": "v"})
two = client.create_experiment("two", artifact_location="s3://bucket/x")
run = client.create_run(one)
client.rename_experiment(one, "uno")
client.set_experiment_tag(one, "n", "1")
client.delete_experiment(two)
answer = {"names": [e.name for e in client.search_experiments(order_by=["name"])],
          "gone": client.get_experiment(two).lifecycle_stage,
          "tagged": [e.name for e in client.search_experiments(filter_string="tags.k = 'v'")],
          "location": client.get_experiment(two).artifact_location, "tags": client.get_experiment(one).tags}
client.restore_experiment(two)
answer["back"] = client.get_experiment_by_name("two").lifecycle_stage
try:
    client.create_experiment("uno")
except MlflowException as error:
    answer["code"] = error.error_code
answer["none"] = client.get_experiment_by_name("none")
""")
    assert answer == {"names": ["Default", "uno"], "gone": "deleted", "tagged": ["uno"], "location": "s3://bucket/x",
                      "tags": {"k": "v", "n": "1"}, "back": "active", "code": "RESOURCE_ALREADY_EXISTS", "none": None}


def test_searches_with_pages_and_orders(client):
    answer = client("""
mlflow.set_experiment("s")
for i in range(7):
    with mlflow.start_run(run_name=f"r{i}"):
        mlflow.log_param("even", i % 2 == 0)
        mlflow.log_metric("score", i)
ids = [client.get_experiment_by_name("s").experiment_id]
names, token = [], None
while True:
    page = client.search_runs(ids, "metrics.score > 1", order_by=["metrics.score DESC"], max_results=2, page_token=token)
    names += [run.info.run_name for run in page]
    token = page.token
    if not token:
        break
frame = mlflow.search_runs(experiment_names=["s"], filter_string="params.even = 'True'", order_by=["metrics.score"])
answer = [names, list(frame["metrics.score"]), len(client.search_runs(ids, "attributes.status = 'FINISHED'"))]
try:
    client.search_runs(ids, "metrics.score == 1")
except MlflowException as error:
    answer.append(error.error_code)
""")
    assert answer == [["r6", "r5", "r4", "r3", "r2"], [0.0, 2.0, 4.0, 6.0], 7, "INVALID_PARAMETER_VALUE"]


def test_histories_of_metrics(client):
    answer = client("""
from mlflow.entities import Metric
run = client.create_run("0").info.run_id
for start in range(0, 30000, 1000):
    client.log_batch(run, metrics=[Metric("m", float(i), i, i) for i in range(start, start + 1000)])
history = client.get_metric_history(run, "m")
answer = [len(history), [p.value for p in history] == [float(i) for i in range(30000)], client.get_metric_history(run, "x")]
""")
    assert answer == [30000, True, []]


def test_parameters_are_written_once(client):
    answer = client("""
run = client.create_run("0").info.run_id
client.log_param(run, "p", 1)
client.log_param(run, "p", 1)
try:
    client.log_param(run, "p", 2)
except MlflowException as error:
    answer = [error.error_code, "Changing param values is not allowed" in str(error)]
""")
    assert answer == ["INVALID_PARAMETER_VALUE", True]


def test_deleted_runs(client):
    answer = client("""
run = client.create_run("0").info.run_id
client.set_tag(run, "t", 1)
client.delete_tag(run, "t")
client.delete_run(run)
before = [client.get_run(run).info.lifecycle_stage, len(client.search_runs(["0"]))]
try:
    client.log_metric(run, "m", 1)
except MlflowException as error:
    before.append(error.error_code)
client.restore_run(run)
client.update_run(run, status="KILLED", name="ended")
client.set_terminated(run, "FINISHED")
answer = before + [client.get_run(run).info.status, client.get_run(run).info.run_name]
""")
    assert answer == ["deleted", 0, "INVALID_PARAMETER_VALUE", "FINISHED", "ended"]


def test_logging_in_the_background(client):
    answer = client("""
with mlflow.start_run() as run:
    for step in range(500):
        mlflow.log_metric("m", step, step=step, synchronous=False)
    mlflow.log_params({f"p{i}": i for i in range(250)}, synchronous=False)
    mlflow.flush_async_logging()
got = client.get_run(run.info.run_id)
answer = [len(client.get_metric_history(run.info.run_id, "m")), len(got.data.params), got.data.metrics["m"]]
""")
    assert answer == [500, 250, 499.0]


def test_a_run_of_ponk_is_a_run_of_the_client(client, ponk):
    ponk.write("train.py", "import ponk\nponk.log('loss', 0.25)\n")
    ponk.run("submit", "train.py")
    number = ponk.json("history", "last")["run_id"]
    answer = client(f"""
run = client.get_run("{number}")
client.set_tag(run.info.run_id, "seen", "yes")
client.update_run(run.info.run_id, status="RUNNING")
found = client.search_runs([run.info.experiment_id], "metrics.loss < 1 AND run_name = 'train.py-1'")
answer = [run.info.status, run.data.metrics["loss"], run.data.tags["mlflow.source.name"], len(found),
          client.get_run(run.info.run_id).info.status]
""")
    assert answer == ["FINISHED", 0.25, "train.py", 1, "FINISHED"]
    assert ponk.json("history", "info", number)["tags"]["seen"] == "yes"
