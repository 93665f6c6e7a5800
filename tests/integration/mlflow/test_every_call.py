# SPDX-License-Identifier: Apache-2.0
"""Every public method of MLflow's client, once against ponk and once against MLflow's own server: the client sees the same.

What differs is listed in docs/design/mlflow.md, with a reason each; a difference that is not there fails, and so does a row that
does not differ any more. A method that a newer client has and nobody calls fails, too: add it to every_call/.
"""
import concurrent.futures
import fnmatch
import json
import os
import pathlib
import shlex
import signal
import subprocess

import pytest
from differential_models import start_reference
from mlflow_client import matplotlib_folder
from workbench import Ponk

REPOSITORY = pathlib.Path(__file__).resolve().parents[3]
SCRIPT = REPOSITORY / "tests" / "integration" / "mlflow" / "every_call" / "main.py"
DOCUMENT = REPOSITORY / "docs" / "design" / "mlflow.md"
HEADING = "## Every call of the client"


def differences():
    """The calls that may differ, as the document lists them: patterns in backticks, in the first column of its table."""
    part = DOCUMENT.read_text().split(HEADING, 1)[1].split("\n## ", 1)[0]
    rows = [line.split("|") for line in part.splitlines() if line.startswith("| `")]
    assert all(len(row) >= 4 and row[-2].strip() for row in rows), "a row without a reason"
    return [pattern for row in rows for pattern in row[1].replace("`", "").replace(",", " , ").split(" , ") for pattern in [pattern.strip()] if pattern]


def calls_of(python, folder, variables):
    folder.mkdir()
    done = subprocess.run([python, SCRIPT, folder], capture_output=True, text=True, timeout=600, cwd=folder, env={
        **{name: value for name, value in os.environ.items() if not name.startswith("MLFLOW")}, **variables, "MLFLOW_HTTP_REQUEST_MAX_RETRIES": "0",
        "MLFLOW_DISABLE_TELEMETRY": "true", "GIT_PYTHON_REFRESH": "quiet", "MLFLOW_SUPPRESS_PRINTING_URL_TO_STDOUT": "true",
        "HOME": str(folder), "TMPDIR": str(folder), "MPLCONFIGDIR": str(matplotlib_folder())})
    lines = [json.loads(line) for line in done.stdout.splitlines() if line.startswith("{")]
    assert done.returncode == 0 and "unknown" in lines[-1], done.stderr[-3000:]
    return {line.pop("call"): line for line in lines[:-1]}, lines[-1]


def calls_to_mlflow(python, folder):
    server, port = start_reference(str(pathlib.Path(python).parent / "mlflow"), str(folder))
    try:
        return calls_of(python, folder / "calls", {"MLFLOW_TRACKING_URI": f"http://127.0.0.1:{port}"})
    finally:
        os.killpg(server.pid, signal.SIGTERM)
        server.wait()


def calls_to_ponk(program, python, folder):
    ponk = Ponk(program, folder)
    try:
        words = [line.removeprefix("export ") for line in ponk.text("tracking", "env").splitlines() if line.startswith("export ")]
        return calls_of(python, folder / "calls", dict(shlex.split(word)[0].split("=", 1) for word in words))
    finally:
        ponk.run("daemon", "stop", code=None)


@pytest.fixture(scope="module")
def answers(program, mlflow_python, tmp_path_factory):
    """What the client learned from MLflow's server and from ponk. Neither knows of the other, so both are asked at once."""
    with concurrent.futures.ThreadPoolExecutor(2) as both:
        theirs = both.submit(calls_to_mlflow, mlflow_python, tmp_path_factory.mktemp("m"))
        ours = both.submit(calls_to_ponk, program, mlflow_python, tmp_path_factory.mktemp("p"))
        return theirs.result(), ours.result()


def test_every_method_is_called(answers):
    (_, end), _ = answers
    assert end["unknown"] == [], "the client has methods that every_call/ does not call"
    assert end["gone"] == [], "methods that the client has not any more"


def test_the_client_sees_the_same(answers):
    (theirs, _), (ours, _) = answers
    assert ours.keys() == theirs.keys()
    differ = {name for name in theirs if ours[name] != theirs[name]}
    patterns = differences()

    def shown(names):
        return "\n".join(f"{name}\n  mlflow {json.dumps(theirs[name])[:1500]}\n  ponk   {json.dumps(ours[name])[:1500]}" for name in sorted(names))

    unlisted = {name for name in differ if not any(fnmatch.fnmatchcase(name, pattern) for pattern in patterns)}
    assert not unlisted, f"{len(unlisted)} calls differ that docs/design/mlflow.md does not list:\n{shown(unlisted)}"
    vanished = {pattern: sorted(set(fnmatch.filter(theirs, pattern)) - differ) for pattern in patterns}
    vanished = {pattern: names for pattern, names in vanished.items() if names or not fnmatch.filter(theirs, pattern)}
    assert not vanished, f"these are listed in docs/design/mlflow.md and do not differ: {vanished}"
