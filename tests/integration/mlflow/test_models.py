# SPDX-License-Identifier: Apache-2.0
"""Models, the registry, prompts, datasets and traces with MLflow's own client, on ponk.

Whatever moves files needs the artifact routes of the server.
"""

MODEL = """
from sklearn.linear_model import LinearRegression
fitted = LinearRegression().fit([[0.0], [1.0], [2.0]], [1.0, 3.0, 5.0])
"""


def test_a_model_is_logged_registered_and_loaded_back(client):
    answer = client(MODEL + """
mlflow.set_experiment("lines")
with mlflow.start_run() as run:
    info = mlflow.sklearn.log_model(fitted, name="line", registered_model_name="line",
                                    params={"order": 1}, input_example=[[1.0]])
    mlflow.log_metric("mse", 0.25, model_id=info.model_id)
loaded = mlflow.sklearn.load_model("models:/line/1")
again = mlflow.pyfunc.load_model(info.model_uri)
model = client.get_logged_model(info.model_id)
answer = {"predicted": round(float(loaded.predict([[3.0]])[0]), 6), "again": round(float(again.predict([[3.0]])[0]), 6),
          "status": str(model.status), "params": model.params, "metrics": [[m.key, m.value] for m in model.metrics],
          "versions": json.loads(model.tags["mlflow.modelVersions"]),
          "outputs": [o.model_id for o in client.get_run(run.info.run_id).outputs.model_outputs] == [info.model_id],
          "found": [m.name for m in mlflow.search_logged_models(experiment_ids=[run.info.experiment_id],
                    filter_string="metrics.mse < 0.5 AND params.order = '1'", output_format="list")]}
""")
    assert answer["predicted"] == answer["again"] == 7
    assert answer["status"] == "READY" and answer["params"]["order"] == "1"
    assert answer["metrics"] == [["mse", 0.25]] and answer["outputs"] and answer["found"] == ["line"]
    # Once by the server, and once by the client, which writes it as a text.
    assert answer["versions"] == [{"name": "line", "version": 1}, {"name": "line", "version": "1"}]


def test_logged_models_without_files(client):
    answer = client("""
mlflow.set_experiment("bare")
made = {}
with mlflow.start_run():
    for name, value in (("a", 0.1), ("b", 0.9), ("c", None)):
        model = mlflow.initialize_logged_model(name=name, model_type="agent", tags={"t": name}, params={"p": name})
        made[name] = model.model_id
        if value is not None:
            mlflow.log_metric("acc", value, model_id=model.model_id)
    mlflow.finalize_logged_model(made["a"], "READY")
def names(**query):
    return [m.name for m in mlflow.search_logged_models(output_format="list", **query)]
client.set_logged_model_tags(made["a"], {"x": "1"})
client.delete_logged_model_tag(made["a"], "t")
answer = {"best": names(order_by=[{"field_name": "metrics.acc", "ascending": False}]),
          "filter": names(filter_string="tags.t = 'b' AND params.p = 'b'"),
          "pages": names(max_results=2), "tags": client.get_logged_model(made["a"]).tags,
          "ready": [str(client.get_logged_model(made[n]).status) for n in "ab"]}
client.delete_logged_model(made["c"])
answer["left"] = sorted(names())
""")
    assert answer["best"] == ["b", "a", "c"] and answer["filter"] == ["b"]
    assert answer["pages"] == ["c", "b"] and answer["left"] == ["a", "b"]
    assert answer["tags"]["x"] == "1" and "t" not in answer["tags"]
    assert answer["ready"] == ["READY", "PENDING"]


def test_the_registry(client):
    answer = client("""
client.create_registered_model("m", tags={"team": "x"}, description="words")
for number in range(3):
    client.create_model_version("m", f"s3://bucket/{number}", tags={"n": str(number)})
client.set_registered_model_alias("m", "champion", "2")
client.set_model_version_tag("m", "2", "k", "v")
client.update_model_version("m", "2", description="second")
client.transition_model_version_stage("m", "1", "Staging")
client.transition_model_version_stage("m", "3", "staging", archive_existing_versions=True)
by_alias = client.get_model_version_by_alias("m", "champion")
answer = {"alias": [by_alias.version, by_alias.description, by_alias.tags, list(by_alias.aliases)],
          "stages": {v.version: v.current_stage for v in client.search_model_versions("name = 'm'")},
          "latest": [v.version for v in client.get_latest_versions("m", ["Staging"])],
          "uri": client.get_model_version_download_uri("m", "3"),
          "tagged": [v.version for v in client.search_model_versions("tags.n = '1'")],
          "models": [m.name for m in client.search_registered_models("tags.team = 'x'")],
          "aliases": client.get_registered_model("m").aliases}
client.delete_registered_model_alias("m", "champion")
client.delete_model_version("m", "3")
client.rename_registered_model("m", "n")
answer["next"] = client.create_model_version("n", "s3://bucket/4").version
answer["refused"] = []
for call in (lambda: client.create_registered_model("n"), lambda: client.get_registered_model("m"),
             lambda: client.get_model_version_by_alias("n", "champion"),
             lambda: client.create_model_version("n", "/etc/passwd")):
    try:
        call()
    except MlflowException as error:
        answer["refused"].append(error.error_code)
client.delete_registered_model("n")
answer["left"] = len(client.search_registered_models())
""")
    assert answer["alias"] == ["2", "second", {"n": "1", "k": "v"}, ["champion"]] or answer["alias"][0] == 2
    assert {str(k): v for k, v in answer["stages"].items()} == {"1": "Archived", "2": "None", "3": "Staging"}
    assert [str(v) for v in answer["latest"]] == ["3"] and answer["uri"] == "s3://bucket/2"
    assert [str(v) for v in answer["tagged"]] == ["2"] and answer["models"] == ["m"]
    assert {k: str(v) for k, v in answer["aliases"].items()} == {"champion": "2"}
    assert str(answer["next"]) == "4" and answer["left"] == 0
    assert answer["refused"] == ["RESOURCE_ALREADY_EXISTS", "RESOURCE_DOES_NOT_EXIST", "INVALID_PARAMETER_VALUE",
                                 "INVALID_PARAMETER_VALUE"]


def test_prompts(client):
    answer = client("""
first = mlflow.genai.register_prompt(name="greet", template="Hello {{name}}", commit_message="first")
second = mlflow.genai.register_prompt(name="greet", template="Hi {{name}}", tags={"tone": "short"})
mlflow.genai.set_prompt_alias("greet", alias="live", version=1)
loaded = mlflow.genai.load_prompt("prompts:/greet@live")
answer = {"versions": [first.version, second.version], "text": loaded.template, "said": loaded.format(name="Ann"),
          "found": [p.name for p in mlflow.genai.search_prompts()],
          "models": [m.name for m in client.search_registered_models()]}
""")
    assert answer["versions"] == [1, 2] and answer["text"] == "Hello {{name}}" and answer["said"] == "Hello Ann"
    assert answer["found"] == ["greet"] and answer["models"] == []


def test_datasets_of_a_run(client):
    answer = client("""
import pandas
mlflow.set_experiment("data")
iris = mlflow.data.from_pandas(pandas.DataFrame({"x": [1.0, 2.0], "y": [0, 1]}), name="iris")
with mlflow.start_run() as run:
    mlflow.log_input(iris, context="training", tags={"part": "1"})
    mlflow.log_input(iris, context="again")
with mlflow.start_run():
    pass
inputs = client.get_run(run.info.run_id).inputs.dataset_inputs
def found(text):
    return [r.info.run_id for r in client.search_runs([run.info.experiment_id], text)]
answer = {"names": [i.dataset.name for i in inputs], "tags": [{t.key: t.value for t in i.tags} for i in inputs],
          "rows": json.loads(inputs[0].dataset.profile)["num_rows"],
          "found": found("dataset.name = 'iris' AND dataset.context = 'training'") == [run.info.run_id],
          "by_digest": found(f"dataset.digest = '{iris.digest}'") == [run.info.run_id],
          "none": found("dataset.name = 'wine'")}
""")
    assert answer["names"] == ["iris"] and answer["rows"] == 2
    assert answer["tags"] == [{"mlflow.data.context": "training", "part": "1"}]
    assert answer["found"] and answer["by_digest"] and answer["none"] == []


def test_a_traced_function(client):
    answer = client("""
mlflow.set_experiment("traced")
@mlflow.trace
def double(x):
    return 2 * x
double(4)
mlflow.flush_trace_async_logging()
experiment = client.get_experiment_by_name("traced").experiment_id
trace_id = mlflow.get_last_active_trace_id()
mlflow.set_trace_tag(trace_id, "mine", "1")
found = client.search_traces(experiment_ids=[experiment], filter_string="trace.status = 'OK' AND tags.mine = '1'",
                             include_spans=False)
info = found[0].info
answer = {"same": [t.info.trace_id for t in found] == [trace_id], "state": str(info.state.value),
          "name": info.tags.get("mlflow.traceName"), "request": info.request_preview, "mine": info.tags["mine"]}
client.delete_traces(experiment, trace_ids=[trace_id])
answer["left"] = len(client.search_traces(experiment_ids=[experiment], include_spans=False))
""")
    assert answer["same"] and answer["state"] == "OK" and answer["name"] == "double"
    assert "4" in answer["request"] and answer["mine"] == "1" and answer["left"] == 0
