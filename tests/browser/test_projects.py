# SPDX-License-Identifier: Apache-2.0
"""Projects: made from the page, added, and described by a README that runs nothing."""
import pytest
from bench import HOSTILE
from test_views import serious


def test_a_project_is_made_from_a_sample_and_its_readme_is_shown(visit, served):
    page = visit("/projects")
    page.get_by_role("button", name="New project").click()
    dialog = page.get_by_role("dialog", name="New project")
    dialog.get_by_text("Sample", exact=True).first.click()
    dialog.get_by_label("Create it in").fill(str(served.project.parent))
    dialog.get_by_text("needs only Python and NumPy").wait_for()
    dialog.get_by_label("Name of the project").fill("digits")
    dialog.get_by_role("button", name="Create").click()
    page.get_by_role("heading", name="digits", level=1).wait_for()
    page.locator("article").get_by_role("heading").first.wait_for()
    page.get_by_role("link", name="Files", exact=True).last.click()
    page.get_by_role("treeitem", name="README.md").wait_for()
    assert serious(page) == []


def test_what_is_wrong_is_said_and_nothing_typed_is_lost(visit, served):
    page = visit("/projects")
    page.get_by_role("button", name="New project").click()
    dialog = page.get_by_role("dialog", name="New project")
    dialog.get_by_label("Name of the project").fill(served.project.name)
    dialog.get_by_label("Create it in").fill(str(served.project.parent))
    dialog.get_by_role("button", name="Create").click()
    dialog.get_by_text("already exists").wait_for()
    assert dialog.get_by_label("Name of the project").input_value() == served.project.name


@pytest.mark.parametrize("theme", ["light", "dark"])
def test_a_readme_of_others_runs_nothing(visit, served, theme):
    folder = served.project.parent / f"hostile-{theme}"
    folder.mkdir(exist_ok=True)
    (folder / "README.md").write_text(f"# {HOSTILE}\n\n{HOSTILE}\n\n[x](javascript:window.pwned=1) [file](train.py) [out](../../../etc/passwd)\n")
    (folder / "train.py").write_text("print(1)\n")
    page = visit("/projects", theme=theme)
    page.get_by_role("button", name="New project").click()
    dialog = page.get_by_role("dialog", name="New project")
    dialog.get_by_text("Existing folder").click()
    dialog.get_by_label("Path of the folder").fill(str(folder))
    assert serious(page) == []
    dialog.get_by_role("button", name="Add").click()
    page.get_by_role("heading", name=f"hostile-{theme}", level=1).wait_for()
    article = page.locator("article")
    article.get_by_text("onerror").first.wait_for()
    assert article.locator("a").evaluate_all("(all) => all.map((one) => one.getAttribute('href'))") == ["#/files/train.py"]
    assert page.evaluate("window.pwned === undefined")
    assert serious(page) == []
    article.get_by_role("link", name="file").click()
    page.locator(".cm-content").get_by_text("print").wait_for()
    page.set_viewport_size({"width": 390, "height": 844})
    # The editor measures itself anew. The page's policy forbids the eval of `wait_for_function`.
    for _ in range(200):
        if page.evaluate("document.documentElement.scrollWidth <= 390"):
            break
        page.wait_for_timeout(50)
    else:
        raise AssertionError("the page is wider than the window")


def test_targets_that_only_files_name_are_shown_and_checked(visit, served):
    served.write("aml_config/spare.compute", "type: local\n")
    page = visit(address=served.address("/targets", project=True))
    card = page.locator("section", has=page.get_by_role("heading", name="spare"))
    card.wait_for()
    card.get_by_role("button", name="Check").click()
    card.get_by_text("Linux").first.wait_for()
