# SPDX-License-Identifier: Apache-2.0
"""The samples do as runs what their README files say."""
import json
import shutil
import subprocess

import pytest


@pytest.fixture
def copied(ponk, samples):
    def copy(name):
        shutil.copytree(samples / name, ponk.project, dirs_exist_ok=True,
                        ignore=shutil.ignore_patterns("outputs", "__pycache__"))
    return copy


def test_mnist_reads_nine_digits_of_ten_and_shows_its_curves(ponk, copied):
    copied("mnist")

    log = ponk.text("experiment", "submit", "-c", "local", "train.py", "--epochs", "2")

    assert "epoch 2/2" in log
    run = ponk.json("history", "info", "last")
    assert (run["status"], run["exit_code"]) == ("Completed", 0)
    assert run["accuracy"] >= 0.9
    assert run["loss"] < 1.0
    assert run["arguments"] == ["--epochs", "2"]
    shown = ponk.text("history", "info", "last", "-o", "table")
    assert "accuracy" in shown and "loss" in shown


def test_mnist_gives_the_same_result_for_the_same_seed(ponk, copied):
    copied("mnist")
    ponk.run("submit", "train.py", "--epochs", "1", "--seed", "5")
    ponk.run("submit", "train.py", "--epochs", "1", "--seed", "5")

    first, second = ponk.json("history", "list")

    assert first["accuracy"] == second["accuracy"]
    assert first["loss"] == second["loss"]


def test_mnist_outputs_come_back(ponk, copied, tmp_path):
    copied("mnist")
    ponk.run("submit", "train.py", "--epochs", "1")

    ponk.run("history", "download", "last", "-d", tmp_path / "got")

    assert not (ponk.project / "outputs").exists()
    for name in ("model.npz", "loss.png", "confusion.png", "confusion.csv"):
        assert (tmp_path / "got" / "outputs" / name).stat().st_size > 0
    assert (tmp_path / "got" / "outputs" / "loss.png").read_bytes().startswith(b"\x89PNG\r\n")


def test_mnist_trains_without_ponk_too(samples, tmp_path):
    done = subprocess.run(["/usr/bin/python3", samples / "mnist" / "train.py", "--epochs", "2"], cwd=tmp_path,
                          capture_output=True, timeout=120)
    assert done.returncode == 0, done.stderr
    assert float(done.stdout.split()[-1]) >= 0.9


def test_hello_greets(ponk, copied):
    copied("hello")
    assert ponk.text("submit", "hello.py", "you").startswith("Hello, you, from Python 3")


def test_project_of_2017_runs_unchanged(ponk, copied):
    copied("azureml-2017")

    log = ponk.text("ml", "experiment", "submit", "-c", "local", "classify.py", "0.05")

    assert "Regularization rate is 0.05" in log
    run = ponk.json("history", "info", "last")
    assert run["Accuracy"] > 0.8
    assert run["Regularization Rate"] == 0.05
    best = ponk.run("history", "list", "--query", "[?Accuracy != null] | max_by(@, &Accuracy).run_id", "-o", "json").stdout
    assert json.loads(best) == run["run_id"]


def test_samples_are_listed_by_their_names_of_2017(ponk):
    names = {sample["name"] for sample in ponk.json("project", "sample", "list")}
    assert {"Classifying MNIST using TensorFlow", "Classifying MNIST dataset with CNTK", "Handwritten digits"} <= names
