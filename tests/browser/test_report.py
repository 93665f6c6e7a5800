# SPDX-License-Identifier: Apache-2.0
"""A report of `history export --html`, opened from file:// without a network."""
import pytest
from bench import HOSTILE, until
from test_views import serious


@pytest.fixture(scope="module")
def report(served, tmp_path_factory):
    file = tmp_path_factory.mktemp("report") / "report.html"
    chosen = [run["run_id"] for run in served.json("history", "list", "--all-projects", "--filter", "metrics.accuracy > 0.5 AND target = 'gpu-box'")[:3]]
    hostile = served.json("history", "list", "--all-projects", "--filter", "attributes.run_name LIKE '%onerror%'")[0]["run_id"]
    trained = served.json("history", "list", "--all-projects", "--filter", "attributes.run_name = 'first'")[0]["run_id"]
    served.run("history", "export", "--html", file, *chosen, trained, hostile)
    return file


@pytest.fixture
def look(report, browser):
    """look() opens the report; what it asks of anybody, or reports as an error, fails the test."""
    contexts, troubles = [], []

    def opened(width=1440, height=900, theme="light", language="en-US", **options):
        context = browser.new_context(viewport={"width": width, "height": height}, color_scheme=theme, locale=language, **options)
        contexts.append(context)
        context.set_offline(True)
        page = context.new_page()
        page.set_default_timeout(30_000)
        page.on("pageerror", lambda problem: troubles.append(str(problem)))
        page.on("console", lambda message: troubles.append(message.text) if message.type in ("error", "warning") else None)
        page.on("request", lambda request: troubles.append(request.url) if not request.url.startswith(("file:", "data:", "blob:")) else None)
        page.goto(report.as_uri())
        return page

    yield opened
    for context in contexts:
        context.close()
    assert troubles == []


@pytest.mark.parametrize("width", [1440, 390])
@pytest.mark.parametrize("theme", ["light", "dark"])
def test_it_opens_from_a_file_and_axe_finds_nothing_serious(look, theme, width):
    page = look(theme=theme, width=width)
    page.get_by_role("heading", name="5 runs", level=1).wait_for()
    page.get_by_role("figure").filter(has_text="loss").locator("canvas").first.wait_for()
    assert page.evaluate("document.documentElement.scrollWidth") <= width
    assert serious(page) == []


def test_it_shows_runs_differences_curves_and_each_run(look):
    page = look()
    rows = page.get_by_role("region", name="Runs", exact=True).get_by_role("row")
    rows.nth(5).wait_for()
    assert rows.count() == 6
    assert "Completed" in rows.nth(4).inner_text() and "first" in rows.nth(4).inner_text()
    heads = page.get_by_role("region", name="what differs first").get_by_role("rowheader")
    heads.filter(has_text="lr").first.wait_for()
    figure = page.get_by_role("figure", name="loss: ")
    figure.wait_for()
    # What the canvas shows is said in words, too, and is a table.
    assert "200 points, lowest" in figure.get_attribute("aria-label")
    page.get_by_text("The charts as a table").click()
    table = page.get_by_role("region", name="The charts as a table").get_by_role("row").filter(has_text="first").filter(has_text="loss")
    assert "200" in table.inner_text()
    part = page.get_by_role("region", name="first #")
    assert "train.py" in part.inner_text() and "No GPU was requested" in part.inner_text()
    page.get_by_text("kept it busy for 98 %").first.wait_for()


def test_texts_of_others_stay_texts(look):
    page = look()
    page.get_by_text(HOSTILE, exact=False).first.wait_for()
    assert page.evaluate("window.pwned") is None
    assert page.locator("img").count() == 0


def test_runs_are_hidden_and_ranges_chosen_in_the_charts(look):
    page = look()
    figure = page.get_by_role("figure", name="loss: ")
    figure.locator("canvas").wait_for()
    # Other tests may have made the runs of that name log it, too.
    shown = figure.get_attribute("aria-label").count("lowest")
    assert shown >= 4
    page.get_by_role("checkbox", name="first #").uncheck(force=True)
    until(page, f"document.querySelector('figure[aria-label^=\"loss\"]').getAttribute('aria-label').split('lowest').length === {shown}")
    whole = page.get_by_role("button", name="Whole range")
    # The chart is drawn again without that run: a drag on the one that goes away chooses nothing.
    for _ in range(20):
        box = figure.locator(".u-over").bounding_box()
        page.mouse.move(box["x"] + 50, box["y"] + 40)
        page.mouse.down()
        page.mouse.move(box["x"] + 200, box["y"] + 40, steps=5)
        page.mouse.up()
        page.wait_for_timeout(200)
        if whole.count():
            break
    whole.click()
    assert page.get_by_role("button", name="Whole range").count() == 0


def test_it_speaks_the_language_of_the_reader(look):
    page = look(language="de")
    page.get_by_role("heading", name="5 Läufe").wait_for()
    assert page.evaluate("document.documentElement.lang") == "de"


def test_on_paper_it_is_light_and_every_chart_is_there(look):
    page = look(theme="dark")
    page.get_by_role("figure", name="loss: ").locator("canvas").wait_for()
    charts = page.get_by_role("figure").count()
    page.evaluate("dispatchEvent(new Event('beforeprint'))")
    page.emulate_media(media="print")
    assert page.evaluate("getComputedStyle(document.body).backgroundColor") == "rgb(251, 250, 248)"
    # A metric with one point is shown as its value.
    assert page.locator("figure:has(canvas), figure:has(.values)").count() == charts
    page.evaluate("dispatchEvent(new Event('afterprint'))")
    page.emulate_media(media="screen")
    assert page.evaluate("document.documentElement.dataset.theme") is None
