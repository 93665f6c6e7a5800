# SPDX-License-Identifier: Apache-2.0
"""Spans as exporters of OpenTelemetry send them: in both forms, packed or not, without MLflow's client in between."""
import gzip
import json
import zlib

from calls import URI, c, call
from google.protobuf.json_format import MessageToDict
from mlflow.tracing.client import TracingClient
from mlflow.utils.credentials import get_default_host_creds
from mlflow.utils.rest_utils import http_request
from opentelemetry.proto.collector.trace.v1.trace_service_pb2 import ExportTraceServiceRequest

BEGIN = 1_700_000_000_000_000_000
PROTOBUF, JSON = "application/x-protobuf", "application/json"


def request_of(number):
    """A root with a part, with values of every kind."""
    request = ExportTraceServiceRequest()
    group = request.resource_spans.add()
    pair(group.resource.attributes, "service.name").string_value = "shop"
    for at, name in enumerate(("root", "part")):
        span = group.scope_spans.add().spans.add(name=name, trace_id=bytes([number + 1] * 16), span_id=bytes([at + 1] * 8),
                                                 parent_span_id=b"" if at == 0 else bytes([1] * 8),
                                                 start_time_unix_nano=BEGIN + at, end_time_unix_nano=BEGIN + 5_000_000 - at)
        span.status.code = at + 1
        pair(span.attributes, "text").string_value = "é \U0001f600"
        pair(span.attributes, "whole").int_value = -(2 ** 53) - 1
        pair(span.attributes, "real").double_value = 0.5
        pair(span.attributes, "flag").bool_value = False
        values = pair(span.attributes, "list").array_value.values
        values.add().int_value = 7
        values.add().string_value = ""
        pair(pair(span.attributes, "map").kvlist_value.values, "inner").string_value = "v"
        pair(span.events.add(time_unix_nano=BEGIN + 1, name="said").attributes, "what").string_value = "hi"
    return request


def pair(pairs, key):
    entry = pairs.add()
    entry.key = key
    return entry.value


def as_json(request):
    """As the protocol has it: ids in hex digits, where protocol buffers would have base64."""
    text = MessageToDict(request)
    for group, sent in zip(text["resourceSpans"], request.resource_spans):
        for scope, sent_scope in zip(group["scopeSpans"], sent.scope_spans):
            for span, sent_span in zip(scope["spans"], sent_scope.spans):
                span["traceId"], span["spanId"] = sent_span.trace_id.hex(), sent_span.span_id.hex()
                if sent_span.parent_span_id:
                    span["parentSpanId"] = sent_span.parent_span_id.hex()
    return json.dumps(text).encode()


def exporters():
    t = TracingClient(URI)
    experiment = c.create_experiment("exporters")

    def send(kind, body, encoding=None):
        headers = {"Content-Type": kind, "x-mlflow-experiment-id": experiment, **({"Content-Encoding": encoding} if encoding else {})}
        return http_request(get_default_host_creds(URI), "/v1/traces", "POST", data=body, extra_headers=headers)

    def shown(number):
        trace = t.get_trace("tr-" + bytes([number + 1] * 16).hex())
        return [trace.info.state, trace.info.execution_duration, [[span.name, span.attributes, str(span.status.status_code),
                                                                   [[event.name, event.attributes] for event in span.events]] for span in trace.data.spans]]

    forms = ((PROTOBUF, lambda r: r.SerializeToString()), (JSON + "; charset=utf-8", as_json))
    packers = ((None, bytes), ("gzip", gzip.compress), ("deflate", zlib.compress))
    for at, (kind, encoding, write, pack) in enumerate((kind, encoding, write, pack) for kind, write in forms for encoding, pack in packers):
        name = f"TracingClient.log_spans by_an_exporter {kind.split(';')[0]} {encoding}"
        call(name, lambda at=at, kind=kind, encoding=encoding, write=write, pack=pack: send(kind, pack(write(request_of(at))), encoding).status_code)
        call(name + " shown", lambda at=at: shown(at))
    for name, kind, body, encoding in (("no_spans", JSON, b"{}", None), ("no_json", JSON, b"{", None), ("no_gzip", PROTOBUF, b"x", "gzip"),
                                       ("cut", PROTOBUF, gzip.compress(b"x" * 1000)[:-9], "gzip"), ("encoding", PROTOBUF, b"x", "br"),
                                       ("type", "text/plain", b"x", None)):
        call("TracingClient.log_spans by_an_exporter " + name, lambda kind=kind, body=body, encoding=encoding: send(kind, body, encoding).status_code)
