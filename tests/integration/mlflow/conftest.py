# SPDX-License-Identifier: Apache-2.0
import pathlib
import sys

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parents[2] / "support"))
from mlflow_client import client, mlflow_python  # noqa: E402, F401
from workbench import Ponk, next_program, ponk, program  # noqa: E402, F401
