# SPDX-License-Identifier: Apache-2.0
"""What people type and leave lying about by mistake: nothing is lost, and what they read is true."""
import os

import pytest


def test_clean_asks_before_it_removes_what_is_nowhere_else(ponk):
    ponk.write("train.py", "open('left.txt', 'w').write('1')\n")
    ponk.run("submit", "train.py")
    done = ponk.run("experiment", "clean", "last", code=65)
    assert b"confirmation needed" in done.stderr and b"'--yes'" in done.stderr
    ponk.run("experiment", "return", "last")
    assert (ponk.project / "left.txt").read_text() == "1"
    ponk.run("experiment", "clean", "last", "--yes")
    ponk.write("train.py", "pass\n")
    ponk.run("submit", "train.py")
    ponk.run("experiment", "clean", "last")  # nothing can be lost


@pytest.mark.parametrize("kind", ["removed", "empty"])
def test_an_environment_whose_python_is_gone_is_named(ponk, kind):
    os.makedirs(ponk.project / ".venv/bin")
    if kind == "removed":
        ponk.write(".venv/pyvenv.cfg", "home = /opt/none\n")
        os.symlink("/opt/none/python3", ponk.project / ".venv/bin/python")
    ponk.write("train.py", "pass\n")
    said = ponk.run("submit", "train.py").stderr
    assert (b"'.venv' of the project is not used: '.venv/bin/python' does not start a Python" in said) == (kind == "removed")


@pytest.mark.parametrize("python, why", [("/no/such", "does not exist"), ("python9.9", "is not on PATH"), ("/", "is a folder")])
def test_a_wrong_python_is_named_as_it_was_typed(ponk, python, why):
    ponk.write("train.py", "pass\n")
    said = ponk.run("submit", "--python", python, "train.py", code=66).stderr.decode()
    assert f"'--python {python}': it {why}" in said and ":0:0" not in said


@pytest.mark.parametrize("name, text", [("README.md", "# notes\n"), ("conf.json", '{"lr": 0.1}'), ("c.yaml", "lr: 0.1\n")])
def test_a_file_that_is_no_program_does_not_run(ponk, name, text):
    ponk.write(name, text)
    said = ponk.run("submit", name, code=65).stderr.decode()
    assert f"'{name}' is not a program" in said and f"ponk submit -- python {name}" in said
    assert ponk.json("runs") == []


def test_a_run_named_twice_is_deleted_once(ponk):
    ponk.write("train.py", "pass\n")
    for name in ("a", "b"):
        ponk.run("submit", "--name", name, "train.py")
    assert len(ponk.json("history", "delete", "a", "1", "b", "a", "--yes")["deleted"]) == 2
    assert ponk.json("runs") == []


def test_an_imported_run_without_an_end_has_no_duration(ponk):
    ponk.write("table.csv", "name,start_time_utc,metrics.loss\nq,2025-06-01,0.4\n")
    ponk.run("history", "import", "table.csv")
    run, = ponk.json("runs", "-A")
    assert run["end_time_utc"] is None and run["duration"] is None and run["duration_ms"] is None


def test_what_differs_between_equal_runs_is_nothing(ponk):
    ponk.write("train.py", "open('left.txt', 'w').write('1')\n")
    ponk.run("submit", "train.py")
    ponk.run("experiment", "rerun", "last")
    fields = {each["field"]: each["equal"] for each in ponk.json("history", "compare", "1", "2")["fields"]}
    assert fields["warnings"] and "configuration.environment.lock_digest" not in fields


def test_a_rerun_with_other_data_says_what_is_different(ponk):
    ponk.write("train.py", "pass\n")
    ponk.write("data/x.bin", "x" * 20000)
    ponk.run("submit", "--input", "data", "train.py")
    ponk.write("data/x.bin", "x" * 20001)
    said = ponk.run("experiment", "rerun", "last").stderr
    assert b"input 'data' has 20001 bytes, before 20000: it is not what run" in said


def test_the_name_that_was_typed_stays_whatever_the_script_calls_its_run(ponk):
    ponk.write("m.py", """
import json, os, urllib.request
def call(path, body):
    request = urllib.request.Request(os.environ["MLFLOW_TRACKING_URI"] + "/api/2.0/mlflow/" + path, json.dumps(body).encode(),
                                     {"Content-Type": "application/json", "Authorization": "Bearer " + os.environ["MLFLOW_TRACKING_TOKEN"]})
    return json.load(urllib.request.urlopen(request))
made = call("runs/create", {"experiment_id": os.environ["MLFLOW_EXPERIMENT_ID"], "run_name": "script",
                            "tags": [{"key": "mlflow.runName", "value": "script"}]})
print(made["run"]["info"]["run_name"])
""")
    assert ponk.run("submit", "--name", "typed", "m.py").stdout == b"typed\n"
    assert ponk.run("submit", "m.py").stdout == b"script\n"
    assert [run["name"] for run in ponk.json("runs")] == ["script", "typed"]


def test_advice_is_not_the_opposite_of_what_was_typed(ponk):
    said = ponk.run("history", "undelete", "1", code=64).stderr
    assert b"Did you mean" not in said and b"history restore" in said
    assert b"1 or more" in ponk.run("runs", "-n", "0", code=64).stderr


def test_an_export_of_a_whole_project_says_how_much(ponk):
    ponk.write("train.py", "pass\n")
    ponk.run("submit", "train.py")
    ponk.run("submit", "train.py")
    assert b"2 runs exported" in ponk.run("history", "export", "-d", "all.jsonl").stderr
