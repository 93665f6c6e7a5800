# SPDX-License-Identifier: Apache-2.0
"""Each view: it opens without an error, and axe finds nothing serious, in both themes and on a phone."""
import pathlib

import pytest
from bench import until

AXE = pathlib.Path(__file__).resolve().parents[2] / "web" / "node_modules" / "axe-core" / "axe.min.js"
VIEWS = {
    "/runs": "Runs", "/runs?group=params.lr&filter=metrics.loss%20%3C%200.2": "Runs", "/projects": "Projects", "/targets": "Targets",
    "/environments": "Environments", "/models": "Models", "/settings": "Settings", "/about": "About",
}


def serious(page):
    page.evaluate(AXE.read_text())
    found = page.evaluate("axe.run(document, {resultTypes: ['violations']})")
    return [(one["id"], one["nodes"][0]["html"][:200]) for one in found["violations"] if one["impact"] in ("serious", "critical")]


@pytest.mark.parametrize("theme", ["light", "dark"])
@pytest.mark.parametrize("place", VIEWS)
def test_a_view_opens_and_axe_finds_nothing_serious(visit, place, theme):
    page = visit(place, theme=theme)
    page.get_by_role("heading", name=VIEWS[place], level=1).wait_for()
    until(page, "!document.querySelector('[aria-busy=true]')")
    assert serious(page) == []


@pytest.mark.parametrize("theme", ["light", "dark"])
def test_the_login_has_nothing_serious(visit, theme):
    page = visit(theme=theme, login=False)
    page.get_by_role("heading", name="Open the workbench").wait_for()
    assert serious(page) == []


@pytest.mark.parametrize("theme", ["light", "dark"])
def test_dialogs_of_the_table_have_nothing_serious(visit, theme):
    page = visit("/runs", theme=theme)
    page.get_by_role("row").nth(3).wait_for()
    page.get_by_role("button", name="Columns").click()
    page.get_by_role("dialog", name="Columns").wait_for()
    assert serious(page) == []
    page.keyboard.press("Escape")
    page.keyboard.press("?")
    page.get_by_role("dialog", name="Keys").wait_for()
    assert serious(page) == []


@pytest.mark.parametrize("place", ["/runs", "/targets", "/settings"])
def test_a_phone_has_the_views_without_scrolling_sideways(visit, place):
    page = visit(place, width=390, height=844)
    page.get_by_role("heading", level=1).wait_for()
    until(page, "!document.querySelector('[aria-busy=true]')")
    assert page.evaluate("document.documentElement.scrollWidth") <= 390
    assert serious(page) == []
    page.get_by_role("button", name="Navigation").click()
    page.get_by_role("link", name="Projects").click()
    page.get_by_role("heading", name="Projects", level=1).wait_for()


def test_an_address_that_no_view_has_says_so(visit):
    page = visit("/nowhere")
    page.get_by_text("no view “nowhere”").wait_for()


def test_the_keys_are_listed_and_the_theme_is_remembered(visit):
    page = visit("/runs")
    page.get_by_role("row").nth(3).wait_for()
    page.keyboard.press("?")
    page.get_by_role("dialog", name="Keys").wait_for()
    page.keyboard.press("Escape")
    page.get_by_role("button", name="Light or dark").click()
    page.reload()
    until(page, "document.documentElement.dataset.theme === 'dark'")


@pytest.mark.parametrize("language, word", [("de", "Läufe"), ("fr", "Exécutions"), ("nl", "Runs"), ("cs", "Běhy"), ("pt-BR", "Execuções")])
def test_the_page_speaks_the_language_of_the_browser(visit, language, word):
    page = visit("/runs", language=language)
    page.get_by_role("heading", name=word, level=1).wait_for()


def test_longer_texts_fit_into_navigation_and_run_bar(visit):
    page = visit("/runs", width=1024, stored={"ponk.language": "xx"})
    page.get_by_role("heading", level=1).wait_for()
    cut = page.evaluate("[...document.querySelectorAll('nav a, header button')].filter((one) => one.scrollWidth > one.clientWidth + 1).map((one) => one.textContent)")
    assert cut == []
    assert page.evaluate("document.documentElement.scrollWidth") <= 1024
