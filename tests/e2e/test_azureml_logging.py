# SPDX-License-Identifier: Apache-2.0
"""Scripts of 2017, unchanged: their values are columns and series."""
import pytest

from points import metrics_of

# As the samples of 2017 have it: an sklearn script with the calls of that time, without sklearn.
SCRIPT = '''
import os
import sys
import pickle

# initialize the logger
from azureml.logging import get_azureml_logger

run_logger = get_azureml_logger()

# create the outputs folder
os.makedirs('./outputs', exist_ok=True)

print('Python version: {}'.format(sys.version))

reg = 0.01
if len(sys.argv) > 1:
    reg = float(sys.argv[1])

print("Regularization rate is {}".format(reg))
run_logger.log("Regularization Rate", reg)
run_logger.log("Script Name", "iris_sklearn")
run_logger.log("Rows", 150)

losses = []
for epoch in range(5):
    losses.append(1.0 / (epoch + 1))
    run_logger.log("Validation Loss", losses[-1])

accuracy = 1.0 - reg
run_logger.log("Accuracy", accuracy).wait()
run_logger.log("losses", losses)
run_logger.log("precision", (0.5, 0.75, 1))

run_logger.upload("outputs/notes.txt", "the model is fine")

f = open('./outputs/model.pkl', 'wb')
pickle.dump({"reg": reg}, f)
f.close()
'''


@pytest.fixture
def runs(ponk):
    ponk.write("iris_sklearn.py", SCRIPT)
    for rate in ("0.25", "0.5"):
        ponk.run("submit", "iris_sklearn.py", rate)
    return ponk.json("history", "list")


def test_values_are_columns_of_the_history(ponk, runs):
    assert [run["Accuracy"] for run in runs] == [0.5, 0.75]
    assert [run["Regularization Rate"] for run in runs] == [0.5, 0.25]
    assert {run["Script Name"] for run in runs} == {"iris_sklearn"}
    assert {run["Rows"] for run in runs} == {150}
    best = ponk.json("history", "list", "--filter", "metrics.Accuracy > 0.6")
    assert [run["run_number"] for run in best] == [1]
    by_rate = ponk.json("history", "list", "--order-by", "metrics.`Regularization Rate`")
    assert [run["run_number"] for run in by_rate] == [1, 2]


def test_lists_and_repeated_values_are_series(ponk, runs):
    record = ponk.json("history", "info", runs[0]["run_id"])
    assert record["losses"] == [1, 0.5, pytest.approx(1 / 3), 0.25, 0.2]
    assert record["precision"] == [0.5, 0.75, 1]
    found = metrics_of(ponk, runs[0]["run_id"])
    assert [(point[0], point[2]) for point in found["losses"]] == [(i, pytest.approx(1 / (i + 1))) for i in range(5)]
    assert [(point[0], point[2]) for point in found["Validation Loss"]] == [
        (i, pytest.approx(1 / (i + 1))) for i in range(5)]
    text = ponk.text("history", "info", runs[0]["run_id"], "-o", "table")
    assert "losses" in text and "Accuracy" in text


def test_files_come_home(ponk, runs, tmp_path):
    ponk.run("history", "download", runs[0]["run_id"], "-d", tmp_path / "got")
    assert (tmp_path / "got/outputs/notes.txt").read_text() == "the model is fine"
    assert (tmp_path / "got/outputs/model.pkl").is_file()


def test_the_script_knows_its_run(ponk):
    ponk.write("who.py", "import ponk\nprint(ponk.run.id, ponk.run.name, ponk.run.outputs.endswith('/outputs'), bool(ponk.run.project))\n")
    done = ponk.run("submit", "--name", "first", "who.py")
    run = ponk.json("history", "last")
    assert done.stdout.decode().split() == [run["run_id"], "first", "True", "True"]


def test_a_file_of_the_project_called_json_hides_nothing_from_ponk(ponk):
    ponk.write("json.py", "MINE = 3\n")
    ponk.write("train.py", "import ponk\nponk.log('loss', 0.5)\nponk.log_dict({'a': 1}, 'a.json')\nimport json\nassert json.MINE == 3\n")
    ponk.run("submit", "train.py")
    assert ponk.json("history", "info", "last")["metrics"]["loss"] == 0.5
