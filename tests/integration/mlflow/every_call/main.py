# SPDX-License-Identifier: Apache-2.0
"""Every public method of MLflow's client classes, called once: main.py FOLDER

The server is the one that MLFLOW_TRACKING_URI names; it should be empty. Prints one line of JSON for each call: its name, and what came
back or was raised, without ids and times. The last line lists methods that the client has and that are not called here. What is not
about the server (PASSIVE) is not called.
"""
import inspect
import json
import time

import mlflow.artifacts
from calls import MlflowClient, ModelRegistryClient, TrackingServiceClient, called
from metrics import numbers
from mlflow.store.artifact.mlflow_artifacts_repo import MlflowArtifactsRepository
from mlflow.tracing import assessment
from mlflow.tracing import fluent as tracing_fluent
from mlflow.tracing.client import TracingClient
from mlflow.tracking import fluent
from mlflow.tracking._model_registry import fluent as registry_fluent
from otlp import exporters
from registry import elsewhere, prompts, registry, the_end
from traces import fluently, tracing
from tracking import experiments, files, models, runs

CLASSES = [MlflowClient, TrackingServiceClient, ModelRegistryClient, TracingClient, MlflowArtifactsRepository]
MODULES = {"fluent": fluent, "registry": registry_fluent, "artifacts": mlflow.artifacts, "tracing": tracing_fluent,
           "assessment": assessment}
# What the client does by itself.
PASSIVE = {
    "fluent.active_run", "fluent.autolog", "fluent.clear_active_model", "fluent.flush_artifact_async_logging", "fluent.flush_async_logging",
    "fluent.flush_trace_async_logging", "fluent.get_active_model_id", "fluent.import_checkpoints", "MlflowClient.parse_prompt_uri",
    "MlflowClient.get_workspace_store_uri", "MlflowArtifactsRepository.flush_async_logging", "MlflowArtifactsRepository.get_local_path",
    "MlflowArtifactsRepository.resolve_uri", "tracing.get_active_trace_id", "tracing.get_current_active_span",
    "tracing.get_last_active_trace_id", "tracing.update_current_trace", "tracing.start_span_no_context"}


def public():
    """All that the client offers, by the names used here."""
    names = set()
    for kind in CLASSES:
        names |= {f"{kind.__name__}.{name}" for name, member in inspect.getmembers(kind, callable) if not name.startswith("_")}
    for short, module in MODULES.items():
        names |= {f"{short}.{name}" for name, member in inspect.getmembers(module, inspect.isfunction)
                  if not name.startswith("_") and member.__module__ == module.__name__}
    return names


if __name__ == "__main__":
    began = time.monotonic()
    for part in (experiments, runs, files, models, registry, prompts, tracing, numbers, exporters, fluently, elsewhere, the_end):
        part()
    print(json.dumps({"unknown": sorted(public() - called - PASSIVE), "gone": sorted((called | PASSIVE) - public()),
                      "seconds": round(time.monotonic() - began, 1)}), flush=True)
