# SPDX-License-Identifier: Apache-2.0
import os
import pathlib
import subprocess
import sys

import pytest

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parents[1] / "support"))
from gpus import Gpus  # noqa: E402
from workbench import Ponk, next_program, ponk, program, samples  # noqa: E402, F401


@pytest.fixture
def gpus(ponk, tmp_path_factory):
    return Gpus(ponk, tmp_path_factory.mktemp("gpus"))


@pytest.fixture
def bound(program, tmp_path_factory):
    """A ponk for which rights count: root has the right to everything, unless it gives that up."""
    folder = tmp_path_factory.mktemp("p")
    wrapper = folder / "bound"
    give_up = "setpriv --bounding-set=-all --inh-caps=-all" if os.getuid() == 0 else ""
    wrapper.write_text(f"#!/bin/sh\nexec {give_up} '{program}' \"$@\"\n")
    wrapper.chmod(0o755)
    ours = Ponk(wrapper, folder)
    yield ours
    subprocess.run([ours.program, "daemon", "stop"], env=ours.environment, capture_output=True, timeout=60)
