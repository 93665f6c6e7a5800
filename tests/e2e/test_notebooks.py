# SPDX-License-Identifier: Apache-2.0
"""Notebooks as runs, by the runner of our own and by a kernel where the tests' Python has one."""
import importlib.util
import json
import subprocess
import sys
import time

import pytest
from workbench import own_metrics

needs_await = pytest.mark.skipif(sys.version_info < (3, 8), reason="await at the top level needs Python 3.8")


def notebook(*cells, minor=5, **metadata):
    return json.dumps({"nbformat": 4, "nbformat_minor": minor, "metadata": metadata, "cells": [
        {"cell_type": "markdown", "id": "t", "metadata": {}, "source": ["# Title"]},
        *({"cell_type": "code", "id": f"c{i}", "metadata": {}, "source": cell.splitlines(True), "outputs": [],
           "execution_count": None} for i, cell in enumerate(cells))]})


@pytest.fixture
def plain(ponk):
    """A Python without packages: the cells are executed by ponk's own runner."""
    ponk.write("aml_config/plain.compute", "type: local\npythonLocation: bin/plain\n")
    ponk.write("aml_config/plain.runconfig", "Target: plain\nFramework: Python\n")
    ponk.write("bin/plain", f"#!/bin/sh\nexec {sys.executable} -S \"$@\"\n").chmod(0o755)


def executed(ponk, name="x.ipynb"):
    folder = ponk.project.parent / "kept"
    subprocess.run(["rm", "-rf", folder], check=True)
    ponk.run("history", "download", "last", "-d", folder)
    (file,) = folder.rglob(name)
    book = json.loads(file.read_text())
    return [cell for cell in book["cells"] if cell["cell_type"] == "code"]


def submit(ponk, *words, code=0):
    return ponk.run("submit", "-c", "plain", *words, code=code)


def wait_for(condition, seconds=60):
    deadline = time.monotonic() + seconds
    while not condition():
        assert time.monotonic() < deadline, "it did not happen"
        time.sleep(0.05)


def text_of(cell):
    return "".join("".join(output.get("text", [])) for output in cell["outputs"])


@pytest.fixture
def book(ponk, plain):
    """Writes the notebook x.ipynb and runs it."""
    def run(*cells, code=0, words=(), **metadata):
        ponk.write("x.ipynb", notebook(*cells, **metadata))
        return submit(ponk, "x.ipynb", *words, code=code)
    return run


def test_cells_share_names_and_their_values_are_kept(ponk, book):
    done = book("import sys\nx = 20\nprint(sys.argv, __name__)", "x + 1", "x;", "", "{'a': x}", words=("a", "b c"))

    assert done.stdout.decode().splitlines() == [
        "In [1/4] import sys", "['x.ipynb', 'a', 'b c'] __main__", "In [2/4] x + 1", "21", "In [3/4] x;",
        "In [4/4] {'a': x}", "{'a': 20}"]
    cells = executed(ponk)
    assert [cell["execution_count"] for cell in cells] == [1, 2, 3, None, 4]
    assert cells[1]["outputs"] == [{"output_type": "execute_result", "execution_count": 2, "metadata": {},
                                    "data": {"text/plain": "21"}}]
    assert cells[2]["outputs"] == []


def test_a_failing_cell_fails_the_run_and_says_where(ponk, book):
    done = book("def f():\n    return 1 / 0", "print('before')\nf()", "print('never')", code=1)

    assert b'  Cell In[2], line 2\n    f()\n' in done.stdout and b"  Cell In[1], line 2, in f\n    return 1 / 0\n" in done.stdout
    assert b"never" not in done.stdout and b"ponk_notebook" not in done.stdout
    assert ponk.json("history", "last")["status"] == "Failed"
    cells = executed(ponk)
    assert [output["output_type"] for output in cells[1]["outputs"]] == ["stream", "error"]
    assert cells[1]["outputs"][1]["ename"] == "ZeroDivisionError"
    assert cells[2]["execution_count"] is None


def test_commands_and_magics(ponk, book):
    done = book("name = 'world'\n!echo hello {name} $name\nlines = !echo a; echo b\nprint(lines)",
                "%%writefile made.txt\n%not a magic\n", "!cat made.txt", "%%bash\nfor i in 1 2; do echo n$i; done",
                "%matplotlib inline\n%azureml history on\n%load_ext autoreload\n%env FIRST=1\n%cd .",
                "def f(n):\n    if n:\n        !echo in f {n} \\\n          more\nf(3)", "%time y = 5\ny", "%%time\ny + 1",
                "get_ipython().system('echo by call'); get_ipython().run_line_magic('pwd', '')[0]",
                "from IPython.display import display, HTML\ndisplay(HTML('<b>x</b>'))")
    out = done.stdout.decode()

    for expected in ("hello world world\n", "['a', 'b']\n", "%not a magic\n", "n1\nn2\n", "env: FIRST=1\n", "in f 3 more\n",
                     "Wall time: ", "by call\n", "ponk: %azureml history on has no effect in a run\n"):
        assert expected in out
    cells = executed(ponk)
    assert cells[9]["outputs"][0]["data"]["text/html"] == "<b>x</b>"
    assert text_of(cells[0]) == "hello world world\n['a', 'b']\n"


def test_what_looks_like_a_magic_inside_a_statement_is_python(ponk, book):
    done = book("!true\ntext = '''\n%time\n!rm -rf x\nname?\n'''\nn = (17\n% 5)\nm = 17 \\\n% 4\nlist = [\n'a', \"\"\"\n%x\"\"\"]\n"
                "print(repr(text), n, m, list)")
    assert "'\\n%time\\n!rm -rf x\\nname?\\n' 2 1 ['a', '\\n%x']\n" in done.stdout.decode()


def test_an_unknown_magic_is_named_with_its_place(book):
    done = book("x = 1", "y = 2\n%sparkle on\n", code=1)
    assert b"there is no magic '%sparkle' here (cell 2, line 2: %sparkle on)" in done.stdout
    assert b"there is no magic '%%sparkle' here (cell 1, line 1: %%sparkle)" in book("%%sparkle\nx", code=1).stdout


@needs_await
def test_await_at_the_top_level(book):
    done = book("import asyncio\nasync def f():\n    await asyncio.sleep(0)\n    return 'waited'", "value = await f()\nvalue", "await f()")
    assert done.stdout.count(b"'waited'\n") == 2


def test_processes_of_a_cell(ponk, book):
    done = book("import multiprocessing\ndef f(n):\n    print(f'child {n}\\n', end='', flush=True)\n    return n * n",
                "with multiprocessing.get_context('fork').Pool(2) as pool:\n    print(pool.map(f, [1, 2, 3]))")
    assert b"child 2" in done.stdout and b"[1, 4, 9]" in done.stdout
    assert text_of(executed(ponk)[1]) == "[1, 4, 9]\n"


def test_metrics_outputs_and_the_folder_of_the_notebook(ponk, plain):
    ponk.write("lib/helper.py", "value = 0.25\n")
    ponk.write("lib/deep.ipynb", notebook("import ponk, helper, os\nponk.log('loss', helper.value)",
                                          "open('outputs/model.txt', 'w').write('m')\nos.path.basename(os.getcwd())"))
    assert b"'lib'\n" in submit(ponk, "lib/deep.ipynb").stdout
    assert own_metrics(ponk.json("history", "last")) == {"loss": 0.25}
    assert len(executed(ponk, "deep.ipynb")) == 2
    assert list((ponk.project.parent / "kept").rglob("model.txt"))


def test_a_byte_order_mark_is_no_part_of_the_notebook(ponk, plain):
    ponk.write("x.ipynb", "\ufeff" + notebook("print('after the mark')"))
    assert b"after the mark\n" in submit(ponk, "x.ipynb").stdout
    assert ponk.json("check", "x.ipynb") == []


def test_an_exit_in_a_cell_is_the_end_of_the_run(ponk, book):
    assert b"never" not in book("import sys\nsys.exit(7)", "print('never')", code=7).stdout
    assert b"ended at cell 1 of 2" in book("raise SystemExit", "1").stdout


def test_a_cell_may_be_expected_to_fail(ponk, plain):
    text = json.loads(notebook("1 / 0", "print('after')"))
    text["cells"][1]["metadata"]["tags"] = ["raises-exception"]
    ponk.write("x.ipynb", json.dumps(text))
    assert b"after\n" in submit(ponk, "x.ipynb").stdout


def cancel_while_running(ponk, configuration):
    ponk.write("x.ipynb", notebook("print('first')", "import time\nprint('begun', flush=True)\ntime.sleep(600)"))
    ponk.run("submit", "-c", configuration, "--async", "x.ipynb")
    wait_for(lambda: b"begun" in ponk.run("logs", "last", code=None).stdout)
    ponk.run("cancel", "last", "--grace", "60s")
    wait_for(lambda: ponk.json("history", "info", "last")["status"] == "Canceled")
    cells = executed(ponk)
    assert text_of(cells[0]) == "first\n" and cells[1]["execution_count"] == 2


def test_a_canceled_run_keeps_what_was_executed(ponk, plain):
    cancel_while_running(ponk, "plain")


def test_the_old_format(ponk, plain):
    ponk.write("x.ipynb", json.dumps({"nbformat": 3, "nbformat_minor": 0, "metadata": {"name": ""}, "worksheets": [{"cells": [
        {"cell_type": "heading", "level": 2, "metadata": {}, "source": ["Old"]},
        {"cell_type": "code", "collapsed": False, "input": ["x = 1\n", "x + 1"], "language": "python", "metadata": {}, "outputs": []}]}]}))
    assert b"\n2\n" in submit(ponk, "x.ipynb").stdout
    assert executed(ponk)[0]["outputs"][0]["data"] == {"text/plain": "2"}


def test_a_spark_configuration_gives_its_options_to_the_notebook(ponk, plain):
    ponk.write("aml_config/spark.runconfig", "Target: plain\nSparkDependenciesFile: aml_config/spark.yml\n")
    ponk.write("aml_config/spark.yml", "configuration:\n  spark.app.name: an app\nrepositories: []\npackages: []\n")
    ponk.write("x.ipynb", notebook("import os\nprint(os.environ['PYSPARK_SUBMIT_ARGS'])"))

    done = ponk.run("submit", "-c", "spark", "x.ipynb")

    assert b"--conf 'spark.app.name=an app' pyspark-shell\n" in done.stdout and b"with Spark" not in done.stderr
    assert ponk.json("history", "last")["framework"] == "Python"


@pytest.mark.parametrize("text, why", [
    ("{}", "it has no 'nbformat'"), ("{", "cannot be read: "), ('{"nbformat": 2}', "has format 2"),
    (notebook("1", kernelspec={"name": "ir", "language": "R"}), "is for R, and ponk runs those for Python")])
def test_what_cannot_be_run_is_refused_before_there_is_a_run(ponk, text, why):
    ponk.write("x.ipynb", text)
    done = ponk.run("submit", "x.ipynb", code=65)
    assert why in done.stderr.decode() and b"nbconvert" not in done.stderr
    assert ponk.json("runs") == []


@pytest.fixture
def here(ponk):
    """The tests' own Python, with its packages."""
    ponk.write("aml_config/here.compute", f"type: local\npythonLocation: {sys.executable}\n")
    ponk.write("aml_config/here.runconfig", "Target: here\nFramework: Python\n")


needs_kernel = pytest.mark.skipif(not importlib.util.find_spec("ipykernel"), reason="ipykernel is not installed")


@needs_kernel
def test_a_canceled_run_takes_its_kernel_along(ponk, here):
    cancel_while_running(ponk, "here")


@needs_kernel
def test_a_kernel_executes_where_there_is_one(ponk, here):
    ponk.write("x.ipynb", notebook("import sys\nprint(sys.argv)\n%azureml history on\nget_ipython().__class__.__name__",
                                   "x = !echo a\nx + ['b']", "def f():\n    1 / 0\nf()", "print('never')"))
    done = ponk.run("submit", "-c", "here", "x.ipynb", "w", code=1)
    out = done.stdout.decode()
    assert "['x.ipynb', 'w']\n" in out and "'ZMQInteractiveShell'\n" in out and "['a', 'b']\n" in out
    assert "ZeroDivisionError" in out and "never" not in out and "\x1b" not in out
    assert [output["output_type"] for output in executed(ponk)[2]["outputs"]] == ["error"]


@pytest.mark.skipif(not importlib.util.find_spec("matplotlib"), reason="matplotlib is not installed")
def test_figures_are_outputs(ponk, here):
    ponk.write("x.ipynb", notebook("%matplotlib inline\nimport matplotlib.pyplot as plt\nplt.plot([1, 2])\nplt.show()",
                                   "axes = plt.figure().gca()"))
    ponk.run("submit", "-c", "here", "x.ipynb")
    for cell in executed(ponk):
        assert [output["output_type"] for output in cell["outputs"]] == ["display_data"]
        assert cell["outputs"][0]["data"]["image/png"].startswith("iVBOR")
