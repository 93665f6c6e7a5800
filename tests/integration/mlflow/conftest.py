# SPDX-License-Identifier: Apache-2.0
import pathlib
import sys

import pytest

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parents[2] / "support"))
from mlflow_client import client, matplotlib_folder, mlflow_python, warm_python  # noqa: E402, F401
from workbench import Ponk, next_program, ponk, program  # noqa: E402, F401


@pytest.fixture
def runs(ponk, mlflow_python):
    """A project whose scripts find the client as `python`."""
    ponk.environment["PATH"] = f"{pathlib.Path(mlflow_python).parent}:/usr/bin:/bin"
    ponk.environment["MLFLOW_DISABLE_TELEMETRY"] = "true"
    ponk.environment["GIT_PYTHON_REFRESH"] = "quiet"
    ponk.environment["MPLCONFIGDIR"] = str(matplotlib_folder())
    # What a model requires is found by another Python that loads it, for seconds. Nobody here asks for it.
    ponk.environment["MLFLOW_REQUIREMENTS_INFERENCE_TIMEOUT"] = "0"
    return ponk
