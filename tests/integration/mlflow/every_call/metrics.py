# SPDX-License-Identifier: Apache-2.0
"""Numbers about traces: each metric, aggregation, dimension, filter and bucket, asked of the same traces."""
import mlflow
from calls import URI, c, call
from mlflow.entities import AssessmentSource, Feedback, TraceInfo, TraceLocation, TraceState
from mlflow.entities.trace_metrics import AggregationType, MetricAggregation, MetricViewType
from mlflow.tracing.client import TracingClient

BEGIN = 1_700_000_000_000  # 2023-11-14 22:13:20
MINUTE = 60_000
COUNT, SUM, AVG, MIN, MAX = (MetricAggregation(kind) for kind in (AggregationType.COUNT, AggregationType.SUM, AggregationType.AVG,
                                                                 AggregationType.MIN, AggregationType.MAX))
PERCENTILES = [MetricAggregation(AggregationType.PERCENTILE, value) for value in (0, 12.5, 50, 90, 99.9, 100)]
STATISTICS = [SUM, AVG, MIN, MAX, *PERCENTILES]
TRACES, SPANS, ASSESSMENTS = MetricViewType.TRACES, MetricViewType.SPANS, MetricViewType.ASSESSMENTS


def measured(t, experiment):
    """Traces with fixed times: half of them from spans, the others without."""
    for i, (name, state, took, session) in enumerate((("plan", "OK", 10, "one"), ("plan", "ERROR", 25, "one"), ("answer", "OK", 400, "two"),
                                                      ("answer", "OK", 90, None), (None, "OK", 7, None))):
        metadata = {"mlflow.trace.tokenUsage": f'{{"input_tokens": {10 * i}, "output_tokens": {i}, "total_tokens": {11 * i}}}'} if i else {}
        metadata |= {"mlflow.trace.session": session} if session else {}
        t.start_trace(TraceInfo(f"tr-{i:032x}", TraceLocation.from_experiment_id(experiment), BEGIN + i * MINUTE, TraceState(state),
                                execution_duration=took, trace_metadata={"k": str(i % 2), **metadata},
                                tags={"a-b": str(i), **({"mlflow.traceName": name} if name else {})}))
    called = []
    for i in range(3):
        root = c.start_trace("called", experiment_id=experiment, start_time_ns=(BEGIN + i * MINUTE) * 1_000_000)
        for j in range(2):
            span = c.start_span(f"model {j}", root.trace_id, root.span_id, span_type="LLM", start_time_ns=(BEGIN + i * MINUTE + j) * 1_000_000)
            span.set_attributes({"mlflow.llm.model": f"m{j}", "mlflow.llm.provider": "them",
                                 "mlflow.llm.cost": {"input_cost": 0.25 * i, "output_cost": 0.5, "total_cost": 0.25 * i + 0.5},
                                 "mlflow.chat.tokenUsage": {"input_tokens": 3 + i, "output_tokens": 2, "total_tokens": 5 + i}})
            c.end_span(root.trace_id, span.span_id, status="ERROR" if i == j else "OK",
                       end_time_ns=(BEGIN + i * MINUTE + 20 * (j + 1)) * 1_000_000 + 999_999)
        c.end_trace(root.trace_id, end_time_ns=(BEGIN + i * MINUTE + 100) * 1_000_000)
        called.append(root.trace_id)
    mlflow.flush_trace_async_logging()
    person = AssessmentSource("HUMAN", "me")
    for i, value in enumerate((True, "yes", " No ", 0.5, "perhaps", None)):
        mlflow.log_feedback(trace_id=f"tr-{i % 5:032x}", name="good", value=value, source=person)
        mlflow.log_expectation(trace_id=called[i % 3], name="wanted", value=i)
    first = t.log_assessment(called[0], Feedback(name="corrected", value=1, source=person))
    mlflow.override_feedback(trace_id=called[0], assessment_id=first.assessment_id, value=2, source=person)
    run = c.create_run(experiment).info.run_id
    c.link_traces_to_run([f"tr-{0:032x}"], run)
    return run


def numbers():
    t = TracingClient(URI)
    experiment = c.create_experiment("numbers")
    run = measured(t, experiment)
    ask = t.store.query_trace_metrics

    def asked(name, view, metric, aggregations, **more):
        def points():
            # Times as texts that the comparison does not take for times of this test.
            return [[point.metric_name, sorted((key, value.replace("T", " at ")) for key, value in point.dimensions.items()),
                     sorted(point.values.items())] for point in ask([experiment], view, metric, aggregations, **more)]
        call("TracingClient.start_trace measured " + name, points)

    buckets = {"time_interval_seconds": 120, "start_time_ms": BEGIN - MINUTE, "end_time_ms": BEGIN + 10 * MINUTE}
    for view, metrics in ((TRACES, {"trace_count": [COUNT], "session_count": [COUNT], "latency": STATISTICS[1:], "input_tokens": STATISTICS,
                                    "output_tokens": STATISTICS, "total_tokens": STATISTICS, "cache_read_input_tokens": STATISTICS}),
                          (SPANS, {"span_count": [COUNT], "latency": STATISTICS[1:], "input_cost": STATISTICS, "total_cost": STATISTICS}),
                          (ASSESSMENTS, {"assessment_count": [COUNT], "assessment_value": STATISTICS[1:]})):
        for metric, aggregations in metrics.items():
            asked(f"{metric} {view}", view, metric, aggregations)
            asked(f"{metric} {view} bucketed", view, metric, aggregations, **buckets)
            asked(f"{metric} {view} two", view, metric, aggregations, **buckets, max_results=2)
            asked(f"{metric} {view} range", view, metric, aggregations, start_time_ms=BEGIN + 1, end_time_ms=BEGIN + MINUTE)
            asked(f"{metric} {view} ok", view, metric, aggregations, filters=["trace.status = 'OK'"])
    for view, metric, aggregations, dimensions in (
            (TRACES, "trace_count", [COUNT], ["trace_name"]), (TRACES, "trace_count", [COUNT], ["trace_status", "trace_name"]),
            (TRACES, "latency", STATISTICS[1:], ["trace_name"]), (TRACES, "total_tokens", STATISTICS, ["trace_name"]),
            (SPANS, "span_count", [COUNT], ["span_name", "span_type", "span_status"]), (SPANS, "latency", [AVG], ["span_name", "span_status"]),
            (SPANS, "span_count", [COUNT], ["span_model_name", "span_model_provider"]), (SPANS, "total_cost", STATISTICS, ["span_model_name"]),
            (ASSESSMENTS, "assessment_count", [COUNT], ["assessment_name", "assessment_value"]),
            (ASSESSMENTS, "assessment_value", STATISTICS[1:], ["assessment_name"])):
        asked(f"{metric} by {' '.join(dimensions)}", view, metric, aggregations, dimensions=dimensions)
        asked(f"{metric} by {' '.join(dimensions)} bucketed", view, metric, aggregations, dimensions=dimensions, **buckets)
    for number, (view, metric, filters) in enumerate((
            (TRACES, "trace_count", ["trace.metadata.k = '1'"]), (TRACES, "trace_count", ["trace.tag.`a-b` = \"2\""]),
            (TRACES, "trace_count", ["trace.tag.mlflow.traceName = 'plan'", "trace.status = 'ERROR'"]),
            (TRACES, "trace_count", ["trace.metadata.`mlflow.trace.session` = 'one'"]),
            (TRACES, "trace_count", [f"trace.metadata.mlflow.sourceRun = '{run}'"]),
            (SPANS, "span_count", ["span.name = 'model 1'", "span.status = 'OK'"]), (SPANS, "span_count", ["span.type = 'LLM'"]),
            (SPANS, "span_count", ["trace.tag.mlflow.traceName = 'called'", "span.status = 'ERROR'"]),
            (ASSESSMENTS, "assessment_count", ["assessment.name = 'good'"]), (ASSESSMENTS, "assessment_count", ["assessment.type = 'expectation'"]),
            (ASSESSMENTS, "assessment_count", ["assessment.name = 'good'", "trace.tag.mlflow.traceName = 'plan'"]))):
        asked(f"{metric} filtered {number}", view, metric, [COUNT], filters=filters)
    asked("wrong metric", SPANS, "trace_count", [COUNT])
    asked("wrong aggregation", TRACES, "latency", [COUNT, SUM])
    asked("wrong dimension", TRACES, "latency", [AVG], dimensions=["span_name", "trace_status"])
    asked("no range", TRACES, "trace_count", [COUNT], time_interval_seconds=60)
