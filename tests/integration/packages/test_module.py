# SPDX-License-Identifier: Apache-2.0
"""The module ponk of the installed wheel, outside of runs."""
import ast
import os
import pathlib
import subprocess
import zipfile

import pytest


@pytest.fixture
def python(environment, ponk):
    """Runs a text with the installed module, in the project's folder."""
    folder = environment

    def run(text, code=0, **variables):
        done = subprocess.run([folder / "bin/python", "-c", text], cwd=ponk.project, env={**ponk.environment, **variables},
                              capture_output=True, timeout=120)
        assert done.returncode == code, done.stderr.decode()[-2000:]
        return done.stderr.decode()

    run.folder = folder
    ponk.program = str(folder / "bin/ponk")
    return run


def runs(ponk):
    return ponk.json("runs", "--all-projects")


def test_the_first_call_makes_a_run_and_the_end_ends_it(python, ponk):
    said = python("import ponk\nponk.log('loss', 0.5)\nponk.log('loss', 0.25)\nponk.log('curve', [3, 2, 1])\n"
                  "ponk.log_params(lr=0.1)\nponk.set_tag('stage', 'draft')\n")

    made, = runs(ponk)
    info = ponk.json("history", "info", made["run_id"])
    assert (info["status"], info["loss"], info["curve"]) == ("Completed", 0.25, 1)
    assert f"ponk: logging to run {made['run_id']} of 'project'" in said


def test_a_traceback_makes_the_run_failed(python, ponk):
    python("import ponk\nponk.log('loss', 0.5)\nraise ValueError('no')\n", code=1)

    assert [run["status"] for run in runs(ponk)] == ["Failed"]


def test_a_forked_child_logs_to_the_run_of_its_parent_and_does_not_end_it(python, ponk):
    python("import os, sys, ponk\nponk.log('a', 1)\npid = os.fork()\nif pid == 0:\n    ponk.log('b', 2)\n    sys.exit(0)\n"
           "os.waitpid(pid, 0)\nponk.log('c', 3)\n")

    made, = runs(ponk)
    info = ponk.json("history", "info", made["run_id"])
    assert (info["a"], info["b"], info["c"], info["status"]) == (1, 2, 3, "Completed")


@pytest.mark.parametrize("text, variables", [
    ("import ponk\nponk.log('a', 1)\n", {"PONK_TRACKING": "off"}),
    ("import ponk\nponk.disable()\nponk.log('a', 1)\n", {}),
    ("import sys, types\nsys.modules['pytest'] = types.ModuleType('pytest')\nimport ponk\nponk.log('a', 1)\n", {}),
    ("import ponk\n", {}),
])
def test_nothing_is_logged_and_no_daemon_is_started(python, ponk, text, variables):
    assert python(text, **variables) == ""

    assert ponk.json("daemon", "status", code=None)["running"] is False


def test_under_pytest_it_can_be_asked_for(python, ponk):
    python("import sys, types\nsys.modules['pytest'] = types.ModuleType('pytest')\nimport ponk\nponk.log('a', 1)\n", PONK_TRACKING="on")

    assert len(runs(ponk)) == 1


def test_without_a_program_there_is_one_warning_and_the_script_goes_on(python, ponk):
    away = ponk.program + ".away"
    os.rename(ponk.program, away)
    try:
        said = python("import ponk\nfor i in range(3):\n    ponk.log('a', i)\nprint('on')\n")
    finally:
        os.rename(away, ponk.program)

    assert said.count("ponk: warning: ") == 1 and "no program 'ponk' was found" in said


def test_files_are_kept_only_in_runs(python, ponk):
    said = python("import ponk\nponk.log_text('x', 'a.txt')\nponk.log_text('x', 'b.txt')\n")

    assert said.count("kept only in runs") == 1 and not list(ponk.project.iterdir())


def test_in_a_run_the_embedded_module_comes_first(python, ponk):
    ponk.write("where.py", "import ponk\nprint(ponk.__file__)\nponk.log('loss', 0.5)\n")
    environment = {**ponk.environment, "PATH": f"{python.folder / 'bin'}:/usr/bin:/bin"}

    place = ponk.text("submit", "where.py", env=environment).strip()

    assert not place.startswith(str(python.folder)) and pathlib.Path(place).name == "__init__.py"
    made, = runs(ponk)
    assert made["loss"] == 0.5


def test_the_types_name_every_call(wheel):
    with zipfile.ZipFile(wheel) as archive:
        stub = ast.parse(archive.read("ponk/__init__.pyi").decode())
        source = ast.parse(archive.read("ponk/__init__.py").decode())
        assert archive.read("ponk/py.typed") == b""
    declared = {node.name for node in stub.body if isinstance(node, ast.FunctionDef)} | {"run"}
    offered = next(node.value for node in source.body if isinstance(node, ast.Assign) and node.targets[0].id == "__all__")

    assert declared == set(ast.literal_eval(offered))
