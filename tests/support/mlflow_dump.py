# SPDX-License-Identifier: Apache-2.0
"""All that MLflow's client can learn of a store, as JSON: mlflow_dump.py TRACKING_URI

Without what names the store itself: ids of experiments, addresses of artifacts.
"""
import hashlib
import json
import math
import os
import pathlib
import sys
import tempfile

os.environ.setdefault("GIT_PYTHON_REFRESH", "quiet")
import mlflow  # noqa: E402
from mlflow.entities import ViewType  # noqa: E402
from mlflow.tracking import MlflowClient  # noqa: E402


def number(value):
    return repr(value) if math.isnan(value) or math.isinf(value) else value


def files_of(client, run):
    found = {}
    with tempfile.TemporaryDirectory() as place:
        folders = [""]
        while folders:
            for entry in client.list_artifacts(run.info.run_id, folders.pop() or None):
                if entry.is_dir:
                    folders.append(entry.path)
                else:
                    copy = client.download_artifacts(run.info.run_id, entry.path, place)
                    found[entry.path] = hashlib.sha256(pathlib.Path(copy).read_bytes()).hexdigest()
    return found


def dataset_inputs(run):
    if not run.inputs:
        return []
    return sorted(([d.dataset.name, d.dataset.digest, d.dataset.source_type, d.dataset.source, d.dataset.schema, d.dataset.profile,
                    sorted([t.key, t.value] for t in d.tags)] for d in run.inputs.dataset_inputs), key=str)


def model_links(run):
    inputs = [m.model_id for m in (getattr(run.inputs, "model_inputs", None) or [])]
    outputs = [[m.model_id, m.step] for m in (getattr(run.outputs, "model_outputs", None) or [])]
    return [sorted(inputs), sorted(outputs)]


def dump_run(client, run, names):
    history = {}
    for key in run.data.metrics:
        history[key] = sorted([m.timestamp, m.step, str(number(m.value))] for m in client.get_metric_history(run.info.run_id, key))
    return {"experiment": names[run.info.experiment_id], "name": run.info.run_name, "status": run.info.status,
            "start": run.info.start_time, "end": run.info.end_time, "stage": run.info.lifecycle_stage,
            "params": run.data.params, "tags": run.data.tags,
            "metrics": {key: number(value) for key, value in run.data.metrics.items()},
            "latest": sorted([m.key, str(number(m.value)), m.timestamp, m.step] for m in run.data._metric_objs),
            "history": history, "datasets": dataset_inputs(run), "models": model_links(run),
            "files": files_of(client, run) if run.info.lifecycle_stage == "active" else {}}


def dump_model(model, names):
    return {"experiment": names[str(model.experiment_id)], "name": model.name, "type": model.model_type, "status": str(model.status),
            "run": model.source_run_id, "created": model.creation_timestamp, "updated": model.last_updated_timestamp,
            "tags": model.tags, "params": model.params,
            "metrics": sorted([m.key, str(number(m.value)), m.timestamp, m.step, m.dataset_name, m.dataset_digest, m.run_id]
                              for m in model.metrics or [])}


def dump_version(version):
    return {"stage": version.current_stage, "description": version.description or "", "source": version.source, "run": version.run_id or "",
            "created": version.creation_timestamp, "updated": version.last_updated_timestamp, "tags": version.tags,
            "aliases": sorted(version.aliases), "status": version.status}


def main():
    uri = sys.argv[1]
    mlflow.set_tracking_uri(uri)
    mlflow.set_registry_uri(uri)
    client = MlflowClient()
    experiments = client.search_experiments(view_type=ViewType.ALL)
    names = {e.experiment_id: e.name for e in experiments}
    runs = {}
    for experiment in experiments:
        for run in client.search_runs([experiment.experiment_id], run_view_type=ViewType.ALL, max_results=1000):
            runs[run.info.run_id] = dump_run(client, client.get_run(run.info.run_id), names)
    active = [e.experiment_id for e in experiments if e.lifecycle_stage == "active"]
    models = {m.model_id: dump_model(m, names) for m in client.search_logged_models(experiment_ids=active)}
    registered = {}
    for model in client.search_registered_models():
        versions = client.search_model_versions("name = '%s'" % model.name)
        registered[model.name] = {"description": model.description or "", "created": model.creation_timestamp,
                                  "updated": model.last_updated_timestamp, "tags": model.tags,
                                  "aliases": {a: int(v) for a, v in model.aliases.items()},
                                  "versions": {v.version: dump_version(client.get_model_version(model.name, v.version)) for v in versions}}
    made = {e.name: {"stage": e.lifecycle_stage, "tags": e.tags, "created": None if e.name == "Default" else e.creation_time}
            for e in experiments}
    print("\nDUMP " + json.dumps({"experiments": made, "runs": runs, "models": models, "registered": registered}, sort_keys=True))


if __name__ == "__main__":
    main()
