# SPDX-License-Identifier: Apache-2.0
"""What python/ executes or defines besides the module `ponk`, on another machine, with and without containers."""
import json

import pytest


@pytest.mark.parametrize("target", ["plain", "docker"])
def test_a_notebook_and_a_script_without_imports(away, target, tmp_path):
    cells = ["import ponk, sys\nponk.log('loss', 0.5)\nsys.argv", "!echo by {sys.argv[1]}", "1 / 0"]
    away.write("x.ipynb", json.dumps({"nbformat": 4, "nbformat_minor": 4, "metadata": {}, "cells": [
        {"cell_type": "code", "metadata": {}, "source": cell, "outputs": [], "execution_count": None} for cell in cells]}))
    away.write("old.py", "print(os.sep, sys.argv)\n")

    done = away.run("submit", "-c", target, "x.ipynb", "word", code=1)

    assert b"['x.ipynb', 'word']\n" in done.stdout and b"by word\n" in done.stdout and b"Cell In[3], line 1\n" in done.stdout
    assert away.json("history", "info", "last")["loss"] == 0.5
    away.run("history", "download", "last", "-d", tmp_path / "got")
    book = json.loads((tmp_path / "got/outputs/x.ipynb").read_text())
    assert [cell["outputs"][-1]["output_type"] for cell in book["cells"]] == ["execute_result", "stream", "error"]
    assert away.text("submit", "-c", target, "old.py") == "/ ['old.py']\n"
