# SPDX-License-Identifier: Apache-2.0
"""Experiments, runs, files and logged models."""
import io
import math

import mlflow
import numpy
from calls import FOLDER, URI, TrackingServiceClient, c, call, k
from mlflow.entities import Dataset, DatasetInput, InputTag, LoggedModelInput, LoggedModelOutput, LoggedModelStatus, Metric, Param, RunTag
from mlflow.store.artifact.mlflow_artifacts_repo import MlflowArtifactsRepository

ATTACHMENT = "01234567-89ab-cdef-0123-456789abcdef"


def experiments():
    call("MlflowClient.create_experiment", lambda: c.create_experiment("first", tags={"a": "b"}), "exp")
    call("MlflowClient.create_experiment again", lambda: c.create_experiment("first"))
    call("MlflowClient.create_experiment elsewhere", lambda: c.create_experiment("s3", artifact_location="s3://bucket/x?region=eu"))
    call("MlflowClient.create_experiment in_store", lambda: c.create_experiment("in store", artifact_location="mlflow-artifacts:/team/a"))
    call("MlflowClient.create_experiment by_reference", lambda: c.create_experiment("runs", artifact_location="runs:/x"))
    call("MlflowClient.create_experiment without_name", lambda: c.create_experiment(""))
    call("MlflowClient.create_experiment long_name", lambda: c.create_experiment("x" * 501))
    call("MlflowClient.get_experiment", lambda: c.get_experiment(k.exp))
    call("MlflowClient.get_experiment absent", lambda: c.get_experiment("987654"))
    call("MlflowClient.get_experiment_by_name", lambda: c.get_experiment_by_name("first"))
    call("MlflowClient.get_experiment_by_name absent", lambda: c.get_experiment_by_name("none"))
    call("MlflowClient.set_experiment_tag", lambda: c.set_experiment_tag(k.exp, "k", "v"))
    call("MlflowClient.delete_experiment_tag", lambda: c.delete_experiment_tag(k.exp, "k"))
    call("MlflowClient.delete_experiment_tag absent", lambda: c.delete_experiment_tag(k.exp, "k"))
    call("MlflowClient.rename_experiment", lambda: c.rename_experiment(k.exp, "renamed"))
    call("MlflowClient.rename_experiment taken", lambda: c.rename_experiment(k.exp, "s3"))
    call("MlflowClient.search_experiments", lambda: c.search_experiments(order_by=["experiment_id"]))
    call("MlflowClient.search_experiments filter", lambda: c.search_experiments(filter_string="name LIKE 'ren%' AND tags.a = 'b'"))
    call("MlflowClient.search_experiments lower_case", lambda: c.search_experiments(filter_string="name like 'ren%'"))
    call("MlflowClient.search_experiments page", lambda: c.search_experiments(max_results=1))
    call("MlflowClient.search_experiments wrong", lambda: c.search_experiments(filter_string="bogus = 1"))
    call("MlflowClient.delete_experiment", lambda: c.delete_experiment(k.exp))
    call("MlflowClient.delete_experiment absent", lambda: c.delete_experiment("987654"))
    call("MlflowClient.create_run in_deleted", lambda: c.create_run(k.exp))
    call("MlflowClient.restore_experiment", lambda: c.restore_experiment(k.exp))
    t = TrackingServiceClient(URI)
    call("TrackingServiceClient.create_experiment", lambda: t.create_experiment("low"), "low")
    call("TrackingServiceClient.get_experiment", lambda: t.get_experiment(k.low))
    call("TrackingServiceClient.get_experiment_by_name", lambda: t.get_experiment_by_name("low"))
    call("TrackingServiceClient.set_experiment_tag", lambda: t.set_experiment_tag(k.low, "k", "v"))
    call("TrackingServiceClient.delete_experiment_tag", lambda: t.delete_experiment_tag(k.low, "k"))
    call("TrackingServiceClient.rename_experiment", lambda: t.rename_experiment(k.low, "lower"))
    call("TrackingServiceClient.search_experiments", lambda: t.search_experiments(filter_string="name = 'lower'"))
    call("TrackingServiceClient.delete_experiment", lambda: t.delete_experiment(k.low))
    call("TrackingServiceClient.restore_experiment", lambda: t.restore_experiment(k.low))


DATASET = DatasetInput(Dataset("n", "d", "local", "s", schema="{}", profile="{}"), [InputTag("mlflow.data.context", "train")])


def runs():
    call("MlflowClient.create_run", lambda: c.create_run(k.exp, start_time=1000, tags={"t": "1"}, run_name="one"), "run")
    run = k.run.info.run_id
    call("MlflowClient.create_run of_a_word", lambda: c.create_run("x"))
    call("MlflowClient.log_metric", lambda: c.log_metric(run, "m", 0.5, timestamp=5, step=1))
    call("MlflowClient.log_metric nan", lambda: c.log_metric(run, "nan", math.nan, timestamp=5))
    call("MlflowClient.log_metric wrong_key", lambda: c.log_metric(run, "a$b", 1))
    call("MlflowClient.log_metric absent", lambda: c.log_metric("0" * 32, "m", 1))
    call("MlflowClient.log_param", lambda: c.log_param(run, "p", "1"))
    call("MlflowClient.log_param changed", lambda: c.log_param(run, "p", "2"))
    call("MlflowClient.set_tag", lambda: c.set_tag(run, "k", "v"))
    call("MlflowClient.delete_tag", lambda: c.delete_tag(run, "k"))
    call("MlflowClient.delete_tag absent", lambda: c.delete_tag(run, "k"))
    call("MlflowClient.log_batch", lambda: c.log_batch(run, [Metric("m", 0.7, 6, 2)], [Param("q", "2")], [RunTag("u", "w")]))
    call("MlflowClient.log_inputs", lambda: c.log_inputs(run, [DATASET]))
    call("MlflowClient.get_run", lambda: c.get_run(run))
    call("MlflowClient.get_run absent", lambda: c.get_run("0" * 32))
    call("MlflowClient.get_metric_history", lambda: c.get_metric_history(run, "m"))
    call("MlflowClient.create_run child", lambda: c.create_run(k.exp, 2000, {"mlflow.parentRunId": run}, "two"), "child")
    call("MlflowClient.get_parent_run", lambda: c.get_parent_run(k.child.info.run_id))
    call("MlflowClient.create_run early", lambda: c.create_run(k.exp, start_time=-5, run_name="early"))
    call("MlflowClient.search_runs", lambda: c.search_runs([k.exp], order_by=["start_time"], max_results=2), "page")
    call("MlflowClient.search_runs second_page",
         lambda: c.search_runs([k.exp], order_by=["start_time"], max_results=2, page_token=k.page.token))
    call("MlflowClient.search_runs filter", lambda: c.search_runs([k.exp], "metrics.m > 0.6 AND params.p = '1' AND tags.u like 'w%'"))
    call("MlflowClient.search_runs wrong", lambda: c.search_runs([k.exp], "metrics.m > 'x'"))
    call("MlflowClient.update_run", lambda: c.update_run(run, "FINISHED", "renamed"))
    call("MlflowClient.set_terminated", lambda: c.set_terminated(k.child.info.run_id, "FAILED", end_time=9000))
    call("MlflowClient.delete_run", lambda: c.delete_run(k.child.info.run_id))
    call("MlflowClient.log_param in_deleted", lambda: c.log_param(k.child.info.run_id, "p", "1"))
    call("MlflowClient.restore_run", lambda: c.restore_run(k.child.info.run_id))
    t = TrackingServiceClient(URI)
    call("TrackingServiceClient.create_run", lambda: t.create_run(k.low, run_name="low"), "low_run")
    low = k.low_run.info.run_id
    call("TrackingServiceClient.log_metric", lambda: t.log_metric(low, "m", 1, 5, 0))
    call("TrackingServiceClient.log_param", lambda: t.log_param(low, "p", "1"))
    call("TrackingServiceClient.set_tag", lambda: t.set_tag(low, "k", "v"))
    call("TrackingServiceClient.delete_tag", lambda: t.delete_tag(low, "k"))
    call("TrackingServiceClient.log_batch", lambda: t.log_batch(low, [Metric("m", 2, 6, 1)]))
    call("TrackingServiceClient.log_inputs", lambda: t.log_inputs(low, [DATASET]))
    call("TrackingServiceClient.get_metric_history", lambda: t.get_metric_history(low, "m"))
    call("TrackingServiceClient.update_run", lambda: t.update_run(low, name="lower"))
    call("TrackingServiceClient.set_terminated", lambda: t.set_terminated(low))
    call("TrackingServiceClient.get_run", lambda: t.get_run(low))
    call("TrackingServiceClient.search_runs", lambda: t.search_runs([k.low]))
    call("TrackingServiceClient.delete_run", lambda: t.delete_run(low))
    call("TrackingServiceClient.restore_run", lambda: t.restore_run(low))
    call("MlflowClient.create_run unnamed", lambda: c.create_run(k.low, run_name="named"), "unnamed")
    call("MlflowClient.delete_tag of_the_name", lambda: c.delete_tag(k.unnamed.info.run_id, "mlflow.runName"))
    call("MlflowClient.get_run without_its_name_tag", lambda: c.get_run(k.unnamed.info.run_id).data.tags)


def files():
    source = FOLDER / "source"
    (source / "sub").mkdir(parents=True)
    (source / "a.txt").write_text("a")
    (source / "sub" / "b.txt").write_text("b")
    run = k.run.info.run_id

    def place(name):
        target = FOLDER / name
        target.mkdir()
        return str(target)

    call("MlflowClient.log_artifact", lambda: c.log_artifact(run, str(source / "a.txt")))
    call("MlflowClient.log_artifacts", lambda: c.log_artifacts(run, str(source), "dir"))
    call("MlflowClient.log_text", lambda: c.log_text(run, "text", "dir/t.txt"))
    call("MlflowClient.log_dict", lambda: c.log_dict(run, {"x": 1}, "d.json"))
    call("MlflowClient.log_table", lambda: c.log_table(run, {"x": [1]}, "table.json"))
    call("MlflowClient.load_table", lambda: c.load_table(k.exp, "table.json", [run]))
    call("MlflowClient.log_image", lambda: c.log_image(run, numpy.zeros((4, 4, 3), dtype=numpy.uint8), "i.png"))
    call("MlflowClient.log_stream", lambda: c.log_stream(run, io.BytesIO(b"stream"), "s.txt"))
    call("MlflowClient.log_figure", lambda: log_figure(c, run))
    for name, path in (("", None), (" folder", "dir"), (" dot", "."), (" dot_folder", "./dir"), (" folder_dot", "dir/."), (" file", "a.txt"),
                       (" absent", "none"), (" up", "../x"), (" absolute", "/etc")):
        call("MlflowClient.list_artifacts" + name, lambda path=path: c.list_artifacts(run, path))
    for name, path in (("", ""), (" dot", "."), (" dot_folder", "./dir"), (" folder_dot", "dir/."), (" file", "dir/t.txt"), (" absent", "none"),
                       (" up", "../x")):
        call("MlflowClient.download_artifacts" + name,
             lambda path=path, name=name: c.download_artifacts(run, path, place("down" + name.strip())))
    t = TrackingServiceClient(URI)
    low = k.low_run.info.run_id
    call("TrackingServiceClient.log_artifact", lambda: t.log_artifact(low, str(source / "a.txt")))
    call("TrackingServiceClient.log_artifacts", lambda: t.log_artifacts(low, str(source)))
    call("TrackingServiceClient.list_artifacts", lambda: t.list_artifacts(low))
    call("TrackingServiceClient.download_artifacts", lambda: t.download_artifacts(low, "a.txt", place("low")))
    for kind, root in (("", k.run.info.artifact_uri), (" nobodys", "mlflow-artifacts:/team/data")):
        repository = MlflowArtifactsRepository(root, tracking_uri=URI)
        name = kind.strip() or "own"
        call("MlflowArtifactsRepository.log_artifact" + kind, lambda: repository.log_artifact(str(source / "a.txt"), "repo"))
        call("MlflowArtifactsRepository.log_artifacts" + kind, lambda: repository.log_artifacts(str(source), "repo"))
        call("MlflowArtifactsRepository.list_artifacts" + kind, lambda: repository.list_artifacts("repo"))
        call("MlflowArtifactsRepository.download_artifacts" + kind, lambda: repository.download_artifacts("repo", place("repo" + name)))
        call("MlflowArtifactsRepository.delete_artifacts" + kind, lambda: repository.delete_artifacts("repo"))
        call("MlflowArtifactsRepository.list_artifacts gone" + kind, lambda: repository.list_artifacts("repo"))
    traces = MlflowArtifactsRepository("mlflow-artifacts:/team/trace", tracking_uri=URI)
    call("MlflowArtifactsRepository.upload_trace_data", lambda: traces.upload_trace_data('{"spans": []}'))
    call("MlflowArtifactsRepository.download_trace_data", traces.download_trace_data)
    call("MlflowArtifactsRepository.download_trace_data_to_file", lambda: traces.download_trace_data_to_file(FOLDER / "spans.json"))
    call("MlflowArtifactsRepository.upload_attachment", lambda: traces.upload_attachment(ATTACHMENT, b"bytes"))
    call("MlflowArtifactsRepository.download_trace_attachment", lambda: traces.download_trace_attachment(ATTACHMENT))
    call("MlflowArtifactsRepository.download_trace_attachment_to_file",
         lambda: traces.download_trace_attachment_to_file(ATTACHMENT, FOLDER / "attachment.txt"))
    call("MlflowArtifactsRepository.upload_archived_trace_data_bytes", lambda: traces.upload_archived_trace_data_bytes(b"bytes"))
    call("MlflowArtifactsRepository.upload_archived_trace_data", lambda: traces.upload_archived_trace_data(mlflow.entities.TraceData([])))
    call("MlflowArtifactsRepository.download_archived_trace_data", traces.download_archived_trace_data)
    call("MlflowArtifactsRepository.create_multipart_upload", lambda: traces.create_multipart_upload(str(source / "a.txt")))
    call("MlflowArtifactsRepository.complete_multipart_upload", lambda: traces.complete_multipart_upload(str(source / "a.txt"), "u", []))
    call("MlflowArtifactsRepository.abort_multipart_upload", lambda: traces.abort_multipart_upload(str(source / "a.txt"), "u"))


def log_figure(client, run):
    from matplotlib import pyplot
    figure = pyplot.figure()
    client.log_figure(run, figure, "f.png")


def models():
    run = k.run.info.run_id
    call("MlflowClient.create_logged_model", lambda: c.create_logged_model(k.exp, "net", run, {"a": "b"}, {"p": "1"}, "agent"), "model")
    model = k.id("model", "model_id")
    call("MlflowClient.create_logged_model wrong_name", lambda: c.create_logged_model(k.exp, "a/b"))
    call("MlflowClient.log_model_params", lambda: c.log_model_params(model, {"q": "2"}))
    call("MlflowClient.set_logged_model_tags", lambda: c.set_logged_model_tags(model, {"k": "v"}))
    call("MlflowClient.delete_logged_model_tag", lambda: c.delete_logged_model_tag(model, "k"))
    call("MlflowClient.delete_logged_model_tag absent", lambda: c.delete_logged_model_tag(model, "k"))
    call("MlflowClient.log_metric of_a_model", lambda: c.log_metric(run, "acc", 0.9, 7, 1, model_id=model, dataset_name="n", dataset_digest="d"))
    call("MlflowClient.log_outputs", lambda: c.log_outputs(run, [LoggedModelOutput(model, 1)]))
    call("MlflowClient.log_inputs models", lambda: c.log_inputs(run, models=[LoggedModelInput(model)]))
    call("MlflowClient.log_model_artifact", lambda: c.log_model_artifact(model, str(FOLDER / "source" / "a.txt")))
    call("MlflowClient.log_model_artifacts", lambda: c.log_model_artifacts(model, str(FOLDER / "source")))
    call("MlflowClient.list_logged_model_artifacts", lambda: c.list_logged_model_artifacts(model))
    call("MlflowClient.finalize_logged_model", lambda: c.finalize_logged_model(model, "READY"))
    call("MlflowClient.get_logged_model", lambda: c.get_logged_model(model))
    call("MlflowClient.get_logged_model absent", lambda: c.get_logged_model("m-" + "0" * 32))
    for name, text in (("", ""), (" by_metric", "metrics.acc > 0.5"), (" by_experiment", f"experiment_id = '{k.exp}'"),
                       (" by_place", "artifact_location like 'mlflow-artifacts:/%'"), (" wrong", "bogus.x = 1")):
        call("MlflowClient.search_logged_models" + name, lambda text=text: c.search_logged_models([k.exp], text))
    call("MlflowClient.get_run with_models", lambda: c.get_run(run))
    t = TrackingServiceClient(URI)
    call("TrackingServiceClient.create_logged_model", lambda: t.create_logged_model(k.low, "low"), "low_model")
    low = k.id("low_model", "model_id")
    call("TrackingServiceClient.log_model_params", lambda: t.log_model_params(low, {"q": "2"}))
    call("TrackingServiceClient.set_logged_model_tags", lambda: t.set_logged_model_tags(low, {"k": "v"}))
    call("TrackingServiceClient.delete_logged_model_tag", lambda: t.delete_logged_model_tag(low, "k"))
    call("TrackingServiceClient.log_outputs", lambda: t.log_outputs(k.low_run.info.run_id, [LoggedModelOutput(low, 1)]))
    call("TrackingServiceClient.log_model_artifact", lambda: t.log_model_artifact(low, str(FOLDER / "source" / "a.txt")))
    call("TrackingServiceClient.log_model_artifacts", lambda: t.log_model_artifacts(low, str(FOLDER / "source")))
    call("TrackingServiceClient.list_logged_model_artifacts", lambda: t.list_logged_model_artifacts(low))
    call("TrackingServiceClient.finalize_logged_model", lambda: t.finalize_logged_model(low, LoggedModelStatus.READY))
    call("TrackingServiceClient.get_logged_model", lambda: t.get_logged_model(low))
    call("TrackingServiceClient.search_logged_models", lambda: t.search_logged_models([k.low]))
    call("TrackingServiceClient.delete_logged_model", lambda: t.delete_logged_model(low))
