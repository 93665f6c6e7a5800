# SPDX-License-Identifier: Apache-2.0
"""Charts show what was logged: every peak, values that are no numbers, steps of any size, and many metrics."""
import csv
import json
import re

import pytest
from bench import HOSTILE, until
from test_views import serious

STEPS, PLANTED = 100_000, range(50, 100_000, 499)
SERIES = f"""
import ponk
values = [0.0] * {STEPS}
for step in {PLANTED!r}:
    values[step] = 100.0 + step
ponk.log("spikes", values)
for step, value in enumerate([1.0, float("nan"), 2.0, float("inf"), 3.0, float("-inf"), 2.5, 4.0]):
    ponk.log("odd", value, step=step)
for step in range(40):
    ponk.log("huge", step / 10, step=2**53 + 1 + step)
ponk.log("alone", 7.5, step=3)
ponk.log({HOSTILE!r}, 1.0, step=0)
"""
MANY = """
import ponk
for step in range(3):
    ponk.log({"layer.%03d/%s" % (layer, word): layer + step for layer in range(150) for word in "abcdefghij"}, step=step)
"""


@pytest.fixture(scope="module")
def runs(served):
    found = {}
    for name, text in (("series", SERIES), ("many", MANY)):
        served.write(f"{name}.py", text)
        served.run("submit", "--name", name, f"{name}.py")
        found[name] = served.json("history", "info", "last")["run_id"]
    return found


def chart(page, name):
    """The card of one metric: its name, not its place in a group."""
    return page.locator("figure").filter(has=page.locator(f"[title={json.dumps(name)}]"))


def points(page, name):
    """What the chart draws, as its own file has it."""
    chart(page, name).locator("canvas").wait_for()
    chart(page, name).get_by_role("button", name="Table and files").click()
    with page.expect_download() as download:
        chart(page, name).get_by_role("button", name="CSV").click()
    with open(download.value.path(), newline="") as stream:
        return [(int(row["step"]), float(row["value"])) for row in csv.DictReader(stream)]


def test_every_peak_of_a_long_series_is_drawn(visit, runs):
    page = visit(f"/run/{runs['series']}/metrics?metrics=spikes")
    drawn = points(page, "spikes")
    assert len(drawn) < 5000
    assert {step for step, value in drawn if value > 1} == set(PLANTED)


def test_zoom_asks_again_for_that_part_and_back(visit, runs):
    page = visit(f"/run/{runs['series']}/metrics?metrics=spikes")
    before = points(page, "spikes")
    box = chart(page, "spikes").locator(".u-over").bounding_box()
    page.mouse.move(box["x"] + box["width"] * 0.50, box["y"] + 30)
    page.mouse.down()
    page.mouse.move(box["x"] + box["width"] * 0.56, box["y"] + 30, steps=4)
    page.mouse.up()
    until(page, "location.hash.includes('window=')")
    page.wait_for_load_state("networkidle")
    low, high = map(int, re.search(r"window=(\d+)\.\.(\d+)", page.url).groups())
    assert 40_000 < low < high < 60_000
    zoomed = points(page, "spikes")
    assert [step for step, _ in zoomed if low <= step <= high][0] == low
    # More of this part than before: the points came anew.
    assert len([step for step, _ in zoomed if low <= step <= high]) > len([step for step, _ in before if low <= step <= high])
    page.get_by_role("button", name="Whole range").click()
    until(page, "!location.hash.includes('window=')")


def test_values_that_are_no_numbers_are_counted_and_do_not_hide_the_others(visit, runs):
    page = visit(f"/run/{runs['series']}/metrics?metrics=odd")
    chart(page, "odd").get_by_text("3 values are no finite numbers").wait_for()
    assert [value for _, value in points(page, "odd")][0::2] == [1.0, 2.0, 3.0, 2.5]


def test_steps_beyond_two_to_the_53_stay_apart(visit, runs):
    page = visit(f"/run/{runs['series']}/metrics?metrics=huge")
    assert [step for step, _ in points(page, "huge")] == [2**53 + 1 + step for step in range(40)]
    chart(page, "huge").get_by_role("button", name="Table and files").click()
    chart(page, "huge").get_by_role("button", name="As a table").click()
    page.get_by_role("cell", name="9,007,199,254,740,993").wait_for()


def test_a_name_of_markup_is_a_name(visit, runs):
    page = visit(f"/run/{runs['series']}/metrics")
    chart(page, HOSTILE).wait_for()
    assert page.locator("main figure img").count() == 0
    assert page.evaluate("window.pwned") is None


def test_smoothing_keeps_the_raw_line_and_the_address_keeps_the_setting(visit, runs):
    page = visit(f"/run/{runs['series']}/metrics?metrics=odd&smooth=0.6")
    chart(page, "odd").locator("canvas").wait_for()
    assert page.get_by_role("slider", name="Smoothing").input_value() == "0.6"
    assert [value for _, value in points(page, "odd")][0::2] == [1.0, 2.0, 3.0, 2.5]
    page.get_by_label("Log y").check()
    until(page, "location.hash.includes('log=1')")
    page.get_by_label("Horizontal axis").select_option("relative")
    until(page, "location.hash.includes('x=relative')")
    chart(page, "odd").locator("canvas").wait_for()


def test_of_1500_metrics_only_what_is_near_the_screen_is_asked_for(visit, runs):
    page = visit("/runs")
    asked = []
    page.on("request", lambda request: asked.append(request.url) if "curves" in request.url else None)
    page.get_by_role("heading", level=1).wait_for()
    page.goto(page.url.split("#")[0] + f"#/run/{runs['many']}/metrics")
    page.locator("figure canvas").first.wait_for()
    page.wait_for_load_state("networkidle")
    assert page.get_by_role("searchbox", name="Filter 1,500 metrics").count() == 1
    assert 0 < page.locator("figure canvas").count() < 60
    assert 0 < len(asked) < 60
    page.get_by_role("searchbox", name="Filter 1,500 metrics").fill("layer.149/j")
    chart(page, "layer.149/j").locator("canvas").wait_for()
    assert len(asked) < 120
    assert serious(page) == []
