# SPDX-License-Identifier: Apache-2.0
"""The page in Debian's Chromium, served by a real daemon with a made history and real runs."""
import os
import pathlib
import subprocess
import sys

import pytest

HERE = pathlib.Path(__file__).resolve().parent
sys.path[:0] = [str(HERE), str(HERE.parents[0] / "support")]
sync_api = pytest.importorskip("playwright.sync_api", reason="PyPI's playwright is not installed")
import bench  # noqa: E402
from workbench import program  # noqa: E402, F401

CHROMIUM = "/usr/bin/chromium"


@pytest.fixture(scope="session")
def served(program, tmp_path_factory):  # noqa: F811
    ours = bench.Bench(program, tmp_path_factory.mktemp("b"))
    ours.fill(300)
    yield ours
    subprocess.run([ours.program, "daemon", "stop"], env=ours.environment, capture_output=True, timeout=60)


@pytest.fixture(scope="session")
def browser():
    if not os.access(CHROMIUM, os.X_OK):
        pytest.fail(f"no '{CHROMIUM}': install Debian's package chromium")
    with sync_api.sync_playwright() as playwright:
        chromium = playwright.chromium.launch(executable_path=CHROMIUM, args=["--no-sandbox"] if os.getuid() == 0 else [])
        yield chromium
        chromium.close()


@pytest.fixture
def visit(served, browser):
    """visit('/runs') opens a view in a new window, logged in; what the console reports as an error fails the test."""
    contexts, troubles = [], []

    def opened(place="/runs", width=1440, height=900, theme="light", language="en-US", login=True, stored=None, address=None):
        context = browser.new_context(viewport={"width": width, "height": height}, color_scheme=theme, locale=language)
        contexts.append(context)
        page = context.new_page()
        page.set_default_timeout(30_000)
        page.on("pageerror", lambda problem: troubles.append(str(problem)))
        page.on("console", lambda message: troubles.append(message.text) if message.type == "error" and not bench.expected(message.text) else None)
        for key, value in (stored or {}).items():
            page.add_init_script(f"localStorage.setItem({key!r}, {value!r})")
        page.goto(address or served.address(place) if login else f"{served.root()}#{place}")
        return page

    yield opened
    for context in contexts:
        context.close()
    assert troubles == []
