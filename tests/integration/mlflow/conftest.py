# SPDX-License-Identifier: Apache-2.0
"""The real client of MLflow against a daemon of its own.

The client lives in the Python that MLFLOW_PYTHON names, else in an environment below .cache/ that is made once with pip.
"""
import json
import os
import pathlib
import shlex
import subprocess
import sys
import venv

import pytest

HERE = pathlib.Path(__file__).resolve().parent
REPOSITORY = HERE.parents[2]
sys.path.insert(0, str(HERE.parents[1] / "support"))
from workbench import Ponk, next_program, ponk, program  # noqa: E402, F401


@pytest.fixture(scope="session")
def mlflow_python():
    """A Python that has the package mlflow."""
    named = os.environ.get("MLFLOW_PYTHON")
    if named:
        return named
    place = REPOSITORY / ".cache" / "mlflow"
    python = place / "bin" / "python"
    if not (place / "complete").exists():
        venv.create(place, with_pip=True, clear=True)
        done = subprocess.run([python, "-m", "pip", "install", "--quiet", "mlflow"], capture_output=True, text=True)
        if done.returncode != 0:
            pytest.skip(f"mlflow cannot be installed here: {done.stderr[-300:]}")
        (place / "complete").touch()
    return str(python)


@pytest.fixture
def client(ponk, mlflow_python):
    """Runs Python code with `mlflow` and `client` in it; what it assigns to `answer` comes back."""
    words = [line.removeprefix("export ") for line in ponk.text("tracking", "env").splitlines() if line.startswith("export ")]
    variables = dict(shlex.split(word)[0].split("=", 1) for word in words)

    def run(code, code_expected=0):
        program = ("import json, math, mlflow\n"
                   "from mlflow import MlflowClient\n"
                   "from mlflow.exceptions import MlflowException\n"
                   "client = MlflowClient()\n"
                   "answer = None\n" + code + "\nprint('\\nANSWER', json.dumps(answer))\n")
        done = subprocess.run([mlflow_python, "-c", program], capture_output=True, text=True, timeout=300, env={
            **ponk.environment, **variables, "MLFLOW_HTTP_REQUEST_MAX_RETRIES": "0",
            "MLFLOW_DISABLE_TELEMETRY": "true", "GIT_PYTHON_REFRESH": "quiet"})
        assert done.returncode == code_expected, done.stdout[-2000:] + done.stderr[-4000:]
        return json.loads(done.stdout.rsplit("\nANSWER ", 1)[1]) if code_expected == 0 else done.stderr

    return run
