# SPDX-License-Identifier: Apache-2.0
"""Traces, and the functions that people call without a client."""
import io
import json

import mlflow
import mlflow.artifacts
import numpy
import pandas
from calls import FOLDER, URI, ModelRegistryClient, TrackingServiceClient, c, call, called, k
from mlflow.entities import AssessmentError, AssessmentSource, Expectation, Feedback, IssueReference, LoggedModelOutput, TraceInfo, TraceLocation, TraceState
from mlflow.entities.model_registry import PromptVersion
from mlflow.entities.trace_status import TraceStatus
from mlflow.tracing.client import TracingClient


def tracing():
    t, service = TracingClient(URI), TrackingServiceClient(URI)
    run = k.run.info.run_id
    info = TraceInfo("tr-" + "5" * 32, TraceLocation.from_experiment_id(k.exp), 1700000000000, TraceState.OK, execution_duration=5,
                     request_preview="{}", response_preview="3", tags={"x": "y"}, trace_metadata={"a": "b"})
    trace = info.trace_id
    call("TracingClient.start_trace", lambda: t.start_trace(info))
    call("TracingClient.get_trace_info", lambda: t.get_trace_info(trace))
    call("TracingClient.get_trace_info absent", lambda: t.get_trace_info("tr-none"))
    call("TracingClient.set_trace_tag", lambda: t.set_trace_tag(trace, "k", "v"))
    call("TracingClient.set_trace_tags", lambda: t.set_trace_tags(trace, {"l": "w"}))
    call("TracingClient.delete_trace_tag", lambda: t.delete_trace_tag(trace, "k"))
    call("TracingClient.search_traces", lambda: t.search_traces([k.exp], "tags.x = 'y'", include_spans=False))
    call("TracingClient.search_traces wrong", lambda: t.search_traces([k.exp], "bogus = 'y'", include_spans=False))
    root = c.start_trace("work", inputs={"a": 1}, tags={"t": "1"}, experiment_id=k.exp)
    called.update({"MlflowClient.start_trace", "MlflowClient.start_span", "MlflowClient.end_span"})
    inner = c.start_span("part", root.trace_id, root.span_id, inputs={"b": 2})
    c.end_span(root.trace_id, inner.span_id, outputs={"c": 3})
    call("MlflowClient.end_trace", lambda: c.end_trace(root.trace_id, outputs={"d": 4}))
    mlflow.flush_trace_async_logging()
    call("MlflowClient.get_trace", lambda: spans(c.get_trace(root.trace_id)))
    call("MlflowClient.get_trace absent", lambda: c.get_trace("tr-" + "0" * 32))
    call("TracingClient.get_trace", lambda: spans(t.get_trace(root.trace_id)))
    call("TracingClient.batch_get_traces", lambda: [spans(one) for one in t.batch_get_traces([root.trace_id])])
    call("MlflowClient.search_traces", lambda: [spans(one) for one in c.search_traces(experiment_ids=[k.exp], filter_string="name = 'work'")])
    call("MlflowClient.set_trace_tag", lambda: c.set_trace_tag(trace, "m", "n"))
    call("MlflowClient.delete_trace_tag", lambda: c.delete_trace_tag(trace, "m"))
    call("MlflowClient.delete_trace_tag absent", lambda: c.delete_trace_tag(trace, "m"))
    call("MlflowClient.link_traces_to_run", lambda: c.link_traces_to_run([trace], run))
    call("TracingClient.search_traces of_a_run", lambda: t.search_traces([k.exp], f"run_id = '{run}'", include_spans=False))
    call("MlflowClient.unlink_traces_from_run", lambda: c.unlink_traces_from_run([trace], run))
    call("TrackingServiceClient.link_traces_to_run", lambda: service.link_traces_to_run([trace], run))
    call("TrackingServiceClient.unlink_traces_from_run", lambda: service.unlink_traces_from_run([trace], run))
    feedback = Feedback(name="good", value=True, source=AssessmentSource("HUMAN", "me"))
    call("TracingClient.log_assessment", lambda: t.log_assessment(trace, feedback), "assessment")
    assessment = k.id("assessment", "assessment_id")
    call("TracingClient.get_assessment", lambda: t.get_assessment(trace, assessment))
    call("TracingClient.update_assessment", lambda: t.update_assessment(trace, assessment, feedback))
    call("TracingClient.get_trace_info with_assessments", lambda: t.get_trace_info(trace).assessments)
    call("TracingClient.search_traces with_assessments", lambda: t.search_traces([k.exp], "tags.x = 'y'", include_spans=False)[0].info.assessments)
    call("TracingClient.delete_assessment", lambda: t.delete_assessment(trace, assessment))
    assessed(trace, run)
    again = TraceInfo("tr-" + "6" * 32, TraceLocation.from_experiment_id(k.exp), 1700000000000, TraceState.OK,
                      assessments=[Feedback(name="along", value=1), Expectation(name="wanted", value=[1])])
    call("TracingClient.start_trace with_assessments", lambda: t.start_trace(again).assessments)
    call("TracingClient.calculate_trace_filter_correlation", lambda: t.calculate_trace_filter_correlation([k.exp], "tags.x = 'y'", "tags.l = 'w'"))
    for name, one, two, base in (("same", "tags.x = 'y'", "tags.x = 'y'", None), ("none", "tags.x = 'y'", "tags.x = 'z'", None),
                                 ("never", "tags.x = 'y'", "name = 'work'", None), ("base", "tags.x = 'y'", "tags.l = 'w'", "status = 'OK'"),
                                 ("wrong", "bogus = 1", "tags.x = 'y'", None)):
        call("TracingClient.calculate_trace_filter_correlation " + name,
             lambda one=one, two=two, base=base: t.calculate_trace_filter_correlation([k.exp], one, two, base))
    older(t)
    call("TracingClient.get_online_trace_details", lambda: t.get_online_trace_details(trace, "t", "r"))
    for name, text in (("text", "trace.text LIKE '%part%'"), ("no_text", "trace.text LIKE '%nowhere%'"), ("span_name", "span.name = 'part'"),
                       ("span_type", "span.type = 'UNKNOWN'"), ("span_status", "span.status = 'OK'"), ("span_names", "span.name IN ('part', 'x')"),
                       ("one_span", "span.name = 'part' AND span.status = 'ERROR'"), ("span_content", "span.content ILIKE '%PART%'"),
                       ("span_like", "span.name LIKE 'p%'"), ("feedback", "feedback.whole > 2"), ("feedback_less", "feedback.whole < 2"),
                       ("feedback_text", "feedback.yes = 'true'"), ("feedback_null", "feedback.yes IS NULL"),
                       ("expectation", "expectation.text_expected IS NOT NULL"), ("expectation_text", "expectation.yes = 'true'"),
                       ("issue", "issue.id = 'iss-1'")):
        call("TracingClient.search_traces " + name,
             lambda text=text: sorted(one.info.tags.get("mlflow.traceName", "") for one in t.search_traces([k.exp], text, include_spans=False)))
    call("TracingClient.log_spans", lambda: len(t.log_spans(k.exp, c.get_trace(root.trace_id).data.spans)))
    for owner, p in (("MlflowClient", c), ("ModelRegistryClient", ModelRegistryClient(URI, URI))):
        call(f"{owner}.link_prompt_versions_to_trace", lambda: p.link_prompt_versions_to_trace([k.MlflowClient], trace))
    call("TracingClient.link_prompt_versions_to_trace", lambda: t.link_prompt_versions_to_trace(trace, [k.MlflowClient]))
    prompt = PromptVersion("greeting", 2, "Hi")
    call("TracingClient.link_prompt_versions_to_trace by_the_call", lambda: t.store.link_prompts_to_trace(trace, [prompt]))
    call("TracingClient.link_prompt_versions_to_trace absent", lambda: t.store.link_prompts_to_trace("tr-none", [prompt]))
    for name, text in (("prompt", "prompt = 'greeting/2'"), ("other_prompt", "prompt = 'greeting/1'")):
        call("TracingClient.search_traces " + name,
             lambda text=text: [one.info.trace_id for one in t.search_traces([k.exp], text, include_spans=False)])
    call("TracingClient.delete_traces", lambda: t.delete_traces(k.exp, trace_ids=[trace]))
    call("TracingClient.delete_traces of_nothing", lambda: t.delete_traces(k.exp))
    call("MlflowClient.delete_traces", lambda: c.delete_traces(k.exp, max_timestamp_millis=1))


def assessed(trace, run):
    """What mlflow offers for assessments, values of every kind among them."""
    human = AssessmentSource("HUMAN", "me")
    for name, value in (("number", 0.5), ("whole", 3), ("text", "é"), ("yes", True), ("nothing", None), ("list", [1, "a"]), ("map", {"a": 1.5})):
        call("assessment.log_feedback " + name,
             lambda name=name, value=value: mlflow.log_feedback(trace_id=trace, name=name, value=value, source=human, rationale="so",
                                                                metadata={"k": "v"}, span_id="0123456789abcdef"), name)
        if value is not None:
            call("assessment.log_expectation " + name,
                 lambda name=name, value=value: mlflow.log_expectation(trace_id=trace, name=name, value=value, metadata={"k": "v"}), name + "_expected")
    call("assessment.log_feedback failed", lambda: mlflow.log_feedback(trace_id=trace, name="failed", error=ValueError("bad value")).feedback.error.error_message)
    call("assessment.log_feedback with_error", lambda: mlflow.log_feedback(trace_id=trace, name="e", error=AssessmentError("CODE", "message")))
    call("assessment.log_feedback absent", lambda: mlflow.log_feedback(trace_id="tr-" + "0" * 32, name="x", value=1))
    call("assessment.log_feedback of_a_run", lambda: mlflow.log_feedback(trace_id=trace, name="judge", value=1,
                                                                         metadata={"mlflow.assessment.sourceRunId": run}))
    call("assessment.log_assessment", lambda: mlflow.log_assessment(trace, Expectation(name="wanted", value="b", source=human)))
    call("assessment.log_assessment source", lambda: mlflow.log_assessment(trace, Feedback(name="judged", value=1, source=AssessmentSource("LLM_JUDGE", "m"))))
    call("assessment.log_assessment issue", lambda: mlflow.log_assessment(trace, IssueReference("iss-1", "slow", source=human)))
    call("assessment.log_issue", lambda: mlflow.tracing.assessment.log_issue(trace_id=trace, issue_id="iss-1", issue_name="slow", source=human))
    text, wanted = k.id("text", "assessment_id"), k.id("text_expected", "assessment_id")
    call("assessment.get_assessment", lambda: mlflow.get_assessment(trace, text))
    call("assessment.get_assessment expected", lambda: mlflow.get_assessment(trace, k.id("map_expected", "assessment_id")))
    call("assessment.get_assessment absent", lambda: mlflow.get_assessment(trace, "a-none"))
    call("assessment.get_assessment of_no_trace", lambda: mlflow.get_assessment("tr-none", "a-none"))
    call("assessment.update_assessment", lambda: mlflow.update_assessment(trace, text, Feedback(name="better", value=2, metadata={"l": "w"})))
    call("assessment.update_assessment expected", lambda: mlflow.update_assessment(trace, wanted, Expectation(name="more", value={"a": [1]})))
    call("assessment.update_assessment other_kind", lambda: mlflow.update_assessment(trace, wanted, Feedback(name="more", value=1)))
    call("assessment.update_assessment kind_other", lambda: mlflow.update_assessment(trace, text, Expectation(name="more", value=1)))
    call("assessment.update_assessment absent", lambda: mlflow.update_assessment(trace, "a-none", Feedback(name="more", value=1)))
    call("assessment.override_feedback", lambda: mlflow.override_feedback(trace_id=trace, assessment_id=text, value=False, source=human), "other")
    call("assessment.override_feedback expected", lambda: mlflow.override_feedback(trace_id=trace, assessment_id=wanted, value=False))
    call("assessment.get_assessment overridden", lambda: mlflow.get_assessment(trace, text))
    call("assessment.delete_assessment overriding", lambda: mlflow.delete_assessment(trace, k.id("other", "assessment_id")))
    call("assessment.get_assessment valid_again", lambda: mlflow.get_assessment(trace, text))
    call("assessment.delete_assessment absent", lambda: mlflow.delete_assessment(trace, "a-none"))
    call("assessment.delete_assessment of_no_trace", lambda: mlflow.delete_assessment("tr-none", "a-none"))
    call("TracingClient.get_trace_info with_many_assessments",
         lambda: sorted((one.name, str(one.source.source_type), one.valid) for one in TracingClient(URI).get_trace_info(trace).assessments))


def older(t):
    """The calls of MLflow 2, which its present client still has for older servers."""
    call("TracingClient.start_trace of_2", lambda: t.store.deprecated_start_trace_v2(k.exp, 1700000000000, {"a": "b"}, {"mlflow.traceName": "old"}), "old")
    old = k.id("old", "request_id")
    call("TracingClient.start_trace end_of_2",
         lambda: t.store.deprecated_end_trace_v2(old, 1700000000250, TraceStatus.OK, {"c": "d"}, {"e": "f"}))
    call("TracingClient.get_trace_info of_2", lambda: t.get_trace_info(old))
    call("TracingClient.start_trace end_of_none", lambda: t.store.deprecated_end_trace_v2("none", 1700000000250, TraceStatus.OK, {}, {}))


def spans(trace):
    """Names and what went in and out: ids and times are of no interest."""
    return {"info": trace.info, "spans": sorted((span.name, json.dumps(span.inputs), json.dumps(span.outputs)) for span in trace.data.spans)}


def fluently():
    run = None

    def start():
        nonlocal run
        run = mlflow.start_run(run_name="fluent")
        return run

    call("fluent.set_experiment", lambda: mlflow.set_experiment("fluent"), "fluent_experiment")
    experiment = k.id("fluent_experiment", "experiment_id")
    call("fluent.start_run", start)
    call("fluent.log_metric", lambda: mlflow.log_metric("m", 1, 1, timestamp=5))
    call("fluent.log_metrics", lambda: mlflow.log_metrics({"n": 2, "o": 3}, timestamp=5))
    call("fluent.log_param", lambda: mlflow.log_param("p", 1))
    call("fluent.log_params", lambda: mlflow.log_params({"q": 1, "r": 2}))
    call("fluent.set_tag", lambda: mlflow.set_tag("t", 1))
    call("fluent.set_tags", lambda: mlflow.set_tags({"u": 1, "v": 2}))
    call("fluent.delete_tag", lambda: mlflow.delete_tag("u"))
    call("fluent.log_text", lambda: mlflow.log_text("text", "a/t.txt"))
    call("fluent.log_dict", lambda: mlflow.log_dict({"a": 1}, "d.json"))
    call("fluent.log_table", lambda: mlflow.log_table({"x": [1]}, "t.json"))
    call("fluent.load_table", lambda: mlflow.load_table("t.json"))
    call("fluent.log_image", lambda: mlflow.log_image(numpy.zeros((4, 4, 3), dtype=numpy.uint8), "i.png"))
    call("fluent.log_figure", lambda: log_figure_fluently())
    call("fluent.log_stream", lambda: mlflow.log_stream(io.BytesIO(b"x"), "s.txt"))
    call("fluent.log_artifact", lambda: mlflow.log_artifact(str(FOLDER / "source" / "a.txt")))
    call("fluent.log_artifacts", lambda: mlflow.log_artifacts(str(FOLDER / "source"), "dir"))
    call("fluent.get_artifact_uri", lambda: mlflow.get_artifact_uri("dir"))
    data = mlflow.data.from_pandas(pandas.DataFrame({"x": [1, 2]}), name="numbers")
    call("fluent.log_input", lambda: mlflow.log_input(data, "train"))
    call("fluent.log_inputs", lambda: mlflow.log_inputs([data], ["test"], [None]))
    call("fluent.initialize_logged_model", lambda: mlflow.initialize_logged_model("net"), "fluent_model")
    model = k.id("fluent_model", "model_id")
    call("fluent.log_model_params", lambda: mlflow.log_model_params({"a": "b"}, model))
    call("fluent.set_logged_model_tags", lambda: mlflow.set_logged_model_tags(model, {"a": "b"}))
    call("fluent.delete_logged_model_tag", lambda: mlflow.delete_logged_model_tag(model, "a"))
    call("fluent.finalize_logged_model", lambda: mlflow.finalize_logged_model(model, "READY"))
    call("fluent.log_outputs", lambda: mlflow.log_outputs([LoggedModelOutput(model, 1)]))
    call("fluent.get_logged_model", lambda: mlflow.get_logged_model(model))
    call("fluent.last_logged_model", mlflow.last_logged_model)
    call("fluent.create_external_model", lambda: mlflow.create_external_model("elsewhere"))
    call("fluent.set_active_model", lambda: mlflow.set_active_model(name="active").model_id[:2])
    mlflow.clear_active_model()
    call("fluent.search_logged_models", lambda: mlflow.search_logged_models([experiment], "name = 'net'", output_format="list"))
    with mlflow.start_run(nested=True, run_name="inner") as inner:
        call("fluent.get_parent_run", lambda: mlflow.get_parent_run(inner.info.run_id).info.run_name)
    call("fluent.end_run", mlflow.end_run)
    call("fluent.last_active_run", lambda: mlflow.last_active_run().info.run_name)
    call("fluent.get_run", lambda: mlflow.get_run(run.info.run_id))
    call("fluent.search_runs", lambda: mlflow.search_runs([experiment], output_format="list"))
    call("fluent.delete_run", lambda: mlflow.delete_run(inner.info.run_id))
    call("fluent.restore_run", lambda: mlflow.restore_run(inner.info.run_id))
    call("fluent.get_experiment", lambda: mlflow.get_experiment(experiment))
    call("fluent.get_experiment_by_name", lambda: mlflow.get_experiment_by_name("fluent"))
    call("fluent.set_experiment_tag", lambda: mlflow.set_experiment_tag("k", "v"))
    call("fluent.set_experiment_tags", lambda: mlflow.set_experiment_tags({"l": "w"}))
    call("fluent.delete_experiment_tag", lambda: mlflow.delete_experiment_tag("k"))
    call("fluent.search_experiments", lambda: mlflow.search_experiments(filter_string="name = 'fluent'"))
    call("fluent.create_experiment", lambda: mlflow.create_experiment("fluent two"), "second")
    call("fluent.delete_experiment", lambda: mlflow.delete_experiment(k.second))
    call("fluent.restore_experiment", lambda: mlflow.restore_experiment(k.second))
    source = f"runs:/{run.info.run_id}"
    call("artifacts.list_artifacts", lambda: mlflow.artifacts.list_artifacts(run_id=run.info.run_id))
    call("artifacts.download_artifacts", lambda: mlflow.artifacts.download_artifacts(source + "/dir", dst_path=str(FOLDER / "fluent")))
    call("artifacts.download_artifacts absent", lambda: mlflow.artifacts.download_artifacts(source + "/none"))
    call("artifacts.load_text", lambda: mlflow.artifacts.load_text(source + "/a/t.txt"))
    call("artifacts.load_dict", lambda: mlflow.artifacts.load_dict(source + "/d.json"))
    call("artifacts.load_image", lambda: mlflow.artifacts.load_image(source + "/i.png").size)
    call("registry.register_model", lambda: mlflow.register_model(f"models:/{model}", "fluent"))
    call("registry.set_model_version_tag", lambda: mlflow.set_model_version_tag("fluent", "1", "k", "v"))
    call("registry.search_registered_models", lambda: mlflow.search_registered_models(filter_string="name = 'fluent'"))
    call("registry.search_model_versions", lambda: mlflow.search_model_versions(filter_string="name = 'fluent'"))
    call("registry.register_prompt", lambda: mlflow.genai.register_prompt("fluently", "Hi {{x}}"))
    call("registry.set_prompt_alias", lambda: mlflow.genai.set_prompt_alias("fluently", "live", 1))
    call("registry.load_prompt", lambda: mlflow.genai.load_prompt("prompts:/fluently@live"))
    call("registry.search_prompts", lambda: mlflow.genai.search_prompts())
    call("registry.delete_prompt_alias", lambda: mlflow.genai.delete_prompt_alias("fluently", "live"))
    call("tracing.trace", lambda: mlflow.trace(lambda x: 2 * x)(21))
    mlflow.flush_trace_async_logging()
    trace = mlflow.get_last_active_trace_id()
    call("tracing.get_trace", lambda: spans(mlflow.get_trace(trace)))
    call("tracing.search_traces", lambda: [spans(one) for one in mlflow.search_traces(return_type="list")])
    call("tracing.search_sessions", lambda: len(mlflow.search_sessions()))
    call("tracing.set_trace_tag", lambda: mlflow.set_trace_tag(trace, "k", "v"))
    call("tracing.delete_trace_tag", lambda: mlflow.delete_trace_tag(trace, "k"))
    call("tracing.log_trace", lambda: mlflow.log_trace("logged", "in", "out")[:3])
    call("tracing.add_trace", lambda: added(trace))
    call("tracing.start_span", lambda: spanned())


def log_figure_fluently():
    from matplotlib import pyplot
    mlflow.log_figure(pyplot.figure(), "f.png")


def added(trace):
    with mlflow.start_span("outer") as outer:
        mlflow.add_trace(mlflow.get_trace(trace))
    mlflow.flush_trace_async_logging()
    return spans(mlflow.get_trace(outer.trace_id))["spans"]


def spanned():
    with mlflow.start_span("span") as span:
        span.set_inputs(1)
    mlflow.flush_trace_async_logging()
    return spans(mlflow.get_trace(span.trace_id))["spans"]
