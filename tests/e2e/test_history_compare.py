# SPDX-License-Identifier: Apache-2.0
"""`history compare` of any number of runs, and `history list --columns`."""
import json

import pytest

from tracking import Tracking

SCRIPT = """import sys, ponk
lr, loss, accuracy = sys.argv[1:]
ponk.log_params({"lr": lr, "depth": 3})
ponk.log("loss", float(loss))
ponk.log("speed", float(lr) * 100)
if accuracy != "none":
    ponk.log("accuracy", float(accuracy))
ponk.set_tag("half", "low" if float(lr) < 0.25 else "high")
"""
RUNS = [("0.1", "0.5", "0.8"), ("0.2", "0.25", "nan"), ("0.3", "0.4", "0.9"), ("0.4", "2", "none")]


@pytest.fixture(scope="module")
def history(program, tmp_path_factory):
    from workbench import Ponk
    ours = Ponk(program, tmp_path_factory.mktemp("p"))
    ours.write("train.py", SCRIPT)
    for words in RUNS:
        ours.run("submit", "--tag", "team=x", "train.py", *words)
    yield ours
    ours.run("daemon", "stop", code=None)


def table(history, *words, width=100):
    return history.text(*words, "-o", "table", env={"COLUMNS": str(width)})


def test_rows_are_the_fields_that_differ(history):
    lines = table(history, "history", "compare", "1", "2", "3", "4").splitlines()
    rows = {line.split()[0]: line.split()[1:] for line in lines}
    assert [title for title in lines[0].split() if title.startswith("#")] == ["#1", "#2", "#3", "#4"]
    assert rows["params.lr"] == ["0.1", "0.2", "0.3", "0.4"]
    assert rows["metrics.loss"] == ["0.5", "0.25", "*", "0.4", "2.0"]
    assert rows["metrics.accuracy"] == ["0.8", "NaN", "0.9", "*", "-"]
    assert "*" not in rows["metrics.speed"], "nobody knows what a good speed is"
    assert rows["tags.half"] == ["low", "low", "high", "high"]
    assert not {"params.depth", "tags.team", "status"} & set(rows), "they are equal"
    assert lines[-1] == "* best, by name: lowest loss; highest accuracy"


def test_equal_fields_are_shown_when_asked(history):
    text = table(history, "history", "compare", "1", "2", "--all")
    rows = {line.split()[0]: line.split()[1:] for line in text.splitlines()}
    assert rows["params.depth"] == ["3", "3"] and rows["tags.team"] == ["x", "x"] and rows["status"] == ["Completed"] * 2


def test_too_many_runs_for_columns_have_a_line_each(history):
    for width in (40, 60):
        lines = table(history, "history", "compare", "1", "2", "3", "4", "1", "2", width=width).splitlines()
        assert lines[0].split()[0] == "run" and [line.split()[0] for line in lines[2:6]] == ["#1", "#2", "#3", "#4"]
        assert all(len(line) <= width for line in lines), lines
        assert "metrics.loss" in lines[0] and any("0.25 *" in line for line in lines)


def test_json_has_everything(history):
    whole = history.json("history", "compare", "1", "2", "4")
    fields = {row["field"]: row for row in whole["fields"]}
    assert len(whole["runs"]) == 3
    assert fields["metrics.loss"] == {"field": "metrics.loss", "values": [0.5, 0.25, 2], "equal": False,
                                      "better": "lower", "best": [1]}
    assert fields["metrics.speed"]["better"] is None and fields["metrics.speed"]["best"] == []
    assert fields["params.depth"] == {"field": "params.depth", "values": ["3", "3", "3"], "equal": True}
    lines = [line.split("\t") for line in history.text("history", "compare", "1", "2", "-o", "tsv").splitlines()]
    assert ["metrics.loss", "0.5", "0.25"] in lines


def test_a_run_of_a_client_has_no_files_to_compare(history):
    tracking = Tracking(history)
    made = tracking.ask("POST", "runs/create", {"experiment_id": "0", "run_name": "notebook"})["run"]["info"]["run_id"]
    tracking.ask("POST", "runs/log-metric", {"run_id": made, "key": "loss", "value": 7, "timestamp": 1})

    shown = table(history, "history", "compare", "1", made)

    assert "loss" in shown and "7" in shown and "train.py" in shown


def test_one_run_is_no_comparison(history):
    assert b"two or more runs" in history.run("history", "compare", "1", code=64).stderr


def test_columns_are_chosen_by_name(history):
    words = ("history", "list", "--columns", "no,loss,params.lr,tags.half,script", "--order-by", "metrics.loss")
    lines = table(history, *words).splitlines()
    assert lines[0].split() == ["no", "loss", "params.lr", "tags.half", "script"]
    assert lines[2].split() == ["2", "0.25", "0.2", "low", "train.py"]
    assert [line.split()[0] for line in lines[2:]] == ["2", "3", "1", "4"]
    assert history.text(*words, "-o", "tsv").splitlines()[0].split("\t") == ["2", "0.25", "0.2", "low", "train.py"]
    assert json.loads(history.text(*words, "-o", "json"))[3] == {
        "no": 4, "loss": 2, "params.lr": "0.4", "tags.half": "high", "script": "train.py"}


def test_columns_go_with_filter_and_query(history):
    words = ("history", "list", "--columns", "no,accuracy", "--filter", "metrics.loss < 1")
    assert history.json(*words) == [{"no": 3, "accuracy": 0.9}, {"no": 2, "accuracy": "NaN"}, {"no": 1, "accuracy": 0.8}]
    chosen = history.json("history", "list", "--columns", "no", "--query", "[?params.lr == '0.4']")
    assert chosen == [{"no": 4}]
    done = history.run("history", "list", "--columns", "no", "--query", "[].run_id", code=64)
    assert b"--query selects something else" in done.stderr


@pytest.mark.parametrize("words, said, code", [
    (["--columns", "acuracy"], "Did you mean 'accuracy'?", 64),
    (["--columns", "metrics.acuracy"], "no run has a metric 'acuracy'; did you mean 'accuracy'?", 0),
    (["--columns", "params.dept"], "no run has a parameter 'dept'; did you mean 'depth'?", 0),
    (["--filter", "metrics.acuracy > 0.1"], "no run has a metric 'acuracy'; did you mean 'accuracy'?", 0),
    (["--filter", "tags.tem = 'x'"], "no run has a tag 'tem'; did you mean 'team'?", 0),
    (["--order-by", "metrics.los"], "no run has a metric 'los'; did you mean 'loss'?", 0),
    (["--columns", "no,,loss"], "has an empty name between two commas", 64),
])
def test_a_wrong_name_gets_a_suggestion(history, words, said, code):
    assert said in history.run("history", "list", *words, code=code).stderr.decode()


def test_a_filter_that_nothing_passes_is_no_mistake(history):
    assert b"did you mean" not in history.run("history", "list", "--filter", "metrics.loss > 100").stderr
    assert b"did you mean" not in history.run("history", "list", "--filter", "params.new IS NULL AND metrics.loss > 9").stderr


def test_metrics_stay_in_a_narrow_table(history):
    for width in (80, 60):
        lines = table(history, "history", "list", width=width).splitlines()
        assert "loss" in lines[0].split(), lines[0]
        assert "0.25" in " ".join(lines[2:6]) and all(len(line) <= width for line in lines)
    assert {"loss", "speed"} <= set(table(history, "history", "list", width=80).splitlines()[0].split())
