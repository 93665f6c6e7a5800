# SPDX-License-Identifier: Apache-2.0
"""`history chart`: what runs logged, drawn in the terminal or told as numbers."""
import pytest

SCRIPT = """import sys, math, ponk
scale = float(sys.argv[1])
for step in range(50):
    ponk.log("loss", scale * math.exp(-step / 10), step=step)
    ponk.log("val/loss", scale * math.exp(-step / 12), step=step)
ponk.log("final", scale)
if scale == 1:
    for step, value in enumerate([1, float("nan"), 2, float("inf"), -1, 5e-324, 1e308]):
        ponk.log("odd", value, step=step)
    ponk.log("tiny", 5e-324)
    ponk.log("word", "abc")
"""


@pytest.fixture(scope="module")
def history(program, tmp_path_factory):
    from workbench import Ponk
    ours = Ponk(program, tmp_path_factory.mktemp("p"))
    ours.write("train.py", SCRIPT)
    for scale in ("1", "3"):
        ours.run("submit", "--name", f"scale {scale}", "train.py", scale)
    yield ours
    ours.run("daemon", "stop", code=None)


def chart(history, *words, code=0, **env):
    done = history.run("history", "chart", *words, "-o", "table", env={"COLUMNS": "80", **env}, code=code)
    return done.stdout.decode()


def test_runs_are_told_apart_without_colour(history):
    text = chart(history, "1", "2", "--metric", "loss")
    lines = text.splitlines()
    assert lines[0].strip() == "loss" and all(len(line) <= 80 for line in lines)
    first, second = lines[-2:]
    assert first.startswith("  * #1 ") and "scale 1" in first and "max 1.0" in first
    assert second.startswith("  + #2 ") and "scale 3" in second and "max 3.0" in second
    plot = "".join(lines[1:-4])
    assert plot.count("*") > 20 and plot.count("+") > 20
    assert lines[-3].split() == ["0", "step", "49"], "an axis with numbers"
    assert any(line.strip().startswith("3.0") or line.strip().startswith("3 ") for line in lines)


def test_each_metric_has_a_chart_unless_they_are_together(history):
    text = chart(history, "1")
    assert [line.strip() for line in text.splitlines() if line.strip() in ("loss", "val/loss", "odd", "final")] == [
        "loss", "odd", "val/loss"], "one step alone is no curve"
    together = chart(history, "1", "-m", "loss", "-m", "val/loss", "--together")
    assert together.splitlines()[0].strip() == "loss, val/loss"
    assert [line.split()[1] for line in together.splitlines()[-2:]] == ["loss", "val/loss"]


def test_odd_numbers_are_drawn_or_are_gaps(history):
    for options in ([], ["--log"], ["--smooth", "0.9"]):
        text = chart(history, "1", "-m", "odd", *options)
        assert "max" in text and all(len(line) <= 80 for line in text.splitlines()), text
    assert "5e-324" in chart(history, "1", "-m", "tiny") and "step 0" in chart(history, "1", "-m", "tiny")
    assert "no values to draw" in chart(history, "1", "-m", "word")
    assert "1e+308" in chart(history, "1", "-m", "odd", "--log")


def test_axes_and_size(history):
    assert " s" in chart(history, "1", "-m", "loss", "--x", "time").splitlines()[-2]
    wall = chart(history, "1", "-m", "loss", "--x", "wall").splitlines()[-2]
    assert "UTC" in wall and ":" in wall
    text = chart(history, "1", "-m", "loss", "--width", "40", "--height", "5")
    assert max(map(len, text.splitlines())) <= 40 and len(text.splitlines()) == 5 + 4
    logarithmic = chart(history, "1", "-m", "loss", "--log")
    assert "logarithmic" in logarithmic and any(line.split()[:1] == ["0.1"] for line in logarithmic.splitlines())


def test_numbers_for_programs(history):
    charts = history.json("history", "chart", "1", "2", "-m", "loss")
    assert [one["metric"] for one in charts] == ["loss"]
    series = charts[0]["series"]
    assert [len(one["points"]) for one in series] == [50, 50] and series[1]["points"][0][2] == 3
    assert series[0]["count"] == 50 and series[0]["run_number"] == 1
    few = history.json("history", "chart", "1", "-m", "loss", "--points", "10")[0]["series"][0]
    assert len(few["points"]) <= 10 and few["points"][-1][0] == 49 and few["count"] == 50
    rows = [line.split("\t") for line in history.text("history", "chart", "1", "-m", "loss", "-o", "tsv").splitlines()]
    assert len(rows) == 50 and len(rows[0]) == 5 and rows[3][1:3] == ["loss", "3"]
    smooth = history.json("history", "chart", "1", "-m", "odd", "--smooth", "0.5")[0]["series"][0]
    assert smooth["smoothed"][:2] == [1, "NaN"] and len(smooth["smoothed"]) == 7


@pytest.mark.parametrize("words, code, said", [
    (["1", "-m", "los"], 66, "Did you mean 'loss'?"),
    (["1", "-m", "loss", "--x", "day"], 64, "not one of step, time, wall"),
    (["1", "-m", "loss", "--smooth", "1"], 64, "--smooth needs a number from 0 to below 1"),
    (["1", "-m", "loss", "--points", "0"], 64, "--points needs a number from 1"),
    (["1", "-m", "loss", "--width", "x"], 64, "--width needs a number"),
    (["9", "-m", "loss"], 66, "'9'"),
    (["1", "-m", "quite another"], 66, "Metrics: "),
])
def test_mistakes_are_told(history, words, code, said):
    assert said in history.run("history", "chart", *words, code=code).stderr.decode()


def test_a_run_without_the_metric_is_named(history):
    done = history.run("history", "chart", "1", "2", "-m", "odd")
    assert b"no metric 'odd' in run" in done.stderr
