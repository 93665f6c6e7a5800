# SPDX-License-Identifier: Apache-2.0
"""TensorBoard event files become metrics while the run goes on."""
import os
import shutil
import signal
import time

import pytest

from points import metrics_of, wait_for_points
from workbench import REPOSITORY

# Writes ten numbers, waits for the sign, and so on.
SCRIPT = """
import os, sys, time
from event_writer import EventWriter
folder, signs = sys.argv[1:]
train, test = EventWriter(folder + "/train"), EventWriter(folder)
for turn in range(4):
    for i in range(10):
        train.scalar("loss", 1.0 / (1 + turn * 10 + i), turn * 10 + i)
    test.scalar("accuracy|top", turn / 4.0, turn)
    while turn < 3 and not os.path.exists(os.path.join(signs, str(turn))):
        time.sleep(0.02)
"""


@pytest.fixture
def project(ponk):
    ponk.write("train.py", SCRIPT)
    shutil.copy(REPOSITORY / "tests/support/event_writer.py", ponk.project)
    (ponk.project.parent / "signs").mkdir()
    return ponk


def start(project, folder, *options):
    return project.text("submit", "--async", *options, "train.py", folder, project.project.parent / "signs").strip()


def go_on(project, turn):
    (project.project.parent / "signs" / str(turn)).touch()


def end_of(project, run):
    project.run("logs", "--follow", run)
    return project.json("history", "info", run)


def check_all(project, run):
    found = metrics_of(project, run)
    loss = found["train/loss"]
    assert [point[0] for point in loss] == list(range(40))
    assert [point[2] for point in loss] == pytest.approx([1.0 / (1 + i) for i in range(40)])
    assert {point[1] for point in loss} == {1700000000500}
    assert [point[2] for point in found["accuracy_top"]] == [0, 0.25, 0.5, 0.75]
    assert sorted(key for key in found if not key.startswith("system/")) == ["accuracy_top", "train/loss"]


def test_numbers_are_there_while_the_script_runs(project):
    run = start(project, "outputs")
    for turn in range(3):
        wait_for_points(project, run, "train/loss", 10 * (turn + 1))
        assert project.json("history", "info", run)["status"] == "Running"
        go_on(project, turn)
    record = end_of(project, run)
    assert record["status"] == "Completed" and record["warnings"] == []
    check_all(project, run)


def test_the_daemon_is_killed_and_every_number_is_there_once(project):
    run = start(project, "outputs")
    for turn in range(3):
        wait_for_points(project, run, "train/loss", 10 * turn + 1)
        os.kill(project.json("daemon", "status")["pid"], signal.SIGKILL)
        go_on(project, turn)
        time.sleep(0.1 * turn)  # what is written while nobody looks
        project.run("history", "info", run)
    end_of(project, run)
    check_all(project, run)


@pytest.mark.parametrize("how", ["option", "configuration", "configuration of 2018"])
def test_a_folder_of_the_project_can_be_named(project, how):
    # An older run's files came with the project, and are not this one's.
    old = project.project / "logs/tb"
    old.mkdir(parents=True)
    shutil.copy(REPOSITORY / "tests/golden/tensorboard/events.out.tfevents.summaries", old)
    words = ["--tensorboard", "logs/tb"]
    if how != "option":
        words = ["-c", "board"]
        project.write("aml_config/board.runconfig", "Target: local\nFramework: Python\ntensorboard: logs/tb\n"
                      if how == "configuration" else "script: train.py\nframework: Python\ntarget: local\ntensorboard: logs/tb\n"
                      "environment:\n  python:\n    userManagedDependencies: true\n")
    for turn in range(3):
        go_on(project, turn)
    run = start(project, "logs/tb", *words)
    end_of(project, run)
    check_all(project, run)


@pytest.mark.parametrize("folder", ["runs", "lightning_logs/version_0", "logs", "tb_logs"])
def test_usual_folders_need_no_configuration(project, folder):
    root, _, below = folder.partition("/")
    prefix = below + "/" if below else ""
    for turn in range(3):
        go_on(project, turn)
    done = project.run("submit", "train.py", folder, project.project.parent / "signs")
    assert f"metrics come from TensorBoard files in '{root}'".encode() in done.stderr
    found = metrics_of(project, project.json("history", "last")["run_id"])
    assert [point[0] for point in found[prefix + "train/loss"]] == list(range(40))
    assert len(found[prefix + "accuracy_top"]) == 4
    record = project.json("history", "info", "last")
    assert "TensorBoard" not in str(record["warnings"]) and record[prefix + "accuracy_top"] == 0.75


def test_what_a_real_writer_wrote(ponk):
    golden = REPOSITORY / "tests/golden/tensorboard"
    ponk.write("train.py", f"import shutil\nshutil.copytree({str(golden)!r}, 'outputs', dirs_exist_ok=True)\n")
    ponk.run("submit", "train.py")
    run = ponk.json("history", "last")["run_id"]
    found = metrics_of(ponk, run)
    assert [point[:1] + point[2:] for point in found["loss"]][:2] == [[0, 0.5], [1, 0.25]]
    assert found["loss"][1][1] == 1700000001250
    assert found["before"] == [[-1, 1700000003250, pytest.approx(1e-3)]]
    assert found["double_val"][0][2] == 0.1 and found["int64"][0][2] == -7
    assert "weights" not in found and "_hparams_/experiment" not in found
    assert ponk.json("history", "info", run)["described"] == -2.5


def test_a_damaged_file_is_told_once_and_ends_nothing(ponk):
    shutil.copy(REPOSITORY / "tests/support/event_writer.py", ponk.project)
    ponk.write("train.py", """if True:
        from event_writer import EventWriter
        good, bad = EventWriter("outputs/good"), EventWriter("outputs/bad")
        good.scalar("a", 1, 0)
        bad.scalar("a", 1, 0)
        bad.file.write(b"x" * 1000)
        bad.scalar("a", 2, 1)
        good.scalar("a", 2, 1)
        """)
    ponk.run("submit", "train.py")
    record = ponk.json("history", "info", "last")
    assert record["status"] == "Completed" and (record["good/a"], record["bad/a"]) == (2, 1)
    told = [warning for warning in record["warnings"] if "TensorBoard" in warning]
    assert len(told) == 1 and "outputs/bad/events" in told[0]


@pytest.mark.parametrize("folder", ["/tmp/tb", "../tb", "logs/../../tb"])
def test_a_folder_outside_of_the_project_is_refused(ponk, folder):
    ponk.write("train.py", "")
    done = ponk.run("submit", "--tensorboard", folder, "train.py", code=None)
    assert done.returncode != 0 and b"is not in the project's folder" in done.stderr
