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


def test_arguments_behind_file_are_given_to_a_script_without_its_own(ponk):
    ponk.write("train.py", "import sys; print(*sys.argv[1:])\n")
    ponk.write("aml_config/local.runconfig", "ArgumentVector: [$file, --lr, 0.1]\nTarget: local\nFramework: Python\n")
    assert ponk.run("submit", "train.py").stdout == b"--lr 0.1\n"
    done = ponk.run("submit", "train.py", "mine")
    assert done.stdout == b"mine\n"
    assert b"local.runconfig:1:25: these arguments are not used, as the command line has arguments: --lr 0.1" in done.stderr
    ponk.write("aml_config/local.runconfig", "ArgumentVector: [other.py, '10']\nTarget: local\nFramework: Python\n")
    done = ponk.run("submit", "train.py")
    assert done.stdout == b"\n" and b"as the command line names the script: 10" in done.stderr


@pytest.mark.parametrize("name", ["aml_config/local.runconfig", "aml_config/local.compute", "MLproject", "environment.yml"])
def test_a_configuration_that_leads_out_of_the_project_is_not_read(ponk, name):
    other = ponk.project.parent / "netrc"
    other.write_text("machine example login me password topsecret\n")
    ponk.write("train.py", "pass\n")
    (ponk.project / "aml_config").mkdir(exist_ok=True)
    os.symlink(other, ponk.project / name)
    submit = ["submit", "-e", "main"] if name == "MLproject" else ["submit", "train.py"]
    for words in [submit] if name == "environment.yml" else [["check"], submit]:
        done = ponk.run(*words, code=None)
        said = done.stdout + done.stderr
        assert done.returncode != 0 and b"topsecret" not in said and b"outside" in said, said


def test_a_file_that_is_no_map_is_not_quoted(ponk):
    ponk.write("aml_config/local.runconfig", "machine example login me password topsecret\n")
    said = ponk.run("check", code=65)
    assert b"topsecret" not in said.stdout + said.stderr and b"one piece of text" in said.stdout + said.stderr


def test_files_return_to_the_project_of_the_run(ponk):
    ponk.write("train.py", "open('left.txt', 'w').write('1')\n")
    run = ponk.run("submit", "train.py") and ponk.json("history", "last")["run_id"]
    other = ponk.project.parent / "other"
    other.mkdir()
    (other / "a.py").write_text("pass\n")
    ponk.run("submit", "-p", str(other), "a.py")
    done = ponk.run("experiment", "return", "-p", str(other), run)
    assert b"its files go to '" + os.fsencode(ponk.project) in done.stderr
    assert (ponk.project / "left.txt").exists() and not (other / "left.txt").exists()
    ponk.project.rename(ponk.project.parent / "away")
    done = ponk.run("experiment", "return", "-p", str(other), run, cwd=other, code=66)
    assert b"no longer exists" in done.stderr and b"-d FOLDER" in done.stderr
    assert not (other / "left.txt").exists()


def test_a_secret_too_short_to_hide_says_so(ponk):
    assert b"too short to be hidden" in ponk.run("secret", "set", "pin", input=b"q7z\n").stderr
    assert b"too short" not in ponk.run("secret", "set", "pin", input=b"q7zz\n").stderr


def test_variables_that_cannot_be_or_are_not_used_are_named(ponk):
    ponk.write("train.py", "import os; print(os.environ['PONK_RUN_ID'] != 'mine')\n")
    ponk.write("aml_config/local.runconfig", "Target: local\nFramework: Python\nEnvironmentVariables:\n  PONK_RUN_ID: mine\n")
    done = ponk.run("submit", "train.py")
    assert done.stdout == b"True\n" and b"'PONK_RUN_ID' is set by ponk" in done.stderr
    ponk.write("aml_config/local.runconfig", 'Target: local\nFramework: Python\nEnvironmentVariables:\n  K: "a\\0b"\n')
    assert b"local.runconfig:4:6: the value of 'K' contains a zero byte" in ponk.run("submit", "train.py", code=65).stderr


def test_a_notebook_server_of_2017_has_a_hint(ponk):
    assert b"ponk submit NOTEBOOK.ipynb" in ponk.run("notebook", "start", code=None).stderr


def test_check_reads_files_of_packages(ponk):
    ponk.write("pyproject.toml", "[project\nname = 'x'\n")
    assert ponk.run("check", "-o", "table", code=65).stdout.startswith(b"pyproject.toml:1")
    ponk.write("pyproject.toml", "[project]\nname = 'x'\ndependencies = ['a>=1']\n")
    assert b"nothing was checked" not in ponk.run("check").stderr
