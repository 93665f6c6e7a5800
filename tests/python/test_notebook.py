# SPDX-License-Identifier: Apache-2.0
"""The package that executes notebooks, under each Python that is here."""
import json
import os
import subprocess
import sys

import pytest

sys.path.insert(0, os.path.dirname(__file__))
from test_logging import SOURCE, python  # noqa: E402, F401

sys.path.insert(0, SOURCE)
from ponk_notebook import _translate  # noqa: E402


@pytest.mark.parametrize("cell, made", [
    ("x = 1\n%time x", "x = 1\nget_ipython().run_line_magic('time', 'x')"),
    ("if x:\n    !ls {x}", "if x:\n    get_ipython().system('ls {x}')"),
    ("a, b.c = !ls 'x'", "a, b.c = get_ipython().getoutput(\"ls 'x'\")"),
    ("x = %env HOME", "x = get_ipython().run_line_magic('env', 'HOME')"),
    ("!a \\\n  b\nx", "get_ipython().system('a  b')\n\nx"),
    ("pip install x", "get_ipython().run_line_magic('pip', 'install x')"),
    ("len?", "get_ipython().run_line_magic('pinfo', 'len')"),
    ("!a\n'''\n!b\n'''", "get_ipython().system('a')\n'''\n!b\n'''"),
    ("!a\nf(1,\n!b)", "get_ipython().system('a')\nf(1,\n!b)"),
    ("!a\n# it's\n!b", "get_ipython().system('a')\n# it's\nget_ipython().system('b')"),
    ("!a\nx = 'it\\'s'\n!b", "get_ipython().system('a')\nx = 'it\\'s'\nget_ipython().system('b')"),
    ("!a\nx = 'b\\\n!c'\n!d", "get_ipython().system('a')\nx = 'b\\\n!c'\nget_ipython().system('d')"),
    ("x = 17 \\\n% 5", "x = 17 \\\n% 5"),
    ("a == '%b'\n", "a == '%b'\n")])
def test_a_cell_as_python(cell, made):
    assert _translate.to_python(cell) == made


def test_a_translated_cell_has_as_many_lines():
    pieces = ["!a", "%b c", "'''", '"""', "(", ")", "x = !d \\", "  e", "# '", "f('%g' % h)", "i?", ""]
    for number in range(12 ** 3):
        cell = "\n".join(pieces[number // 12 ** place % 12] for place in range(3))
        assert _translate.to_python(cell).count("\n") == cell.count("\n"), cell


CELLS = ["import sys\nx = 2\nprint(sys.argv[1:])", "x + 1", "y = !echo {x} $x\ny", "%%writefile f.txt\nhello", "%cd .\n!cat f.txt",
         "def f():\n    raise KeyError('k')", "f()"]


def test_a_notebook_under_each_python(python, tmp_path):  # noqa: F811
    book = {"nbformat": 4, "nbformat_minor": 4, "metadata": {}, "cells": [
        {"cell_type": "code", "metadata": {}, "source": cell, "outputs": [], "execution_count": None} for cell in CELLS]}
    (tmp_path / "x.ipynb").write_text(json.dumps(book))
    environment = dict(os.environ, PYTHONPATH=SOURCE, PYTHONDONTWRITEBYTECODE="1", PONK_OUTPUTS_DIRECTORY=str(tmp_path / "outputs"))

    # Without packages: a kernel that one of these interpreters may have is another test's.
    done = subprocess.run([python, "-S", "-m", "ponk_notebook", "x.ipynb", "a"], cwd=str(tmp_path), env=environment,
                          stdout=subprocess.PIPE, stderr=subprocess.STDOUT)

    out = done.stdout.decode()
    assert done.returncode == 1, out
    for expected in ("['a']\n", "\n3\n", "['2 2']\n", "Writing f.txt\n", "hello\n", "Cell In[7], line 1\n    f()\n",
                     "Cell In[6], line 2, in f\n    raise KeyError('k')\n", "KeyError: 'k'\n"):
        assert expected in out
    cells = json.loads((tmp_path / "outputs" / "x.ipynb").read_text())["cells"]
    assert [cell["execution_count"] for cell in cells] == [1, 2, 3, 4, 5, 6, 7]
    assert [output["output_type"] for output in cells[6]["outputs"]] == ["error"]
