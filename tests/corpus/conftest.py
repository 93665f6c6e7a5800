# SPDX-License-Identifier: Apache-2.0
"""Where the texts and the binary are, and the table at the end."""
import os
import pathlib

import pytest

REPOSITORY = pathlib.Path(__file__).resolve().parents[2]
CANDIDATES = ("build/dev/bin/ponk", "build/dev/src/ponk", "build/dev/src/cli/ponk", "build/release/bin/ponk",
              "build/release/src/cli/ponk")
TABLE = []


@pytest.fixture(scope="session")
def corpus():
    folder = pathlib.Path(os.environ.get("PONK_CORPUS") or REPOSITORY / ".." / "shared" / "corpus").resolve()
    if not folder.is_dir():
        pytest.skip(f"the texts are not here: {folder} is no folder (PONK_CORPUS names another)")
    return folder


@pytest.fixture(scope="session")
def ponk():
    named = os.environ.get("PONK_BIN")
    for path in [pathlib.Path(named)] if named else [REPOSITORY / candidate for candidate in CANDIDATES]:
        if path.is_file():
            return path.resolve()
    if named:
        pytest.fail(f"PONK_BIN names no file: {named}")
    pytest.skip("no built ponk found; set PONK_BIN to the binary")
    return None


@pytest.fixture(scope="session")
def table():
    """Rows added here are printed after the tests."""
    return TABLE


def pytest_terminal_summary(terminalreporter):
    for row in TABLE:
        terminalreporter.write_line(row)
