# SPDX-License-Identifier: Apache-2.0
"""Fills an MLflow store of any kind through the real client, for tests of imports: mlflow_content.py TRACKING_URI FOLDER

FOLDER gets files that become artifacts. Prints nothing; what is made is the same each time but for ids and times.
"""
import math
import os
import pathlib
import sys

import mlflow
from mlflow.entities import Dataset, DatasetInput, InputTag, Metric, Param, RunTag
from mlflow.tracking import MlflowClient


def write_files(folder):
    tree = pathlib.Path(folder) / "files"
    (tree / "plots").mkdir(parents=True, exist_ok=True)
    (tree / "model.bin").write_bytes(bytes(range(256)) * 40)
    (tree / "plots" / "loss curve.svg").write_text("<svg/>")
    (tree / "empty.txt").write_text("")
    return tree


def odd_points(now):
    values = [0.1, 1e-320, -1.5e300, math.nan, math.inf, -math.inf, 0.0, 5.0, 3.14159265358979]
    points = [Metric("odd", value, now + at * 7 % 13, at // 2) for at, value in enumerate(values)]
    points += [Metric("steps", 1.0, now, 2**63 - 1), Metric("steps", 2.0, now, -(2**63)), Metric("steps", 2.0, now + 1, 0)]
    points += [Metric("deep/key with space.x", at / 3, now + at, at) for at in range(50)]
    return points


def make_runs(client, experiment, folder):
    tree = write_files(folder)
    now = 1_700_000_000_000
    first = client.create_run(experiment, start_time=now, run_name="first run", tags={"a": "1", "mlflow.note.content": "two\nlines"})
    client.log_batch(first.info.run_id, metrics=odd_points(now), params=[Param("lr", "0.1"), Param("deep/p", ""), Param("text", "ä" * 300)],
                     tags=[RunTag("param.like", "x"), RunTag("ünï/tag", "später")])
    client.log_artifacts(first.info.run_id, str(tree))
    client.log_inputs(first.info.run_id, [DatasetInput(
        Dataset("numbers", "d1", "local", '{"uri": "x"}', schema='{"s": 1}', profile='{"rows": 3}'), [InputTag("mlflow.data.context", "training")])])
    client.set_terminated(first.info.run_id, "FINISHED", end_time=now + 5000)
    for status in ["FAILED", "KILLED"]:
        run = client.create_run(experiment, start_time=now + 10, run_name=status)
        client.set_terminated(run.info.run_id, status, end_time=now + 60)
    client.create_run(experiment, start_time=now + 20)  # runs on for ever
    gone = client.create_run(experiment, start_time=now + 30, run_name="gone")
    client.log_metric(gone.info.run_id, "m", 1.0, timestamp=now, step=0)
    client.delete_run(gone.info.run_id)
    return first.info.run_id


def make_models(client, experiment, run_id):
    if hasattr(client, "create_logged_model"):
        model = client.create_logged_model(experiment, name="net", source_run_id=run_id, tags={"t": "1"}, params={"depth": "3"}, model_type="cnn")
        client.log_metric(run_id, "score", 0.5, timestamp=1_700_000_000_100, step=1, model_id=model.model_id, dataset_name="numbers", dataset_digest="d1")
        client.finalize_logged_model(model.model_id, "READY")
    client.create_registered_model("digits", tags={"team": "x"}, description="Reads digits")
    source = client.get_run(run_id).info.artifact_uri + "/plots"
    for number in range(3):
        client.create_model_version("digits", source, run_id=run_id, tags={"n": str(number)}, description="Version %d" % number)
    client.set_registered_model_alias("digits", "best", 2)
    client.transition_model_version_stage("digits", 1, "Production")
    client.delete_model_version("digits", 3)
    client.create_registered_model("empty")


def main():
    uri, folder = sys.argv[1:3]
    mlflow.set_tracking_uri(uri)
    mlflow.set_registry_uri(uri)
    client = MlflowClient()
    experiment = client.create_experiment("Vision: Ünïcode", tags={"kind": "test", "long": "x" * 1000})
    run_id = make_runs(client, experiment, folder)
    make_models(client, experiment, run_id)
    client.create_run("0", start_time=1_700_000_000_500, run_name="in Default")
    hidden = client.create_experiment("set aside")
    client.create_run(hidden, start_time=1_700_000_000_600, run_name="with it")
    client.delete_experiment(hidden)


if __name__ == "__main__":
    os.environ.setdefault("GIT_PYTHON_REFRESH", "quiet")
    main()
