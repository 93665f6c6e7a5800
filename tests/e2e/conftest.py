# SPDX-License-Identifier: Apache-2.0
import pathlib
import sys

import pytest

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parents[1] / "support"))
from gpus import Gpus  # noqa: E402
from workbench import Ponk, next_program, ponk, program, samples  # noqa: E402, F401


@pytest.fixture
def gpus(ponk, tmp_path_factory):
    return Gpus(ponk, tmp_path_factory.mktemp("gpus"))
