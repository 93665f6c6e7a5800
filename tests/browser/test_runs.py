# SPDX-License-Identifier: Apache-2.0
import re

from bench import HOSTILE, until

ROWS = "[role=row][aria-rowindex]"


def test_the_latest_runs_come_first_and_only_those_on_the_screen_are_in_the_document(visit):
    page = visit()
    page.locator(ROWS).first.wait_for()
    assert page.locator(ROWS).count() < 80
    # The table goes on as far as it is scrolled.
    table = page.get_by_role("table", name="Runs")
    for _ in range(8):
        table.evaluate("(one) => one.scrollTo(0, one.scrollHeight)")
        page.wait_for_timeout(150)
    page.locator(ROWS, has_text="#1").last.wait_for()
    assert page.locator(ROWS).count() < 80


def test_a_filter_narrows_and_is_in_the_address(visit):
    page = visit()
    page.locator(ROWS).first.wait_for()
    page.keyboard.press("/")
    page.keyboard.type("params.optimizer = 'sgd'")
    page.keyboard.press("Enter")
    until(page, "location.hash.includes('sgd')")
    page.get_by_text(re.compile(r" of \d+ ·")).wait_for()
    page.get_by_role("button", name="Clear the filter").click()
    until(page, "!location.hash.includes('sgd')")


def test_an_error_in_a_filter_is_shown_below_its_place(visit):
    page = visit("/runs?filter=metrics.loss%20%3C%20%27a%27")
    page.get_by_text("filter at column 16:").wait_for()
    assert page.locator(".caret").evaluate("(one) => one.style.left").startswith("calc(15ch")


def test_names_are_offered_while_typing(visit):
    page = visit()
    page.locator(ROWS).first.wait_for()
    page.keyboard.press("/")
    page.keyboard.type("accu")
    page.get_by_role("option", name="metrics.accuracy").wait_for()
    page.keyboard.press("ArrowDown")
    page.keyboard.press("Tab")
    assert page.locator("#filter").input_value() == "metrics.accuracy "


def test_columns_are_chosen_and_remembered(visit):
    page = visit()
    page.locator(ROWS).first.wait_for()
    page.get_by_role("button", name="Columns").click()
    page.get_by_role("dialog").get_by_text("optimizer", exact=True).click()
    page.keyboard.press("Escape")
    page.get_by_role("columnheader", name="optimizer").wait_for()
    page.reload()
    page.get_by_role("columnheader", name="optimizer").wait_for()


PEAKS = """
import sys
import ponk
for step, value in enumerate(map(float, sys.argv[1:])):
    ponk.log_metrics({"loss": value, "accuracy": value / 10, "odd": value}, step=step)
"""


def cell(page, run, name):
    return page.locator(ROWS, has_text=run).locator(f"[data-name='{name}']")


def test_columns_show_the_lowest_highest_and_best_value_of_a_metric(visit, served):
    served.write("peaks.py", PEAKS)
    for name, values in (("peaks-a", "3 1 2"), ("peaks-b", "3 1.5 2.5")):
        served.run("submit", "--name", name, "peaks.py", *values.split())
    page = visit("/runs?filter=name%20LIKE%20%27peaks%25%27")
    page.locator(ROWS).nth(1).wait_for()
    page.get_by_role("button", name="Columns").click()
    dialog = page.get_by_role("dialog", name="Columns")
    for name in ("loss · min", "loss · max", "loss · best", "accuracy · best"):
        dialog.get_by_role("button", name=name, exact=True).click()
    assert dialog.get_by_role("button", name="odd · best").is_disabled()
    dialog.get_by_role("button", name="Done").click()

    expected = {"loss": "2", "loss · min": "1", "loss · max": "3", "loss · best": "1", "accuracy · best": "0.3000"}
    for name, value in expected.items():
        cell(page, "peaks-a", name).get_by_text(value, exact=True).wait_for()
    cell(page, "peaks-b", "loss · best").get_by_text("1.5000", exact=True).wait_for()
    page.reload()
    cell(page, "peaks-a", "loss · max").get_by_text("3", exact=True).wait_for()

    # The server sorts by them, all runs and not only those that are here.
    for name, first, order in (("loss · min", "peaks-a", "min.loss%20ASC"), ("loss · best", "peaks-a", "best.loss%20ASC"), ("accuracy · best", "peaks-b", "best.accuracy%20DESC")):
        page.get_by_role("button", name=name, exact=True).click()
        until(page, f"location.hash.replaceAll('+', '%20').includes('{order}')")
        page.get_by_role("columnheader", name=name, exact=True).and_(page.locator("[aria-sort=ascending], [aria-sort=descending]")).wait_for()
        page.locator(ROWS).first.get_by_text(first).wait_for()
    page.get_by_role("button", name="loss · min", exact=True).click()
    page.get_by_role("button", name="loss · min", exact=True).click()
    page.locator(ROWS).first.get_by_text("peaks-b").wait_for()

    page.get_by_role("button", name="Columns").click()
    page.get_by_label("Only those that differ").check()
    page.get_by_role("button", name="Done").click()
    page.get_by_role("columnheader", name="loss · max").wait_for(state="detached")
    assert page.get_by_role("columnheader", name="loss · min").is_visible()


def test_a_view_is_saved_for_other_browsers_and_the_command_line(visit, served):
    page = visit("/runs?filter=params.optimizer%20%3D%20%27sgd%27&order=metrics.loss%20ASC&group=params.lr")
    page.locator(ROWS).first.wait_for()
    page.get_by_role("button", name="Views").click()
    dialog = page.get_by_role("dialog", name="Views")
    dialog.get_by_text("No views yet").wait_for()
    dialog.get_by_label("Save what is shown as").fill("best of sgd")
    dialog.get_by_role("button", name="Save", exact=True).click()
    dialog.get_by_role("button", name=re.compile("^best of sgd")).wait_for()
    dialog.get_by_label("Save what is shown as").fill("best of sgd")
    dialog.get_by_role("button", name="Replace").wait_for()
    page.keyboard.press("Escape")
    page.get_by_role("button", name="Views: best of sgd").wait_for()

    other = visit("/runs", width=390, height=844)
    other.locator(ROWS).first.wait_for()
    other.get_by_role("button", name="Views").click()
    dialog = other.get_by_role("dialog", name="Views")
    dialog.get_by_role("button", name=re.compile("^best of sgd")).click()
    until(other, "location.hash.includes('group=params.lr')")
    assert other.locator("#filter").input_value() == "params.optimizer = 'sgd'"
    assert other.evaluate("document.documentElement.scrollWidth") <= 390

    rows = served.json("history", "list", "--all-projects", "--view", "best of sgd")
    assert rows and {row["params"]["optimizer"] for row in rows} == {"sgd"}
    rates = [float(row["params"]["lr"]) for row in rows]
    assert [str(rate) for rate in rates] == sorted(map(str, rates))

    other.get_by_role("button", name=re.compile("^Views")).click()
    dialog.get_by_role("button", name="Rename best of sgd").click()
    dialog.get_by_label("Name of the view").fill("slow ones")
    dialog.get_by_role("button", name="Rename", exact=True).click()
    dialog.get_by_role("button", name="Delete slow ones").wait_for()
    served.run("daemon", "stop")
    served.run("project", "list")
    other.reload()
    other.get_by_role("button", name=re.compile("^Views")).click()
    dialog.get_by_role("button", name="Delete slow ones").click()
    dialog.get_by_text("No views yet").wait_for()
    missing = served.run("runs", "--all-projects", "--view", "slow ones", code=66)
    assert b"no view 'slow ones'" in missing.stderr


def test_the_table_is_ordered_and_grouped(visit):
    page = visit()
    page.get_by_role("columnheader", name="loss").get_by_role("button").click()
    until(page, "document.querySelector('[aria-sort=descending]')")
    page.get_by_role("columnheader", name="loss").get_by_role("button").click()
    until(page, "document.querySelector('[aria-sort=ascending]')")
    page.get_by_role("button", name="Group").click()
    page.get_by_role("option", name="target", exact=False).first.click()
    page.locator(".group").first.wait_for()


def test_keys_move_select_and_close(visit):
    page = visit()
    page.locator(ROWS).first.wait_for()
    for key in ("j", "x", "j", "x"):
        page.keyboard.press(key)
    page.get_by_text("2 selected").wait_for()
    page.keyboard.press("Escape")
    page.get_by_text("2 selected").wait_for(state="detached")


def test_a_run_gets_a_name_tags_and_goes_to_the_archive(visit, served):
    served.run("submit", "--name", "to-archive", "train.py")
    page = visit()
    page.get_by_role("checkbox", name=re.compile("to-archive")).click()
    page.get_by_role("button", name="Name, note, tags").click()
    dialog = page.get_by_role("dialog")
    dialog.get_by_label("Name").fill("archived-later")
    dialog.get_by_role("button", name="Add a tag").click()
    dialog.get_by_placeholder("tag").last.fill("team")
    dialog.get_by_placeholder("value").last.fill("vision")
    dialog.get_by_role("button", name="Save").click()
    page.locator(ROWS, has_text="archived-later").wait_for()
    assert served.json("history", "list", "--filter", "tags.team = 'vision'")[0]["name"] == "archived-later"
    page.get_by_role("button", name="Archive", exact=True).click()
    page.locator(ROWS, has_text="archived-later").wait_for(state="detached")
    page.get_by_label("Archived too").check()
    page.locator(ROWS, has_text="archived-later").wait_for()


def test_a_run_that_begins_and_ends_is_seen_without_reloading(visit, served):
    page = visit()
    page.locator(ROWS).first.wait_for()
    _, gate = served.submit_waiting("lively")
    page.get_by_label("Jobs").get_by_text("lively").wait_for()
    # It announces itself instead of moving the table.
    page.get_by_role("button", name=re.compile("new run")).click()
    row = page.locator(ROWS, has_text="lively")
    row.get_by_text("Running").wait_for()
    gate.touch()
    row.get_by_text("Completed").wait_for()


def test_a_job_is_canceled_from_the_panel(visit, served):
    served.submit_waiting("endless")
    page = visit("/projects")
    page.get_by_role("button", name=re.compile("^Jobs")).click()
    page.get_by_role("button", name="Cancel").click()
    page.get_by_text("Nothing runs and nothing waits").wait_for()


def test_the_run_bar_starts_a_run_and_remembers(visit, served):
    page = visit("/projects")
    page.get_by_role("button", name=re.compile("project")).first.click()
    bar = page.get_by_role("group", name=re.compile("Run something"))
    bar.get_by_label("Script").fill("train.py")
    bar.get_by_label("arguments").fill("--name 'two words'")
    page.keyboard.press("Control+Enter")
    page.get_by_role("link", name="Runs", exact=False).first.click()
    page.locator(ROWS, has_text="train.py").first.wait_for()
    newest = served.json("history", "list")[0]
    assert newest["arguments"] == ["--name", "two words"]
    page.reload()
    until(page, "document.querySelector('header .words').value.includes('two words')")


def ended(page, served):
    """The run that the bar opened, when it has ended."""
    until(page, "location.hash.startsWith('#/run/')")
    run = page.url.rpartition("/")[2]
    served.run("logs", "--follow", run)
    return served.json("history", "info", run)


def test_the_run_bar_keeps_inputs_and_opens_what_it_started(visit, served):
    served.write("data/x.csv", "1,2")
    served.write(".gitignore", "data/\n")
    served.write("reads.py", "print(open('data/x.csv').read())")
    served.run("submit", "--input", "data", "reads.py")
    project = served.json("history", "info", "last")["project"]
    page = visit("/runs", stored={"ponk.project": project, f"ponk.runbar.{project}": ""})
    bar = page.get_by_role("group", name=re.compile("Run something"))
    bar.get_by_text("with data").wait_for()
    page.keyboard.press("Control+Enter")
    newest = ended(page, served)
    assert newest["status"] == "Completed" and newest["configuration"]["inputs"][0]["path"] == "data"


def test_a_module_is_started_again_and_an_error_goes_with_the_view(visit, served):
    served.write("pkg/__init__.py", "")
    served.write("pkg/train.py", "print('a module')")
    served.run("submit", "-m", "pkg.train")
    project = served.json("history", "info", "last")["project"]
    page = visit("/runs", stored={"ponk.project": project, f"ponk.runbar.{project}": ""})
    bar = page.get_by_role("group", name=re.compile("Run something"))
    until(page, "document.querySelector('header .script').value === '-m pkg.train'")
    bar.get_by_label("Script").fill("none.py")
    page.keyboard.press("Control+Enter")
    page.get_by_text("none.py' does not exist").wait_for()
    page.get_by_role("link", name="Environments", exact=False).first.click()
    page.get_by_text("none.py' does not exist").wait_for(state="detached")
    bar.get_by_label("Script").fill("-m pkg.train")
    page.keyboard.press("Control+Enter")
    assert ended(page, served)["script_name"] == "-m pkg.train"


def test_a_name_cannot_turn_the_text_around(visit, served):
    served.run("submit", "--name", "safe\u202elive", "train.py")
    page = visit("/runs")
    page.get_by_text("safe\\u202elive").first.wait_for()
    page.get_by_text("safe\\u202elive").first.click()
    page.get_by_role("heading", name="safe\\u202elive").wait_for()
    assert not page.evaluate("document.body.innerText.includes('\\u202e')")


def test_text_of_others_stays_text(visit):
    for place in ("/runs", "/runs?filter=params.evil%20IS%20NOT%20NULL&group=params.evil"):
        page = visit(place)
        page.get_by_text(HOSTILE[:20]).first.wait_for()
        page.wait_for_timeout(200)
        assert page.evaluate("window.pwned") is None
        assert page.locator("img[src=x]").count() == 0
    page = visit(f"/runs?filter={HOSTILE.replace('<', '%3C').replace('>', '%3E').replace('=', '%3D')}")
    page.get_by_text("filter at column").wait_for()
    assert page.evaluate("window.pwned") is None


def test_the_run_bar_is_about_the_project_that_is_shown(visit, served):
    page = visit("/runs")
    page.locator("[role=row][aria-rowindex]", has_text="wide-256").first.wait_for()
    # All projects: the table names each run's, and the bar its own.
    page.get_by_role("columnheader", name="Project").wait_for()
    bar = page.get_by_role("group", name=re.compile("Run something"))
    bar.get_by_role("button", name=re.compile(f"in {served.project.name}")).wait_for()
    # A run of another project is looked at.
    page.locator("[role=row] a", has_text="wide-256").first.click()
    page.get_by_role("group", name="Run something in mnist-vision").wait_for()
    page.go_back()
    page.get_by_role("group", name=f"Run something in {served.project.name}").wait_for()
