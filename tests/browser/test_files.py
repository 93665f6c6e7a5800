# SPDX-License-Identifier: Apache-2.0
"""The files of a project: tree, editor, conflicts, pictures, notebooks, and what hostile projects put there."""
import base64
import json
import os
import re
import time

import pytest
from bench import HOSTILE, until
from test_views import serious

PNG = base64.b64decode("iVBORw0KGgoAAAANSUhEUgAAAAEAAAABCAYAAAAfFcSJAAAADUlEQVR42mNkYPj/HwADAgH/p9m1cAAAAABJRU5ErkJggg==")
SVG = '<svg xmlns="http://www.w3.org/2000/svg" onload="window.pwned=1" width="40" height="40"><script>window.pwned=1</script><circle cx="20" cy="20" r="18"/></svg>'


@pytest.fixture(scope="module")
def project(served):
    folder = served.project
    served.write("files/train.py", "import ponk\n\nfor step in range(3):\n    ponk.log_metric('loss', 1 / (step + 1))\n")
    served.write("files/data.json", '{"a": 1}\n')
    served.write("aml_config/box.compute", "type: remotedocker\nadress: gpu1\nusername: ann\n")
    (folder / "files" / "dot.png").write_bytes(PNG)
    (folder / "files" / "shape.svg").write_text(SVG)
    (folder / "files" / "weights.bin").write_bytes(bytes(range(256)) * 8)
    (folder / "files" / "large.log").write_bytes(b"line\n" * (1 << 20))
    (folder / "files" / "out").symlink_to("/etc")
    return folder


@pytest.fixture
def look(visit, served, project):
    def opened(path="", **more):
        place = "/files" + ("/" + path if path else "")
        page = visit(address=served.address(place, project=True), **more)
        page.get_by_role("heading", name="Files", level=1).wait_for()
        return page

    return opened


def text_of(page):
    return page.locator(".cm-content").inner_text()


def on_disk(path, wanted, seconds=30):
    deadline = time.monotonic() + seconds
    while path.read_text() != wanted:
        assert time.monotonic() < deadline, path.read_text()
        time.sleep(0.05)


def type_at_end(page, text):
    page.locator(".cm-content").click()
    page.keyboard.press("Control+End")
    page.keyboard.type(text)


def test_a_file_is_found_changed_and_saved_by_keys_alone(look, project):
    (project / "files" / "keys.py").write_bytes(b"one = 1\r\n")
    os.chmod(project / "files" / "keys.py", 0o750)
    page = look()
    tree = page.get_by_role("tree")
    folder = tree.get_by_role("treeitem", name="files", exact=True)
    folder.focus()
    page.keyboard.press("ArrowRight")
    item = tree.get_by_role("treeitem", name="keys.py")
    item.wait_for()
    item.focus()
    page.keyboard.press("Enter")
    page.locator(".cm-content").wait_for()
    page.locator(".cm-content").focus()
    page.keyboard.press("Control+End")
    page.keyboard.type("two = 2")
    page.get_by_role("status").filter(has_text="Not saved").wait_for()
    item.get_by_text("Not saved").wait_for(state="attached")
    page.keyboard.press("Control+s")
    page.get_by_role("status").filter(has_text=re.compile(r"\bSaved")).wait_for()
    assert (project / "files" / "keys.py").read_bytes() == b"one = 1\r\ntwo = 2"
    assert (project / "files" / "keys.py").stat().st_mode & 0o777 == 0o750


def test_keys_of_the_page_are_letters_in_the_editor(look, project):
    (project / "files" / "letters.txt").write_text("")
    page = look("files/letters.txt")
    type_at_end(page, "/?jkxcr")
    assert text_of(page).strip() == "/?jkxcr"
    assert page.get_by_role("dialog").count() == 0


def test_what_is_not_saved_survives_another_view_and_is_asked_about(look, project):
    (project / "files" / "draft.txt").write_text("first\n")
    page = look("files/draft.txt")
    type_at_end(page, "draft")
    page.get_by_role("link", name="Projects").click()
    page.get_by_role("heading", name="Projects", level=1).wait_for()
    page.get_by_role("link", name="Files", exact=True).click()
    page.get_by_label("Open files").get_by_role("link", name="draft.txt").click()
    page.locator(".cm-content").wait_for()
    assert "draft" in text_of(page)
    page.get_by_role("button", name="Close files/draft.txt").click()
    page.get_by_text("draft.txt has changes that are not saved.").wait_for()
    page.get_by_role("button", name="Discard the changes").click()
    page.get_by_label("Open files").wait_for(state="detached")
    assert (project / "files" / "draft.txt").read_text() == "first\n"


def asks_before_it_goes(page):
    asked = []
    page.once("dialog", lambda dialog: (asked.append(dialog.type), dialog.accept()))
    page.reload()
    return asked == ["beforeunload"]


def test_the_browser_asks_about_unsaved_text_in_another_view(look, project):
    (project / "files" / "leaving.txt").write_text("first\n")
    page = look("files/leaving.txt")
    type_at_end(page, "draft")
    page.get_by_role("status").filter(has_text="Not saved").wait_for()
    page.get_by_role("link", name="Projects").click()
    page.get_by_role("heading", name="Projects", level=1).wait_for()
    assert asks_before_it_goes(page)


@pytest.fixture(scope="module")
def beside(served, project):
    """Another project, with a file of the same path."""
    folder = served.project.parent / "beside"
    folder.mkdir(exist_ok=True)
    return folder


@pytest.fixture
def switched(look, project, beside):
    """switched(page) goes from the first project to the other one, which becomes known on the way."""
    def go(page):
        page.get_by_role("link", name="Projects").click()
        page.get_by_role("button", name="New project").click()
        dialog = page.get_by_role("dialog", name="New project")
        dialog.get_by_text("Existing folder").click()
        dialog.get_by_label("Path of the folder").fill(str(beside))
        dialog.get_by_role("button", name="Add").click()
        page.get_by_role("heading", name="beside", level=1).wait_for()
        page.get_by_role("link", name="Files", exact=True).first.click()
        page.get_by_role("treeitem", name="same.txt").click()
        page.locator(".cm-content").get_by_text("of the other").wait_for()

    (project / "same.txt").write_text("of the first\n")
    (beside / "same.txt").write_text("of the other\n")
    return go


def test_the_browser_asks_about_unsaved_text_of_another_project(look, switched):
    page = look("same.txt")
    type_at_end(page, "draft")
    page.get_by_role("status").filter(has_text="Not saved").wait_for()
    switched(page)
    assert asks_before_it_goes(page)


def test_an_answer_for_one_project_leaves_the_texts_of_another_alone(look, switched, project):
    page = look("same.txt")
    type_at_end(page, "mine")
    held = []
    page.route("**/file?path=same.txt", lambda route: held.append(route) if route.request.method == "PUT" else route.continue_())
    page.keyboard.press("Control+s")
    page.get_by_role("status").filter(has_text="Saving").wait_for()
    switched(page)
    type_at_end(page, "x")
    with page.expect_response(lambda answer: answer.request.method == "PUT"):
        held[0].continue_()
    on_disk(project / "same.txt", "of the first\nmine")
    # As it was read is still what is saved.
    page.keyboard.press("Backspace")
    page.get_by_role("status").filter(has_text=re.compile(r"\bSaved")).wait_for()
    assert text_of(page).strip() == "of the other"


@pytest.mark.parametrize("choice, wanted", [("Keep mine", "first\nmine"), ("Take the disk’s", "elsewhere\n")])
def test_a_change_on_disk_is_a_choice_and_nothing_is_lost(look, project, choice, wanted):
    path = project / "files" / "shared.txt"
    path.write_text("first\n")
    page = look("files/shared.txt")
    page.locator(".cm-content").wait_for()
    type_at_end(page, "mine")
    path.write_text("elsewhere\n")
    page.keyboard.press("Control+s")
    page.get_by_text("was changed on disk since you opened it").wait_for()
    assert path.read_text() == "elsewhere\n" and "mine" in text_of(page)
    page.get_by_role("button", name="Show both").click()
    page.locator("pre").get_by_text("elsewhere").wait_for()
    page.get_by_role("button", name=choice).click()
    page.get_by_text("was changed on disk").wait_for(state="detached")
    on_disk(path, wanted)
    page.get_by_role("status").filter(has_text=re.compile(r"\bSaved")).wait_for()
    assert text_of(page).strip() == wanted.strip()


def test_the_view_follows_the_disk(look, project):
    path = project / "files" / "follow.txt"
    path.write_text("before\n")
    page = look("files/follow.txt")
    page.locator(".cm-content").get_by_text("before").wait_for()
    path.write_text("after it\n")
    page.locator(".cm-content").get_by_text("after it").wait_for()
    (project / "made-meanwhile.txt").write_text("x")
    page.get_by_role("treeitem", name="made-meanwhile.txt").wait_for()
    (project / "made-meanwhile.txt").unlink()
    page.get_by_role("treeitem", name="made-meanwhile.txt").wait_for(state="detached")
    # One that was typed into is not replaced: it is asked about.
    type_at_end(page, "typed")
    path.write_text("third\n")
    page.get_by_role("button", name="Keep mine").wait_for()
    assert "typed" in text_of(page)


def test_configuration_is_checked_and_completed_where_it_is_typed(look):
    page = look("aml_config/box.compute")
    page.get_by_role("button", name="no key 'adress'").wait_for()
    page.locator(".cm-lintRange-error, .cm-lintRange-warning").first.wait_for()
    page.get_by_role("button", name="no key 'adress'").click()
    page.get_by_text("line 2, column 1").wait_for()
    type_at_end(page, "\nnvidia")
    page.locator(".cm-tooltip-autocomplete").get_by_text("nvidiaDocker").click()
    page.keyboard.type("t")
    page.locator(".cm-tooltip-autocomplete").get_by_text("true").click()
    assert "nvidiaDocker: true" in text_of(page)


def test_a_new_file_is_made_and_one_that_is_there_is_not_overwritten(look, project):
    (project / "files" / "kept.txt").write_text("kept")
    page = look()
    page.get_by_role("button", name="New file").click()
    page.get_by_label("Path in the project").fill("files/kept.txt")
    page.get_by_role("button", name="Create").click()
    page.get_by_text("exists already").wait_for()
    page.get_by_label("Path in the project").fill("../outside.txt")
    page.get_by_role("button", name="Create").click()
    page.get_by_text("is outside its folder").wait_for()
    page.get_by_label("Path in the project").fill("files/fresh.py")
    page.get_by_role("button", name="Create").click()
    page.locator(".cm-content").wait_for()
    assert (project / "files" / "kept.txt").read_text() == "kept" and (project / "files" / "fresh.py").read_text() == ""


def test_what_is_no_text_is_shown_or_downloaded(look):
    page = look("files/dot.png")
    until(page, "document.querySelector('.shown img')?.naturalWidth === 1")
    for path, said in (("files/weights.bin", "not text in UTF-8"), ("files/large.log", "too large for the editor: 5 MiB")):
        page = look(path)
        page.get_by_text(said).wait_for()
        with page.expect_download() as download:
            page.get_by_role("button", name="Download").click()
        assert download.value.suggested_filename == path.split("/")[1]
    page = look()
    page.get_by_role("treeitem", name="files", exact=True).click()
    link = page.get_by_role("treeitem", name="out")
    assert "Links are not followed" in link.get_attribute("title")
    link.click()
    assert page.url.endswith("#/files")


def test_texts_pictures_notebooks_and_names_of_others_run_nothing(look, project):
    evil = project / "evil"
    evil.mkdir(exist_ok=True)
    name = "<img src=x onerror='window.pwned=1'>.py"
    (evil / name).write_text(HOSTILE)
    (evil / "README.md").write_text(
        f"# Title {HOSTILE}\n\n{HOSTILE}\n\n[click](javascript:window.pwned=1) [data](data:text/html,<script>1</script>) [up](../../secret) [in](../files/train.py)"
        " [web](https://example.org/a?b=1) ![x](x\" onerror=\"window.pwned=1) ![out](/etc/../../x.png) ![web](http://127.0.0.1:1/spy.png)\n\n"
        "```html\n<script>window.pwned=1</script>\n```\n\n|a|b|\n|-|-|\n|<b onclick=1>x</b>|`<i>`|\n")
    outputs = [{"output_type": "display_data", "data": {"text/html": HOSTILE, "application/javascript": "window.pwned=1"}},
               {"output_type": "display_data", "data": {"image/svg+xml": SVG}}, {"output_type": "stream", "text": HOSTILE},
               {"output_type": "error", "ename": HOSTILE, "evalue": HOSTILE, "traceback": ["\x1b[31m" + HOSTILE]}]
    (evil / "book.ipynb").write_text(json.dumps({"nbformat": 4, "nbformat_minor": 5, "metadata": {}, "cells": [
        {"cell_type": "markdown", "metadata": {}, "source": [HOSTILE, "\n[x](javascript:window.pwned=1)"]},
        {"cell_type": "code", "execution_count": 1, "metadata": {}, "source": HOSTILE, "outputs": outputs}]}))
    page = look("evil/book.ipynb")
    page.get_by_text("Not shown here: text/html, application/javascript").wait_for()
    until(page, "document.querySelector('.notebook img')?.naturalWidth === 40")
    assert page.locator(".notebook a, .notebook script, .notebook iframe").count() == 0
    page.get_by_role("button", name="Show as text").click()
    page.locator(".cm-content").wait_for()

    page = look("evil/README.md")
    page.get_by_role("button", name="Show rendered").click()
    page.get_by_role("heading", name="Title").wait_for()
    links = page.locator(".markdown a").evaluate_all("(all) => all.map((one) => one.getAttribute('href'))")
    assert links == ["#/files/files/train.py", "https://example.org/a?b=1", "http://127.0.0.1:1/spy.png"]
    assert page.locator(".markdown img, .markdown script, .markdown b").count() == 0
    page = look()
    page.get_by_role("treeitem", name="evil").click()
    page.get_by_role("treeitem", name=name).click()
    page.locator(".cm-content").get_by_text("onerror").first.wait_for()
    page = look("files/shape.svg")
    until(page, "document.querySelector('.shown img')?.naturalWidth === 40")
    page.wait_for_timeout(300)
    assert page.evaluate("window.pwned === undefined")


@pytest.mark.parametrize("theme", ["light", "dark"])
def test_axe_finds_nothing_serious(look, theme):
    page = look("aml_config/box.compute", theme=theme)
    page.get_by_role("button", name="no key 'adress'").wait_for()
    assert serious(page) == []
    page = look("README.md", theme=theme)
    page.get_by_role("tree").wait_for()
    assert serious(page) == []


def test_a_phone_shows_the_tree_or_the_file(look):
    page = look(width=390, height=844)
    page.get_by_role("treeitem", name="files", exact=True).click()
    page.get_by_role("treeitem", name="train.py").last.click()
    page.locator(".cm-content").wait_for()
    assert page.get_by_role("tree").count() == 0
    assert page.evaluate("document.documentElement.scrollWidth") <= 390
    assert serious(page) == []
    page.locator(".bar").get_by_role("link").click()
    page.get_by_role("tree").wait_for()


def test_files_are_not_for_who_came_with_a_token(visit, served, project):
    token = served.text("token", "create", "--name", f"files-{time.time_ns()}", "--role", "administer", "-o", "table").strip()
    page = visit("/files", login=False)
    page.get_by_label("Token").fill(token)
    page.keyboard.press("Enter")
    page.get_by_text("Runs").first.wait_for()
    assert page.get_by_role("link", name="Files", exact=True).count() == 0
