# SPDX-License-Identifier: Apache-2.0
"""Views of the table of runs: the form in which they are stored, and the command line."""
import json
import sqlite3

import pytest
from login import Page
from workbench import REPOSITORY

GOLDEN = json.loads((REPOSITORY / "tests" / "golden" / "saved-view.json").read_text())
CONTENT = {name: value for name, value in GOLDEN.items() if name not in ("version", "changed")}


@pytest.fixture
def project(ponk):
    ponk.write("train.py", "import ponk, sys\nponk.log_params({'lr': '0.003'})\nfor value in map(float, sys.argv[1:]):\n    ponk.log('loss', value)\n")
    for name, values in (("a", ".05 .18"), ("b", ".09 .1"), ("c", ".3 .4")):
        ponk.run("submit", "--name", name, "train.py", *values.split())
    return ponk.json("project", "show")["id"]


def database(ponk):
    return sqlite3.connect(ponk.home / "history" / "history.db")


def test_a_view_is_stored_as_the_golden_file_has_it(ponk, project):
    page = Page(ponk)
    session = page.log_in(code=page.code()["code"])[1]["session"]
    status, answer = page.ask("PUT", f"/api/v1/views/best%20ones?project={project}", session, CONTENT)
    assert status == 201, answer
    ponk.run("daemon", "stop")
    with database(ponk) as stored:
        ((name, text),) = stored.execute("SELECT name, value FROM setting WHERE name LIKE 'view:%'").fetchall()
    assert name == f"view:{project}:best ones"
    assert {**json.loads(text), "changed": ""} == {**GOLDEN, "changed": ""}


def test_a_view_of_this_version_is_read_and_one_of_another_is_left_out(ponk, project):
    ponk.run("daemon", "stop")
    with database(ponk) as stored:
        for name, view in (("mine", GOLDEN), ("later", {**GOLDEN, "version": 2})):
            stored.execute("INSERT INTO setting(name, value) VALUES(?, ?)", (f"view:{project}:{name}", json.dumps(view)))
    assert ponk.json("history", "views") == [{"name": "mine", "project": project, **CONTENT, "changed": GOLDEN["changed"]}]
    shown = ponk.text("history", "views", "-o", "table", env={"COLUMNS": "160"})
    assert "mine" in shown and GOLDEN["filter"] in shown and "later" not in shown
    assert [run["name"] for run in ponk.json("runs", "--view", "mine")] == ["a", "b"]
    assert ponk.json("history", "views", "--all-projects") == []
    assert b"the page saves them" in ponk.run("history", "views", "--all-projects", "-o", "table").stderr
