# SPDX-License-Identifier: Apache-2.0
"""Scripts in the shapes of public projects of 2017: the modules, calls and files that those use, in words of our own.

shapes_2017/project is one project with all of them; shapes_2017/project/stand_ins has what such a project found on its path."""
import concurrent.futures
import json
import os
import pathlib
import shutil
import subprocess
import sys

import pytest

from points import metrics_of
from workbench import Ponk, own_metrics

HERE = pathlib.Path(__file__).resolve().parent
sys.path.insert(0, str(HERE.parent / "python"))
from dprep_maker import block, delimited, files, reference, types, write  # noqa: E402

DATA = {
    "data/rates.csv": "1,3\n2,5\n3,7\n4,9\n",
    "data/income.csv": "".join(f"{20 + n}, {'Private' if n % 2 else 'State'}, {'>50K' if n > 5 else '<=50K'}\n" for n in range(12)) + "30, ?, <=50K\n",
    "data/campaign.txt": "the offer of a new phone\nan offer of the year\n",
    "data/digits.txt": "|labels 0 1 |features 1 2\n|labels 1 0 |features 3 4\n",
    "data/resnet.model": "weights\n",
    "data/tiles/forest/0.tif": "x", "data/tiles/forest/1.tif": "xx", "data/tiles/water/0.tif": "x",
    "assets/model.pkl": "old", "assets/model.pkl.link": '{"assetSource": "x"}\n',
    "churn.csv": "age,churn\n20,yes\n30,no\n40,yes\n",
}
ABOUT = pytest.approx
# script and its arguments: metrics (the last value of a series), lengths of series, files in outputs, code.
SHAPES = {
    "iris_sklearn.py 0.5": dict(metrics={"Regularization Rate": 0.5, "Accuracy": 1}, files=["cm.png", "model.pkl", "roc.png"], log="Predicted class is [0]"),
    "iris_sklearn_shared_folder.py": dict(metrics={"Runs before": 0}),
    "iris_score.py": dict(files=["service_schema.json"], log='Result: "'),
    "code/02_modeling/tdsp_modeling.py": dict(metrics={"slope": 2}, files=["model.pkl"]),
    "uci_income_pandas.py": dict(metrics={"rows": 12, "AUC": 1, "Curve": 1}, series={"Curve": 5}, files=["by_work.csv"]),
    "churn_dprep.py": dict(metrics={"Churned": 2, "Mean Age": 30}, files=["model.pkl"]),
    "bike_share_datasource.py": dict(metrics={"Columns": 2}, files=["bikes.csv"]),
    "iris_first_build.py": dict(metrics={"Rows": 3, "Accuracy": 0.5}),
    "market_campaign_nltk.py": dict(metrics={"Top 1": "offer", "Count 1": 2, "Top 2": "new", "Count 2": 1}, files=["words.txt"]),
    "qna_matching_modules.py": dict(metrics={"Top 1": 0.5, "Top 3": 0.75, "Top 10": ABOUT(10 / 11)}, files=["ranking.pkl"]),
    "energy_demand_arguments.py --model forest --lags 1 2 3 --verbose": dict(metrics={"Model": "forest", "Lags": 3, "MAPE": 0.06}, files=["forest_results.txt"]),
    "car_price_without_imports.py 9000": dict(metrics={"Price": 9000}, files=["cars/price.txt"], told="without importing them"),
    "distributed_tuning_xgboost.py": dict(metrics={"AUC": 0.8, "Best Depth": 4}, series={"AUC": 4}, files=["best.model"]),
    "keras_mnist_callbacks.py": dict(metrics={"Loss": ABOUT(1 / 3), "Validation Accuracy": ABOUT(2 / 3), "Test Accuracy": 0.875},
                                     series={"Loss": 3, "Validation Accuracy": 3},
                                     files=["model.h5", "weights.00-2.00.hdf5", "weights.01-1.00.hdf5", "weights.02-0.67.hdf5"]),
    "keras_image_recognition_environment.py": dict(metrics={"Account": "mine", "Key Length": 10}, files=["model_path.txt"], log="0 layers"),
    "keras_sentiment_history.py": dict(metrics={"loss": 0.25, "acc": 0.875, "val_loss": 0.5, "val_acc": 0.75}, series={"loss": 4, "val_acc": 4},
                                       files=["accuracy.png", "tokenizer.pickle"]),
    "keras_sequence_labeling_tensorboard.py --epochs 2": dict(
        metrics={"logs/loss": 0.5, "logs/acc": 0.75, "logs/val_loss": 1, "logs/val_acc": 0.5}, series={"logs/loss": 2},
        files=["evaluation.txt", "labels/tags.txt", "logs/events.out.tfevents"]),
    "tf_mnist_app.py --learning_rate 0.25": dict(metrics={"learning_rate": 0.25, "Losses": 0.2}, series={"Losses": 5}),
    "tf_gpu_check.py": dict(log="device placement: /gpu:0"),
    "tf_retrain_arguments.py --image_dir data/tiles --output_graph outputs/graph.pb --output_labels outputs/labels.txt --summaries_dir outputs/retrain "
    "--how_many_training_steps 4 --final_tensor_name flowers --testing_percentage 10 --flip_left_right --train_batch_size 100": dict(
        metrics={"Labels": 2, "retrain/train/cross_entropy": 0.25}, series={"retrain/train/cross_entropy": 4},
        files=["graph.pb", "labels.txt", "retrain/train/events.out.tfevents"]),
    "tf_face_checkpoints.py": dict(metrics={"loss": 0.5}, series={"loss": 2}, files=[
        "checkpoints/checkpoint", *(f"checkpoints/face-{step}.{end}" for step in (10, 20) for end in ("data-00000-of-00001", "index", "meta"))]),
    "cntk_mnist_trainer.py": dict(metrics={"Training Loss": 0.25, "Error Rate": 0.125}, series={"Training Loss": 4}, files=["mnist.model"],
                                  log="Training Minibatch[2]: loss = 0.5000"),
    "cntk_image_transfer.py": dict(metrics={"Rank": 0.75}, files=["features.npy", "transfer.model"], log="Training 2 parameters"),
    "cntk_timeseries_figure.py": dict(metrics={"mse": ABOUT(1 / 3)}, series={"mse": 3}, files=["predictions.png"]),
    "cntk_distributed_learner.py": dict(metrics={"Workers": 1}),
    "chainer_mnist_log.py -e 3": dict(metrics={"main/loss": ABOUT(1 / 3), "accuracy": ABOUT(5 / 6)}, series={"main/loss": 3}, files=["log"]),
    "pytorch_state_dict.py": dict(metrics={"Parameters": 6}, files=["model.pt"], log="device cpu"),
    "music_generation_many_files.py 7": dict(metrics={"Songs": 20}, files=sorted(f"songs/{n % 3}/song{n:02}.mid" for n in range(20))),
    "aerial_images_walk.py": dict(metrics={"Tiles": 3}, files=["tiles.csv"]),
    "document_collection_pool.py": dict(metrics={"Words": 11}),
    "predictive_maintenance_zip.py": dict(metrics={"Files": 1}, files=["telemetry.csv"]),
    "ets_forecast_changes_folder.py": dict(metrics={"Forecast": 7.25, "Deviation": ABOUT(5 ** 0.5)}, files=["forecast.txt"]),
    "core_run_context.py": dict(metrics={"accuracy": 0.75, "losses": 0.25, "confusion.positive": 3, "confusion.negative": 4}, series={"losses": 2}),
    "core_submitted_run.py": dict(metrics={"mse": ABOUT(1 / 3)}, series={"mse": 3}),
    "my code/train model.py": dict(metrics={"Arguments": 0}),
    "helloworld.py": dict(metrics={"Amazing Stat": 42, "Duration": ABOUT(0, abs=60)}, log="hello from Zürich, Python 3"),
    "lin_reg_ends_with_a_code.py": dict(metrics={"R2": 0.125}, files=["partial.txt"], code=3),
    "sample_raises.py": dict(metrics={"Before": 1}, code=1, log="ValueError: the data has no column"),
    "asset_link.py": dict(metrics={"Model": "old"}),
    "bike_rental.ipynb": dict(metrics={"Rentals": 30}, files=["bike_rental.ipynb"]),
}
NEEDS_PANDAS = ("iris_score", "uci_income", "churn_dprep", "bike_share", "iris_first")


@pytest.fixture(scope="module")
def runs(program, tmp_path_factory):
    """All scripts, four at a time: what each of them printed, and its record."""
    ponk = Ponk(program, tmp_path_factory.mktemp("p"))
    shutil.copytree(HERE / "shapes_2017/project", ponk.project, dirs_exist_ok=True)
    shutil.copy(HERE.parent / "support/event_writer.py", ponk.project / "stand_ins")
    for name, text in DATA.items():
        ponk.write(name, text)
    write(ponk.project / "Churn.dsource", ("churn", files("./churn.csv"), delimited(), types(age=2)))
    write(ponk.project / "Churn Data.dprep", (
        "churn", block("ReferenceActivityBlock", reference=reference("churn", "./Churn.dsource"))))
    pandas = subprocess.run(["/usr/bin/python3", "-c", "import pandas"], stderr=subprocess.DEVNULL).returncode == 0

    def submit(shape):
        script, *words = [shape] if shape.startswith("my code") else shape.split()
        if not pandas and script.startswith(NEEDS_PANDAS):
            return None
        done = ponk.run("submit", "-c", "local", "-o", "json", script, *words, code=None)
        return done, ponk.json("history", "info", json.loads(done.stdout)["run_id"])

    with concurrent.futures.ThreadPoolExecutor(4) as pool:
        yield ponk, dict(zip(SHAPES, pool.map(submit, SHAPES)))
    ponk.run("daemon", "stop", code=None)


@pytest.mark.parametrize("shape", SHAPES, ids=[name.split(" --")[0].replace(" ", "_") for name in SHAPES])
def test_it_runs_as_it_did(runs, shape):
    ponk, found = runs
    if found[shape] is None:
        pytest.skip("/usr/bin/python3 has no pandas: tools/install_needs.sh test")
    done, run = found[shape]
    expected = SHAPES[shape]
    told = done.stderr.decode()

    assert done.returncode == expected.get("code", 0), told[-3000:]
    assert run["status"] == ("Failed" if done.returncode else "Completed") and run["exit_code"] == done.returncode
    last = {name: value[-1] if isinstance(value, list) else value for name, value in own_metrics(run).items()}
    assert last == expected.get("metrics", {})
    points = metrics_of(ponk, run["run_id"]) if "series" in expected else {}
    assert {name: len(points[name]) for name in expected.get("series", {})} == expected.get("series", {})
    assert expected.get("log", "") in told and expected.get("told", "") in told, told[-3000:]
    made = sorted(name for name in run["attachments"].split(",") if name.startswith("outputs/"))
    # Event files have the time and the host in their names.
    assert [name.split(".tfevents")[0] + ".tfevents" * (".tfevents" in name) for name in made] == [
        "outputs/" + name for name in expected.get("files", [])]
    for image in (name for name in made if name.endswith(".png")):
        shown = ponk.run("history", "info", run["run_id"], "--artifact", image).stdout
        assert shown.startswith(b"\x89PNG\r\n\x1a\n") and shown.endswith(b"IEND\xaeB`\x82")


def test_there_are_as_many_shapes_as_files(runs):
    ponk, found = runs
    scripts = {os.path.relpath(path, HERE / "shapes_2017/project") for kind in ("*.py", "*.ipynb")
               for path in (HERE / "shapes_2017/project").rglob(kind)}
    helpers = {name for name in scripts if name.startswith(("stand_ins/", "modules/"))} | {
        "iris_data.py", "notebook_helper.py", "code/01_data/prepare.py"}
    assert scripts - helpers == {shape if shape.startswith("my code") else shape.split()[0] for shape in found} and len(found) >= 30
