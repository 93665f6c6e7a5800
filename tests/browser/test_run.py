# SPDX-License-Identifier: Apache-2.0
"""The view of a run: how it ended, its log of any length, its outputs, live, and after the daemon was killed."""
import os
import re
import signal

import pytest
from bench import HOSTILE, until
from test_views import serious

LONG = f"""
import sys
out = sys.stdout
out.write({HOSTILE!r} + " javascript:alert(1) https://example.org/a?b=1\\n")
out.write("L" * 200000 + "\\n")
for base in range(0, 1200000, 10000):
    out.write("".join("%08d \\x1b[3%dmcolour\\x1b[0m of a line in a log of more than a hundred megabytes, to scroll\\n" % (i, i % 8) for i in range(base, base + 10000)))
"""
FAILS = """
for line in range(300):
    print("line", line)
def load(path):
    return open(path)
load("missing.csv")
"""
LEAVES = f"""
import os
os.makedirs("outputs/deep")
hostile = {HOSTILE!r}
open("outputs/page.html", "w").write("<h1>A page</h1>" + hostile + "<script>parent.pwned='yes'; top.pwned='yes'</script>")
open("outputs/drawn.svg", "w").write("<svg xmlns='http://www.w3.org/2000/svg' width='90' height='60' onload='window.pwned=1'><script>window.pwned=1</script>"
                                     "<rect width='90' height='60' fill='#1d5fbf'/></svg>")
open("outputs/deep/words.txt", "w").write("some words " + hostile)
open("outputs/weights.bin", "wb").write(bytes(range(256)) * 16)
print("\\r 10%\\r 55%\\r100% done", flush=True)
"""
TICKS = """
import pathlib
import time
print("first words", flush=True)
for _ in range(1200):
    if pathlib.Path({gate!r}).exists():
        break
    time.sleep(0.1)
print("last words", flush=True)
"""


@pytest.fixture(scope="module")
def runs(served):
    found = {}
    for name, text, code in (("long", LONG, 0), ("fails", FAILS, 1), ("leaves", LEAVES, 0)):
        served.write(f"{name}.py", text)
        served.run("submit", "--name", name, f"{name}.py", code=None)
        found[name] = served.json("history", "info", "last")
        assert found[name]["exit_code"] == code
    return {name: run["run_id"] for name, run in found.items()}


def lines(page):
    page.locator(".line").first.wait_for()
    return page.locator(".line").all_text_contents()


def scroll(page, part):
    page.locator(".log").evaluate(f"box => box.scrollTop = (box.scrollHeight - box.clientHeight) * {part}")


def test_a_run_that_failed_says_so_first_and_shows_its_traceback(visit, runs):
    page = visit(f"/run/{runs['fails']}")
    page.get_by_role("heading", name="fails", level=1).wait_for()
    page.locator(".view-head .badge", has_text="Failed").wait_for()
    page.get_by_text("Exit code 1").wait_for()
    page.get_by_text("FileNotFoundError").wait_for()
    page.goto(page.url.split("#")[0] + f"#/run/{runs['fails']}/log")
    page.locator(".log").wait_for()
    # The part of the run that was left has a log, too, and the new one begins at its end.
    for _ in range(150):
        scroll(page, 0)
        if page.get_by_text("line 0", exact=True).count():
            break
        page.wait_for_timeout(200)
    page.get_by_text("line 0", exact=True).wait_for()
    page.get_by_role("button", name="Traceback").click()
    page.locator(".line.marked", has_text="Traceback").wait_for()


def test_a_log_of_a_hundred_megabytes_scrolls_to_every_part(visit, runs):
    page = visit(f"/run/{runs['long']}/log")
    page.get_by_text("01199999").wait_for()
    scroll(page, 0)
    page.get_by_text("00000001").wait_for()
    scroll(page, 0.5)
    until(page, "(n => n > 500000 && n < 700000)(parseInt(document.querySelector('.line').textContent))")
    first = int(lines(page)[0][:8])
    assert [int(text[:8]) for text in lines(page)] == list(range(first, first + len(lines(page))))
    # A turn of the wheel moves by lines, however long the log is.
    page.mouse.move(600, 500)
    page.mouse.wheel(0, 180)
    until(page, f"parseInt(document.querySelector('.line').textContent) === {first + 10}")
    assert page.locator(".line").count() < 100


def test_a_line_of_200_kilobytes_is_folded_and_opens_whole(visit, runs):
    page = visit(f"/run/{runs['long']}/log")
    page.get_by_text("01199999").wait_for()
    scroll(page, 0)
    page.get_by_role("button", name="show all").click()
    assert len(page.locator("dialog pre").text_content()) == 200_000


def test_a_text_is_found_far_from_what_is_shown(visit, runs):
    page = visit(f"/run/{runs['long']}/log")
    page.get_by_text("01199999").wait_for()
    page.get_by_role("searchbox", name="Search the log").fill("00004242 ")
    page.get_by_role("searchbox", name="Search the log").press("Enter")
    page.locator(".line.marked", has_text="00004242").wait_for(timeout=60_000)
    page.get_by_text("line 1 of 1", exact=True).wait_for(timeout=60_000)
    page.get_by_role("searchbox", name="Search the log").fill("0000424")
    # 00000424 and 00004240 to 00004249; what was found before is among them.
    for button, said in (("Next place", "line 2 of 11"), ("Next place", "line 3 of 11"), ("Previous place", "line 2 of 11"),
                         ("Previous place", "line 1 of 11"), ("Previous place", "line 11 of 11")):
        # From the place that was found last.
        page.get_by_role("button", name=button).click()
        page.get_by_text(said, exact=True).wait_for(timeout=60_000)
    page.get_by_role("searchbox", name="Search the log").fill("not in there")
    page.get_by_role("searchbox", name="Search the log").press("Enter")
    page.get_by_text("“not in there” is not in this log").wait_for(timeout=60_000)


def test_an_expression_is_found_far_from_what_is_shown(visit, runs):
    page = visit(f"/run/{runs['long']}/log")
    page.get_by_text("01199999").wait_for()
    field = page.get_by_role("searchbox", name="Search the log")
    page.get_by_role("button", name="Regular expression").click()
    field.fill("^0000424[0-3] ")
    field.press("Enter")
    page.locator(".line.marked", has_text="00004240").wait_for(timeout=60_000)
    page.get_by_text("line 1 of 4", exact=True).wait_for(timeout=60_000)
    field.fill("0000424(")
    field.press("Enter")
    page.get_by_role("alert").get_by_text("not a regular expression").wait_for()
    page.get_by_role("button", name="Regular expression").click()
    field.press("Enter")
    page.get_by_text("“0000424(” is not in this log").wait_for(timeout=60_000)
    assert page.get_by_role("alert").count() == 0


def test_a_traceback_names_the_files_of_the_project(visit, served, runs):
    page = visit(f"/run/{runs['fails']}/log")
    page.get_by_text(f'File "{served.project}/fails.py"').first.wait_for()
    # The run's copy has the run's id in its path.
    assert page.get_by_text(re.compile(f"{runs['fails']}.*fails\\.py")).count() == 0


def test_a_metric_with_one_point_is_a_value(visit, served):
    listed = served.json("history", "list", "--all-projects", "--filter", "metrics.epoch_time > 0", "--limit", "1")
    page = visit(f"/run/{listed[0]['run_id']}/metrics")
    chart = page.locator("figure", has_text="epoch_time")
    chart.locator(".values b").wait_for()
    assert chart.locator("canvas").count() == 0
    page.locator("figure", has_text="loss").locator("canvas").wait_for()


def test_what_a_log_says_is_text_and_only_web_addresses_are_links(visit, runs):
    page = visit(f"/run/{runs['long']}/log")
    page.get_by_text("01199999").wait_for()
    scroll(page, 0)
    page.get_by_text("onerror=").wait_for()
    assert page.locator(".line img, .line script").count() == 0
    assert page.locator(".line a").evaluate_all("all => all.map(one => [one.href, one.rel, one.target])") == [["https://example.org/a?b=1", "noopener noreferrer", "_blank"]]
    assert page.evaluate("window.pwned") is None


def test_a_progress_bar_shows_its_last_state_and_colours_are_classes(visit, runs):
    page = visit(f"/run/{runs['leaves']}/log")
    page.get_by_text("100% done").wait_for()
    assert lines(page) == ["100% done"]
    page.goto(page.url.split("#")[0] + f"#/run/{runs['long']}/log")
    page.locator(".line .f1", has_text="colour").first.wait_for()


def test_outputs_are_shown_and_nothing_in_them_runs(visit, runs):
    page = visit(f"/run/{runs['leaves']}/outputs")
    page.get_by_role("img", name="outputs/drawn.svg").wait_for()
    page.get_by_role("button", name="outputs/deep/words.txt", exact=True).click()
    page.locator("dialog pre", has_text="some words").wait_for()
    page.keyboard.press("Escape")
    page.get_by_role("button", name="outputs/weights.bin", exact=True).click()
    page.get_by_text("This file is no text").wait_for()
    page.keyboard.press("Escape")
    assert page.evaluate("window.pwned") is None
    assert serious(page) == []


@pytest.mark.parametrize("theme", ["light", "dark"])
@pytest.mark.parametrize("tab", ["", "/log", "/metrics", "/outputs", "/gpu", "/code", "/environment"])
def test_axe_finds_nothing_serious_in_a_part_of_a_run(visit, runs, tab, theme):
    page = visit(f"/run/{runs['leaves']}{tab}", theme=theme)
    page.get_by_role("heading", name="leaves", level=1).wait_for()
    until(page, "!document.querySelector('[aria-busy=true]')")
    assert serious(page) == []


def test_a_phone_shows_a_run_without_scrolling_sideways(visit, runs):
    for tab in ("", "/log", "/outputs", "/code"):
        page = visit(f"/run/{runs['long']}{tab}", width=390, height=844)
        page.get_by_role("heading", name="long", level=1).wait_for()
        assert page.evaluate("document.documentElement.scrollWidth") <= 390


def test_a_run_is_live_and_goes_on_after_the_daemon_was_killed(visit, served):
    gate = served.project.parent / "gate-ticks"
    served.write("ticks.py", TICKS.replace("{gate!r}", repr(str(gate))))
    run = served.text("submit", "--async", "--name", "ticks", "ticks.py").split()[0]
    page = visit(f"/run/{run}")
    page.get_by_text("first words").wait_for()
    os.kill(served.json("daemon", "status")["pid"], signal.SIGKILL)
    page.get_by_text("What is shown is what was last known").first.wait_for()
    gate.touch()
    served.run("history", "info", run)
    page.get_by_text("last words").wait_for()
    page.get_by_text("Exit code 0").wait_for()
    until(page, "!document.body.textContent.includes('What is shown is what was last known')")


def test_a_run_that_is_not_there_is_said_to_be_missing(visit):
    page = visit("/run/ffffffffffffffffffffffffffffffff")
    page.get_by_text("ffffffffffffffffffffffffffffffff").wait_for()
    page.get_by_role("main").get_by_role("link", name="Runs").wait_for()


def test_a_run_is_renamed_tagged_and_archived(visit, runs):
    page = visit(f"/run/{runs['fails']}")
    for action, label, value in (("Rename", "Name", "renamed <b>run</b>"), ("Note", "Note", "why it failed")):
        page.get_by_role("button", name="More actions").click()
        page.get_by_role("button", name=action, exact=True).click()
        page.get_by_role("dialog").get_by_label(label).fill(value)
        page.get_by_role("button", name="Save").click()
        page.get_by_text(value).first.wait_for()
    page.get_by_role("button", name="More actions").click()
    page.get_by_role("button", name="Archive", exact=True).click()
    page.get_by_text("archived", exact=True).wait_for()
