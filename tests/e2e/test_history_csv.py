# SPDX-License-Identifier: Apache-2.0
"""`history export --format csv`, read back by Python's own reader."""
import csv
import io
import json

import pytest

SCRIPT = """import sys, ponk
which = sys.argv[1]
ponk.log_params({"lr": which, "note": 'say "hi", twice\\nor not', "formula": "=1+1", "negative": -0.5})
ponk.log("loss", 1 / int(which))
for step in range(3):
    ponk.log("val,loss", step - 1, step=step)
ponk.log("odd", float("-inf"))
if which == "2":
    ponk.set_tag("only", "here")
    ponk.log("curve", [3, 2, 1])
"""


@pytest.fixture(scope="module")
def history(program, tmp_path_factory):
    from workbench import Ponk
    ours = Ponk(program, tmp_path_factory.mktemp("p"))
    ours.write("train.py", SCRIPT)
    for which in "12":
        ours.run("submit", "--name", f"run {which}", "train.py", which, "a b")
    yield ours
    ours.run("daemon", "stop", code=None)


def rows(text):
    return list(csv.DictReader(io.StringIO(text, newline=""), strict=True))


def test_one_line_for_each_run(history):
    first, second = rows(history.text("history", "export", "--format", "csv"))
    assert first["name"] == "run 1" and second["name"] == "run 2", "oldest first"
    assert first["params.note"] == 'say "hi", twice\nor not'
    assert first["metrics.loss"] == "1.0" and second["metrics.loss"] == "0.5"
    assert first["metrics.val,loss"] == "1.0" and first["metrics.odd"] == "-Infinity"
    assert first["tags.only"] == "" and second["tags.only"] == "here"
    assert first["metrics.curve"] == "" and second["metrics.curve"] == "1.0", "the last of a list"
    assert first["status"] == "Completed" and first["exit_code"] == "0" and first["arguments"] == "1 'a b'"
    assert len(first["run_id"]) == 32 and int(first["duration_ms"]) >= 0


def test_a_text_does_not_become_a_formula(history):
    row = rows(history.text("history", "export", "--format", "csv", "1"))[0]
    assert row["params.formula"] == "'=1+1" and row["params.negative"] == "-0.5"


def test_every_point_of_every_metric(history, tmp_path):
    file = tmp_path / "points.csv"
    history.run("history", "export", "--format", "csv", "--points", "-d", file)
    points = rows(file.read_text())
    assert list(points[0]) == ["run_id", "key", "step", "time", "value"]
    assert [(point["key"], point["step"], point["value"]) for point in points[:5]] == [
        ("loss", "0", "1.0"), ("odd", "0", "-Infinity"),
        ("val,loss", "0", "-1.0"), ("val,loss", "1", "0.0"), ("val,loss", "2", "1.0")]
    assert len({point["run_id"] for point in points}) == 2 and int(points[0]["time"]) > 1_500_000_000_000
    history.run("history", "export", "--format", "csv", "-d", file, code=73)


def test_runs_are_chosen(history):
    assert [row["name"] for row in rows(history.text("history", "export", "--format", "csv", "2"))] == ["run 2"]
    chosen = history.text("history", "export", "--format", "csv", "--filter", "metrics.loss < 0.9")
    assert [row["name"] for row in rows(chosen)] == ["run 2"]
    lines = history.text("history", "export", "--filter", "metrics.loss > 0.9").splitlines()
    assert [json.loads(line)["run"]["name"] for line in lines] == ["run 1"]
    assert history.text("history", "export", "--format", "csv", "--filter", "metrics.loss > 9").count("\n") == 1


def test_mistakes_are_told(history):
    assert b"not one of jsonl, csv" in history.run("history", "export", "--format", "xml", code=64).stderr
    assert b"--points needs --format csv" in history.run("history", "export", "--points", code=64).stderr
    assert b"--filter selects runs" in history.run("history", "export", "1", "--filter", "metrics.loss > 0", code=64).stderr
