# SPDX-License-Identifier: Apache-2.0
"""Runs beside each other: what differs first, and the address holds what is shown."""
import re

import pytest
from bench import HOSTILE, until
from test_views import serious

SCRIPT = """
import os
import sys
import ponk
lr = float(sys.argv[1])
ponk.log_params({"lr": lr, "layers": 4})
for step in range(50):
    ponk.log({"loss": lr * (50 - step), "accuracy": 1 - lr}, step=step)
os.makedirs("outputs", exist_ok=True)
open("outputs/plot.svg", "w").write("<svg xmlns='http://www.w3.org/2000/svg' width='60' height='40'><rect width='60' height='40' fill='#1f7a4d'/></svg>")
"""


@pytest.fixture(scope="module")
def runs(served):
    found = []
    for number, (name, rate) in enumerate((("low", "0.1"), ("middle", "0.2"), (HOSTILE, "0.4"))):
        served.write("rates.py", SCRIPT + f"print('version {number}')\n")
        served.run("submit", "--name", name, "rates.py", rate)
        found.append(served.json("history", "info", "last")["run_id"])
    return found


def row(page, name):
    cells = page.get_by_role("row").filter(has=page.get_by_role("rowheader", name=name, exact=True)).get_by_role("cell")
    cells.first.wait_for()
    return [text.strip() for text in cells.all_inner_texts()]


def test_what_differs_is_shown_and_what_is_equal_on_request(visit, runs):
    page = visit(f"/compare?runs={','.join(runs)}")
    page.get_by_role("heading", name="Compare 3 runs").wait_for()
    until(page, "document.querySelectorAll('thead a').length === 3")
    assert row(page, "lr") == ["0.1", "0.2", "0.4"]
    assert page.get_by_role("rowheader", name="layers").count() == 0
    assert "best" in row(page, "accuracy")[0] and "best" not in "".join(row(page, "accuracy")[1:])
    assert len(set(row(page, "rates.py"))) == 3
    page.get_by_label("also what is equal").check()
    assert row(page, "layers") == ["4", "4", "4"]
    until(page, "location.hash.includes('all=1')")
    assert page.evaluate("window.pwned") is None


def test_charts_images_and_code_of_the_runs_are_beside_each_other(visit, runs):
    page = visit(f"/compare?runs={','.join(runs)}")
    page.get_by_role("figure").filter(has_text="loss").locator("canvas").first.wait_for()
    page.get_by_role("heading", name="Images").scroll_into_view_if_needed()
    page.get_by_role("img", name="outputs/plot.svg").nth(2).wait_for()
    page.get_by_text("print('version 0')").scroll_into_view_if_needed()
    page.get_by_text("print('version 1')").wait_for()


def test_runs_are_left_out_and_added_and_the_address_says_which(visit, runs):
    page = visit(f"/compare?runs={','.join(runs)}")
    page.get_by_role("button", name="Leave out middle").click()
    page.get_by_role("heading", name="Compare 2 runs").wait_for()
    assert runs[1] not in page.url
    page.get_by_role("button", name="Add a run").click()
    page.get_by_role("dialog").get_by_role("button", name="middle").click()
    page.keyboard.press("Escape")
    page.get_by_role("heading", name="Compare 3 runs").wait_for()
    assert runs[1] in page.url


@pytest.mark.parametrize("theme", ["light", "dark"])
def test_axe_finds_nothing_serious_in_a_comparison(visit, runs, theme):
    page = visit(f"/compare?runs={','.join(runs)}", theme=theme)
    page.get_by_role("figure").first.wait_for()
    assert serious(page) == []


def test_a_phone_compares_without_scrolling_the_page_sideways(visit, runs):
    page = visit(f"/compare?runs={','.join(runs)}", width=390, height=844)
    until(page, "document.querySelectorAll('thead a').length === 3")
    assert page.evaluate("document.documentElement.scrollWidth") <= 390


def test_inputs_are_shown_and_compared_also_where_a_snapshot_has_links(visit, served):
    served.write("look.py", "print('looked')\n")
    (served.project / "same.py").symlink_to("look.py")
    found = []
    for text in ("1\n", "1\n2\n"):
        served.write("data/one.csv", text)
        served.write("more/two.csv", "3\n")
        served.run("submit", "--input", "data", "--input", "more", "look.py")
        found.append(served.json("history", "info", "last")["run_id"])
    page = visit(f"/compare?runs={','.join(found)}")
    page.get_by_role("heading", name="Compare 2 runs").wait_for()
    assert row(page, "data") == ["1 / 2 B", "1 / 4 B"]
    page = visit(f"/run/{found[0]}")
    for name in ("data", "more"):
        page.get_by_role("definition").filter(has_text=name).first.wait_for()


def own_colour(run):
    total = 0
    for sign in run[-12:]:
        total = (total * 31 + ord(sign)) & 0xFFFFFFFF
    return total % 6 + 1


NEAR = {1: 5, 5: 1, 2: 4, 4: 2, 3: 6, 6: 3}


def test_lines_of_one_comparison_are_told_apart(visit, served):
    listed = [run["run_id"] for run in served.json("history", "list", "--all-projects", "--limit", "100")]
    first = listed[0]
    same = next(run for run in listed[1:] if own_colour(run) == own_colour(first))
    close = next(run for run in listed[1:] if own_colour(run) == NEAR[own_colour(first)])
    chosen = [first, same, close]
    chosen += [run for run in listed if run not in chosen][: 6 - len(chosen)]
    for runs in ([first, same], [first, close], chosen):
        page = visit(f"/compare?runs={','.join(runs)}")
        until(page, f"document.querySelectorAll('thead i').length === {len(runs)}")
        marks = page.locator("thead i").evaluate_all("(all) => all.map((one) => [one.style.background, one.classList.contains('dashed')])")
        colours = [int(re.search(r"line(\d)", background).group(1)) for background, _ in marks]
        assert colours[0] == own_colour(first) and len(set(colours)) == len(runs), marks
        assert not any(dashed for _, dashed in marks)
        if len(runs) == 2:
            assert colours[1] != NEAR[colours[0]]
