# SPDX-License-Identifier: Apache-2.0
"""`history list --filter` and `--order-by`."""
import pytest

SCRIPT = """import sys, ponk
name, lr, accuracy = sys.argv[1:]
ponk.log_params({"lr": lr})
if accuracy != "none":
    ponk.log("accuracy", float(accuracy))
    ponk.log("val-loss", 1 - float(accuracy))
sys.exit(3 if name == "bad" else 0)
"""
RUNS = [("low", "0.1", "0.5"), ("high", "0.1", "0.95"), ("other", "0.2", "0.92"), ("nan", "0.1", "nan"),
        ("bad", "0.1", "0.99"), ("none", "0.3", "none")]


@pytest.fixture
def history(ponk):
    ponk.write("train.py", SCRIPT)
    for name, lr, accuracy in RUNS:
        ponk.run("submit", "--name", name, "--tag", f"team={lr}", "train.py", name, lr, accuracy,
                 code=3 if name == "bad" else 0)
    return ponk


def names(history, *words):
    return [run["name"] for run in history.json("history", "list", *words)]


def test_runs_are_filtered_and_sorted(history):
    assert names(history, "--filter", "metrics.accuracy > 0.9 AND params.lr = '0.1'",
                 "--order-by", "metrics.accuracy DESC") == ["bad", "high"]
    assert names(history, "--filter", "metrics.accuracy > 0.9") == ["bad", "other", "high"]
    assert names(history, "--filter", "metrics.accuracy != 0.5") == ["bad", "nan", "other", "high"]
    assert names(history, "--filter", "metrics.`val-loss` <= 0.08", "--order-by", "metrics.`val-loss`",
                 "--limit", "2") == ["bad", "high"]
    assert names(history, "--filter", "status = 'FAILED'") == ["bad"]
    assert names(history, "--filter", "status != 'Completed'") == ["bad"]
    assert names(history, "--filter", "tags.team LIKE '0._' AND name ILIKE 'N%'", "--order-by", "run_name") == ["nan", "none"]
    assert names(history, "--filter", "script = 'train.py' AND target = 'local'", "--status", "Failed") == ["bad"]
    assert names(history, "--filter", "params.momentum IS NOT NULL") == []


def test_what_has_no_value_comes_last(history):
    assert names(history, "--order-by", "metrics.accuracy") == ["low", "other", "high", "bad", "nan", "none"]
    assert names(history, "--order-by", "metrics.accuracy desc") == ["bad", "high", "other", "low", "nan", "none"]
    assert names(history, "--order-by", "params.lr DESC", "--order-by", "metrics.accuracy") == [
        "none", "other", "low", "high", "bad", "nan"]
    assert names(history, "--order-by", "start_time") == [name for name, _, _ in RUNS]


def test_runs_are_sorted_by_the_least_greatest_and_best_of_a_metric(ponk):
    ponk.write("peaks.py", "import ponk, sys\nfor step, value in enumerate(map(float, sys.argv[1:])):\n"
                           "    ponk.log_metrics({'loss': value, 'accuracy': value, 'odd': value}, step=step)\n")
    for name, values in (("early", "1 9 5"), ("late", "4 7 2"), ("steady", "3 3 3"), ("empty", "")):
        ponk.run("submit", "--name", name, "peaks.py", *values.split())
    expected = {"min.loss": "early late steady empty", "max.loss DESC": "early late steady empty", "max.loss": "steady late early empty",
                "metrics.loss": "late steady early empty", "best.loss": "early late steady empty", "best.accuracy DESC": "early late steady empty",
                "best.accuracy": "steady late early empty"}
    for order, wanted in expected.items():
        assert names(ponk, "--order-by", order) == wanted.split(), order
    # Each page begins where the one before ended.
    assert names(ponk, "--order-by", "min.loss DESC", "--limit", "2") == ["steady", "late"]
    done = ponk.run("history", "list", "--order-by", "best.odd", code=64)
    assert b"does not say whether less or more is better" in done.stderr and b"min.NAME or max.NAME" in done.stderr
    assert b"'min' is only to order by" in ponk.run("history", "list", "--filter", "min.loss < 2", code=64).stderr


def test_other_projects_are_searched_when_asked(history, tmp_path):
    words = ["--filter", "name = 'low'", "--project", str(tmp_path)]
    assert names(history, *words) == []
    assert names(history, *words, "--all-projects") == ["low"]
    experiment = history.json("history", "list")[0]["experiment"]
    assert names(history, *words, "--experiment", experiment) == ["low"]
    assert names(history, "--filter", "experiment = '%s' AND name = 'low'" % experiment) == ["low"]
    assert names(history, *words, "--experiment", "nobody's") == []
    assert names(history, *words, "--experiment", "both ' and \" and `") == []
    said = history.run("history", "list", "-o", "table", "--experiment", experiment + "x").stderr.decode()
    assert "did you mean '%s'?" % experiment in said
    assert b'"low"' in history.run("history", "export", "--experiment", experiment).stdout
    assert history.run("history", "export", "--experiment", "nobody's").stdout == b""


def test_times_are_compared_as_people_write_them(history):
    everything = names(history, "--filter", "start_time > '2020-01-31'")
    assert everything == names(history) and len(everything) == len(RUNS)
    assert names(history, "--filter", "start_time > '2020-01-31' AND end_time < '2020-01-31 12:00'") == []
    assert names(history, "--filter", "end_time_utc > '9999-12-31T23:59:59.999Z'") == []


@pytest.mark.parametrize("words, message, hint", [
    (["--filter", "metrics.accuracy > '0.9'"],
     "filter at column 20: expected a number for 'metrics.accuracy', but found ''0.9''", "Write it without quotes."),
    (["--filter", "metrics.accuracy > '0.9'"], "  metrics.accuracy > '0.9'\n                     ^\n", ""),
    (["--filter", "accuracy > 0.9"], "filter at column 1: there is no attribute 'accuracy' to compare", "metrics.NAME"),
    (["--filter", "status = 'Complet'"], "filter at column 10: 'Complet' is not a status", "Did you mean 'Completed'?"),
    (["--filter", "metrics.a > 1 OR metrics.a < 0"], "filter at column 15: expected AND or the end", "Only AND joins"),
    (["--order-by", "metrics.a up"], "order_by at column 11: expected ASC, DESC or the end, but found 'up'", ""),
    (["--order-by", ""], "order_by at column 1: expected a name, but the text ends", ""),
    (["--order-by", "start_time", "--order-by", "created"], "order_by[1]: 'created' is given twice", ""),
])
def test_mistakes_are_shown_with_their_place(ponk, words, message, hint):
    done = ponk.run("history", "list", *words, code=64)
    said = done.stderr.decode()
    assert done.stdout == b"", said
    assert message in said and hint in said, said
    assert not (ponk.home / "daemon.sock").exists(), "nothing was started for it"
