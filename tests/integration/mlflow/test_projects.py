# SPDX-License-Identifier: Apache-2.0
"""The same MLproject, by 'mlflow run' and by 'ponk submit': the same words for the script, the same parameters in the record."""
import json
import pathlib
import shlex
import subprocess

import pytest

SHOW = "import json, sys\nprint('ARGV', json.dumps(sys.argv[1:]))\n"
PROJECT = """name: demo
entry_points:
  main:
    parameters:
      alpha: {type: float, default: 0.5}
      flag: {default: true}
      quoted: {default: 'true'}
      text: {type: string, default: "it's {alpha}"}
      where: {type: uri, default: s3://bucket/x}
    command: "python show.py {alpha} --flag {flag} {quoted} {text} {where} '{{x}}'"
  data:
    parameters: {file: path}
    command: "python show.py {file}"
  needs:
    parameters: {it: string}
    command: "python show.py {it}"
"""
BY_MLFLOW = """
import json, sys, mlflow
mlflow.set_tracking_uri(sys.argv[1])
run = mlflow.projects.run(sys.argv[2], entry_point=sys.argv[3], parameters=json.loads(sys.argv[4]), env_manager="local")
print("PARAMS", json.dumps(mlflow.get_run(run.run_id).data.params))
"""


def answers(output):
    """What follows each word in capitals at the beginning of a line."""
    lines = [line.split(" ", 1) for line in output.splitlines()]
    return {line[0]: json.loads(line[1]) for line in lines if line[0] in ("ARGV", "PARAMS")}


@pytest.fixture
def both(runs, mlflow_python, tmp_path):
    runs.write("show.py", SHOW)
    runs.write("MLproject", PROJECT)
    runs.write("x.csv", "1\n")

    def run(entry, parameters):
        theirs = subprocess.run([mlflow_python, "-c", BY_MLFLOW, f"sqlite:///{tmp_path}/m.db", str(runs.project), entry,
                                 json.dumps(parameters)], cwd=runs.project, env=runs.environment, capture_output=True, text=True)
        words = [word for name, value in parameters.items() for word in ("-P", f"{name}={value}")]
        ours = runs.run("submit", "-e", entry, *words, code=None)
        said = answers(ours.stdout.decode())
        if ours.returncode == 0:
            said["PARAMS"] = runs.json("history", "info", "last")["params"]
        assert (ours.returncode == 0) == (theirs.returncode == 0), (ours, theirs)
        recorded = answers(theirs.stdout)
        if "PARAMS" in recorded:  # MLflow records values as they are quoted for the shell
            recorded["PARAMS"] = {name: shlex.split(value)[0] for name, value in recorded["PARAMS"].items()}
        return recorded, said

    return run


@pytest.mark.parametrize("entry, parameters", [
    ("main", {}),
    ("main", {"alpha": "1e-3", "text": "a b; $(c) \"d\"", "flag": "no", "more": "*", "and-more": ""}),
    ("main", {"where": "file:///x"}),
    ("main", {"where": "no/uri"}),
    ("show.py", {"alpha": "1"}),
    ("needs", {"it": "x"}),
    ("needs", {}),
    ("other", {}),
    ("data", {"file": "none.csv"}),
])
def test_script_and_record_get_the_same(both, entry, parameters):
    theirs, ours = both(entry, parameters)
    assert ours == theirs


def test_a_path_is_that_of_the_runs_own_copy(both):
    theirs, ours = both("data", {"file": "x.csv"})
    assert pathlib.Path(theirs["ARGV"][0]).name == "x.csv" and ours["ARGV"] == ["x.csv"]
    assert ours["PARAMS"] == theirs["PARAMS"]
