# SPDX-License-Identifier: Apache-2.0
"""Checkpoints and what else a configuration names are collected with the outputs, wherever the script writes them."""
import os

import pytest

TRAIN = """import os
os.makedirs('checkpoints/deep')
open('checkpoints/deep/1.ckpt', 'w').write('weights')
open('checkpoints/old.ckpt').read()
open('outputs/m', 'w').write('1')
open('notes.txt', 'w').write('notes')
os.makedirs('lightning_logs/version_0')
open('lightning_logs/version_0/hparams.yaml', 'w').write('lr: 1')
"""


@pytest.fixture
def project(ponk):
    ponk.write("train.py", TRAIN)
    ponk.write("checkpoints/old.ckpt", "old")
    return ponk


def kept(ponk, run="last"):
    return [name for name in ponk.json("history", "info", run)["attachments"].split(",") if name.startswith("outputs/")]


def configure(ponk, keep):
    ponk.write("aml_config/local.runconfig", f"Target: local\nFramework: Python\nkeep: {keep}\n")


def test_checkpoints_are_collected_and_outlive_the_copy(project, tmp_path):
    done = project.run("submit", "train.py")

    assert kept(project) == ["outputs/checkpoints/deep/1.ckpt", "outputs/lightning_logs/version_0/hparams.yaml", "outputs/m"]
    assert b"2 files (12 bytes) outside of outputs/ were collected with the outputs: checkpoints/, lightning_logs/" in done.stderr
    assert b"1 file outside of outputs/ (notes.txt; 5 bytes) is kept in the run's copy" in done.stderr
    project.run("prune", "--copies", "0", "--yes")
    project.run("experiment", "clean", "last", "--yes")
    project.run("history", "download", "last", "-d", tmp_path / "got")
    assert (tmp_path / "got/outputs/checkpoints/deep/1.ckpt").read_text() == "weights"
    assert not (tmp_path / "got/outputs/checkpoints/old.ckpt").exists(), "it is in the snapshot"


def test_the_configuration_says_what_else(project):
    configure(project, "['*.txt', '!notes*', 'checkpoints/deep']")
    project.write("more.py", TRAIN + "open('a.txt', 'w').close()\n")
    project.run("submit", "more.py")
    assert kept(project) == ["outputs/a.txt", "outputs/checkpoints/deep/1.ckpt", "outputs/m"]

    configure(project, "[]")
    project.run("submit", "train.py")
    assert kept(project) == ["outputs/m"]


def test_what_the_run_wrote_to_outputs_wins(project):
    project.write("both.py", "import os\nfor place in ('', 'outputs/'):\n    os.makedirs(place + 'checkpoints', exist_ok=True)\n"
                             "    open(place + 'checkpoints/1', 'w').write(place)\n    open(place + 'checkpoints/' + (place[:1] or 'b'), 'w').close()\n")

    done = project.run("submit", "both.py")

    assert kept(project) == ["outputs/checkpoints/1", "outputs/checkpoints/b", "outputs/checkpoints/o"]
    assert b"'checkpoints/1' was not collected with the outputs" in done.stderr
    project.run("history", "download", "last", "-d", project.project / "got")
    assert (project.project / "got/outputs/checkpoints/1").read_text() == "outputs/"


def test_a_failed_run_keeps_them_too(project):
    project.write("train.py", TRAIN + "raise SystemExit(3)\n")
    project.run("submit", "train.py", code=3)
    assert "outputs/checkpoints/deep/1.ckpt" in kept(project)


def test_a_secret_in_a_name_is_hidden(project):
    project.run("secret", "set", "TOKEN", input=b"tok-4711-xyzzy\n")
    project.write("aml_config/local.runconfig", "Target: local\nFramework: Python\nEnvironmentVariables:\n  KEY: secret:TOKEN\n")
    project.write("train.py", "import os\nopen('checkpoints/' + os.environ['KEY'] + '.ckpt', 'w').close()\n")
    project.run("submit", "train.py")
    assert len(kept(project)) == 1 and "tok-4711" not in kept(project)[0]


def test_clean_names_what_is_lost_first(project):
    project.run("submit", "train.py")
    brief = project.json("history", "last")["run_id"][-8:]

    done = project.run("experiment", "clean", "--all", "--yes")

    assert f"run {brief}: 1 file outside of outputs, 5 bytes, is in its working copy only".encode() in done.stderr
    assert b"in its working copy only" not in project.run("experiment", "clean", "--all").stderr


def test_delete_names_what_is_lost_with_the_run(project):
    project.run("submit", "train.py")
    run = project.json("history", "last")["run_id"]

    refused = project.run("history", "delete", run, code=65)
    deleted = project.run("history", "delete", "--yes", run)

    for done in (refused, deleted):
        assert f"run {run[-8:]}: 1 file outside of outputs, 5 bytes, is in its working copy only".encode() in done.stderr
