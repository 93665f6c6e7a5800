# SPDX-License-Identifier: Apache-2.0
"""Scripts and command lines that worked with Azure ML Workbench, as they were written."""
import pytest


def old_project(ponk):
    ponk.write("aml_config/local.compute", "type: local\n")
    ponk.write("aml_config/local.runconfig", "Target: local\nFramework: Python\n")


def test_os_and_sys_are_there_without_an_import(ponk):
    old_project(ponk)
    ponk.write("code/train.py", "print(__name__, os.path.relpath(__file__), sys.argv, os.path.basename(os.getcwd()))\n"
                                "print([p for p in sys.path if '_names' in p])\n"
                                "1 / 0\n")

    done = ponk.run("submit", "-c", "local", "code/train.py", "a", code=1)

    assert done.stdout.decode().startswith("__main__ code/train.py ['code/train.py', 'a'] work\n[]\n")
    # Of other lines than the script's own there is none.
    assert done.stdout.count(b"File ") == 1 and b"line 3, in <module>" in done.stdout
    assert b"script 'code/train.py' uses 'os' and 'sys' without importing them" in done.stderr
    assert b"import os, sys" in done.stderr
    assert ponk.run("experiment", "rerun", "last", code=1).stdout.startswith(b"__main__ code/train.py")


@pytest.mark.parametrize("method", ["fork", "spawn", "forkserver"])
def test_workers_of_such_a_script_have_them_and_its_other_children_do_not(ponk, method):
    old_project(ponk)
    ponk.write("train.py", "import multiprocessing, subprocess\n"
                           "top = os.sep\n"
                           "def f(n):\n    return os.path.join('a', str(n))\n"
                           "if __name__ == '__main__':\n"
                           f"    with multiprocessing.get_context('{method}').Pool(1) as pool:\n        print(pool.map(f, [1]))\n"
                           "    subprocess.call([sys.executable, '-c', 'print(\"os\" in dir(), \"os\" in dir(__builtins__))', 'train.py'])\n"
                           "    subprocess.call([sys.executable, 'other.py'])\n")
    ponk.write("other.py", "print('sys' in dir())\n")
    assert ponk.text("submit", "-c", "local", "train.py") == "['a/1']\nFalse False\nFalse\n"


def test_a_sitecustomize_of_the_project_is_loaded_all_the_same(ponk):
    old_project(ponk)
    ponk.write("lib/sitecustomize.py", "print('theirs')\n")
    ponk.write("train.py", "print(os.sep)\n")
    assert ponk.text("submit", "-c", "local", "--env", f"PYTHONPATH={ponk.project}/lib", "train.py") == "theirs\n/\n"


def test_a_script_with_its_imports_and_a_project_of_today_get_nothing(ponk):
    ponk.write("train.py", "print(os.sep)\n")
    assert b"NameError" in ponk.run("submit", "train.py", code=1).stdout
    old_project(ponk)
    ponk.write("train.py", "import os\nprint(os.environ.get('PONK_GIVEN_NAMES'), len(os.environ['PYTHONPATH'].split(':')))\n")
    done = ponk.run("submit", "-c", "local", "train.py", env={**ponk.environment, "PYTHONPATH": ""})
    assert done.stdout == b"None 1\n" and b"without importing" not in done.stderr


def test_the_folder_outputs_is_there_and_empty(ponk):
    ponk.write("outputs/of-an-earlier-day.pkl", "x")
    ponk.write("train.py", "import os\nprint(os.listdir('./outputs'))\nopen('./outputs/model.pkl', 'w').write('m')\n")

    assert ponk.text("submit", "train.py") == "[]\n"
    ponk.run("history", "download", "last", "-d", "got")
    assert [str(path.relative_to(ponk.project)) for path in ponk.project.glob("got/outputs/*")] == ["got/outputs/model.pkl"]


def test_without_a_framework_a_script_without_pyspark_runs_as_python_here(ponk):
    ponk.write("aml_config/local.compute", "type: local\n")
    ponk.write("aml_config/local.runconfig", "ArgumentVector:\n  - train.py\nTarget: local\n")
    ponk.write("train.py", "# like pyspark\nprint('plain')\n")

    done = ponk.run("submit", "-c", "local")

    assert done.stdout == b"plain\n"
    assert b"'train.py' does not import pyspark: it runs as Python" in done.stderr and b"runs with Spark" not in done.stderr
    assert ponk.json("history", "last")["framework"] == "Python"
    ponk.write("train.py", "import pyspark\n")
    ponk.run("submit", "-c", "local", code=None)
    assert ponk.json("history", "last")["framework"] == "PySpark"


STOCK_SPARK = """configuration: {spark.app.name: old}
repositories:
  - https://mmlspark.azureedge.net/maven
packages:
  - {group: com.microsoft.ml.spark, artifact: mmlspark_2.11, version: 0.7.91}
"""


def spark_words(ponk, *options):
    """The words of a stand-in for spark-submit, and what was told."""
    ponk.write("aml_config/local.compute", "type: local\n")
    ponk.write("aml_config/spark.runconfig", "Target: local\nFramework: PySpark\nSparkDependenciesFile: aml_config/spark_dependencies.yml\n")
    ponk.write("aml_config/spark_dependencies.yml", STOCK_SPARK)
    program = ponk.project.parent / "bin/spark-submit"
    program.parent.mkdir(exist_ok=True)
    program.write_text('#!/bin/sh\necho "$@"\n')
    program.chmod(0o755)
    done = ponk.run("submit", "-c", "spark", *options, "train.py", code=None,
                    env={**ponk.environment, "PATH": f"{program.parent}:{ponk.environment['PATH']}"})
    return done.stdout.decode(), done.stderr.decode()


def test_spark_packages_that_are_gone_are_left_out_when_nothing_needs_them(ponk):
    ponk.write("train.py", "import pyspark\n")
    words, told = spark_words(ponk)
    assert "--conf spark.app.name=old" in words and "--packages" not in words and "azureedge" not in words
    assert "mmlspark_2.11:0.7.91' was renamed and moved: it is left out, as nothing in the script imports it" in told
    ponk.write("helper.py", "from mmlspark import TrainClassifier\n")
    ponk.write("train.py", "import pyspark, helper\n")
    words, told = spark_words(ponk)
    assert "--packages com.microsoft.ml.spark:mmlspark_2.11:0.7.91" in words and "Submit with '--substitute'" in told
    words, told = spark_words(ponk, "--substitute")
    assert "--packages com.microsoft.azure:synapseml_2.12:" in words and "is used instead" in told
    assert "azureedge" not in words


def test_a_script_is_checked_before_it_runs(ponk):
    ponk.write("lib/__init__.py", "")
    ponk.write("lib/data.py", "open('executed', 'w')\nfrom sklearn.externals import joblib\n")
    ponk.write("train.py", "import lib.data, cv2, json\nopen('executed', 'w')\n")
    ponk.write("requirements.txt", "scikit-learn\n")
    found = ponk.json("check", "train.py")
    assert [(one["file"], one["line"], one["code"]) for one in found] == [
        ("lib/data.py", 2, "old-name"), ("train.py", 1, "module-missing")]
    assert found[0]["hint"] == "Use 'import joblib'." and "opencv-python" in found[1]["hint"]
    done = ponk.run("check", "train.py")
    assert b"3 files of the project, compared with requirements.txt" in done.stderr
    assert not (ponk.project / "executed").exists()
    (ponk.project / "requirements.txt").unlink()
    found = ponk.json("check", "train.py")
    assert "json" not in str([one["message"] for one in found]) and found[0]["code"] == "old-name"
    assert b"does not exist" in ponk.run("check", "no.py", code=None).stderr


def test_a_run_that_fails_for_an_old_name_says_what_takes_its_place(ponk):
    ponk.write("train.py", "raise ModuleNotFoundError(\"No module named 'sklearn.cross_validation'\")\n")
    done = ponk.run("submit", "train.py", code=1)
    assert b"Use 'sklearn.model_selection'" in done.stderr


def test_the_verbs_of_early_2017_run(ponk):
    old_project(ponk)
    ponk.write("code/dir/x.py", "import sys, os\nos.makedirs('outputs', exist_ok=True)\nopen('outputs/F', 'w').write('m')\nprint(sys.argv)\n")

    shown = "['code/dir/x.py', '-a', 'b\\\\c']\n"
    assert ponk.text("ml", "execute", "start", "-c", "local", "code\\dir\\x.py", "-a", "b\\c") == shown
    assert ponk.text("execute", "start", "-t", "local", "code\\dir\\x.py", "-a", "b\\c") == shown
    assert ponk.json("history", "last")["script_name"] == "code/dir/x.py"
    for name in ("./outputs/F", "outputs\\F", "outputs/F"):
        ponk.run("history", "promote", "-r", "last", "-ap", name, "-n", "f")
    assert ponk.json("asset", "list")[0]["version"] == 3
    ponk.write("aml_config/named.runconfig", "Target: local\nFramework: Python\nArgumentVector:\n  - code\\dir\\x.py\n")
    assert ponk.text("submit", "-c", "named") == "['code/dir/x.py']\n"


def test_targets_are_attached_by_the_words_of_early_2017(ponk):
    assert [target["name"] for target in ponk.json("computecontext", "list")] == [target["name"] for target in ponk.json("computetarget", "list")]
    ponk.run("computecontext", "attach", "local", "--name", "mine")
    assert (ponk.project / "aml_config/mine.compute").exists()
    # A machine without a type was one with Docker; this one cannot be reached.
    done = ponk.run("computecontext", "attach", "--name", "vm", "--address", "127.0.0.1:1", "--username", "u", "--password", "p", code=None)
    assert done.returncode == 69 and b"needs a type" not in done.stderr
    assert b"needs a type" in ponk.run("attach", "--name", "x", code=64).stderr
