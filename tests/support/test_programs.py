# SPDX-License-Identifier: Apache-2.0
"""Programs of tests that are compiled: those of `make dev`, else those that `make test` builds under the address sanitizer."""
import os
import pathlib

import pytest


def find_program(path):
    """build/PRESET/PATH, or the test skips."""
    own = pathlib.Path(os.environ["PONK_BIN"]).parent
    named = os.environ.get("PONK_TEST_PROGRAMS")
    for build in ([pathlib.Path(named)] if named else []) + [own, own.parent / "dev", own.parent / "asan"]:
        if (build / path).exists():
            return build / path
    pytest.skip("the program '%s' is not built" % pathlib.Path(path).name)
