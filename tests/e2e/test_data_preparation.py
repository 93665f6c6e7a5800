# SPDX-License-Identifier: Apache-2.0
"""A project in the shape of the Iris quickstart of 2017: its data comes from a package and a source."""
import pathlib
import subprocess
import sys

import pytest

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parents[1] / "python"))
from dprep_maker import block, delimited, files, reference, types, write  # noqa: E402

# The calls of that script, with nearest centroids in the place of sklearn.
SCRIPT = '''
import argparse
import os
import pickle
import sys

import numpy as np

# initialize the logger
from azureml.logging import get_azureml_logger
# use the data preparation package to load data
from azureml.dataprep import package

run_logger = get_azureml_logger()
os.makedirs('./outputs', exist_ok=True)

iris = package.run('iris.dprep', dataflow_idx=0)
print('Iris dataset shape: {}'.format(iris.shape))

X, Y = iris[['Sepal Length', 'Sepal Width', 'Petal Length', 'Petal Width']].values, iris['Species'].values
reg = float(sys.argv[1]) if len(sys.argv) > 1 else 0.01
centers = {name: X[Y == name].mean(axis=0) for name in sorted(set(Y))}
guessed = [min(centers, key=lambda name: np.abs(centers[name] - row).sum()) for row in X]

run_logger.log("Regularization Rate", reg)
run_logger.log("Rows", len(iris))
run_logger.log("Accuracy", float(np.mean([a == b for a, b in zip(guessed, Y)])))
with open('./outputs/model.pkl', 'wb') as f:
    pickle.dump(centers, f)
'''

KINDS = [("Iris-setosa", 5.0, 3.4, 1.4, 0.2), ("Iris-versicolor", 5.9, 2.7, 4.2, 1.3), ("Iris-virginica", 6.5, 2.9, 5.5, 2.0)]
NAMES = ["Sepal Length", "Sepal Width", "Petal Length", "Petal Width", "Species"]


def sample(strategy, count):
    return block("SampleBlock", activeSample="s", samples=[
        {"sampleId": "s", "sampleName": "Top %d" % count, "sampleStrategy": strategy, "isDisabled": False,
         "topArguments": {"sampleCount": count}}])


@pytest.fixture
def iris(ponk):
    if subprocess.run(["/usr/bin/python3", "-c", "import pandas"], stderr=subprocess.DEVNULL).returncode != 0:
        pytest.skip("/usr/bin/python3 has no pandas: tools/install_needs.sh test")
    rows = ["%.1f,%.1f,%.1f,%.1f,%s" % (*(value + number % 10 / 50 for value in values), kind)
            for number in range(50) for kind, *values in KINDS]
    # The data set ends with a blank line, which the package's filter removes.
    ponk.write("iris.csv", "\n".join(rows) + "\n\n")
    write(ponk.project / "iris.dsource", (
        "iris", files("./iris.csv"), delimited(columnHeadersMode=0),
        types(Column1=3, Column2=3, Column3=3, Column4=3), sample(0, 100),
        block("HandlePathColumnBlock", pathColumnOperation=0)))
    renames = [block("ColumnRenameBlock", columnId="Column%d" % number, newColumnId=name) for number, name in enumerate(NAMES, 1)]
    write(ponk.project / "iris.dprep", (
        "iris", block("ReferenceActivityBlock", reference=reference("iris", "./iris.dsource")), *renames,
        block("FilterStringColumnBlock", columnId="Species", filterResult=1, clauseRelationship=1,
              clauses=[{"operator": 0, "value": "(null)"}])))
    ponk.write("iris_sklearn.py", SCRIPT)
    ponk.write("aml_config/local.compute", 'type: "local"\n')
    ponk.write("aml_config/conda_dependencies.yml", "name: project_environment\ndependencies:\n  - python=3.5.2\n  - pip:\n    - pandas\n")
    return ponk


def configure(iris, *lines):
    iris.write("aml_config/local.runconfig", "\n".join([
        'ArgumentVector:', '  - "$file"', 'Target: "local"', 'Framework: "Python"',
        'CondaDependenciesFile: "aml_config/conda_dependencies.yml"', "PrepareEnvironment: false", "TrackedRun: true", *lines, ""]))


def test_the_quickstart_runs_unchanged(iris):
    configure(iris, "UseSampling: false")
    done = iris.run("experiment", "submit", "-c", "local", "iris_sklearn.py", "0.5")
    assert b"Iris dataset shape: (150, 5)" in done.stdout
    [run] = iris.json("history", "list")
    assert run["status"] == "Completed"
    assert [run[name] for name in ("Regularization Rate", "Rows", "Accuracy")] == [0.5, 150, 1.0]


def test_the_active_sample_is_used_as_it_was(iris):
    configure(iris, "UseSampling: true")
    done = iris.run("submit", "-c", "local", "iris_sklearn.py")
    assert b"'iris.dsource' has the sample 'Top 100' active: 100 of 151 rows are used" in done.stdout + done.stderr
    assert iris.json("history", "list")[0]["Rows"] == 100


def test_another_source_takes_the_place(iris):
    configure(iris, "UseSampling: false", "DataSourceSubstitutions:", "  iris.dsource: small.dsource")
    iris.write("small.csv", "5,3,1,0,Iris-setosa\n6,3,5,2,Iris-virginica\n")
    write(iris.project / "small.dsource", ("small", files(".\\small.csv"), delimited(columnHeadersMode=0),
                                           types(Column1=3, Column2=3, Column3=3, Column4=3)))
    iris.run("submit", "-c", "local", "iris_sklearn.py")
    assert iris.json("history", "list")[0]["Rows"] == 2


def test_a_block_by_example_fails_the_run_with_its_place(iris):
    configure(iris)
    write(iris.project / "iris.dprep", (
        "iris", block("ReferenceActivityBlock", reference=reference("iris", "./iris.dsource")),
        block("DeriveColumnByExample", columnId="Column", dsl="PABO", examples="{}")))
    done = iris.run("submit", "-c", "local", "iris_sklearn.py", code=None)
    assert done.returncode != 0
    assert b"iris.dprep', activity 'iris', block 2 (DeriveColumnByExample), column 'Column': " in done.stdout + done.stderr
    assert iris.json("history", "list")[0]["status"] == "Failed"


def test_custom_code_of_a_package_runs_in_the_run_and_nowhere_else(iris):
    configure(iris, "UseSampling: false")
    witness = iris.project.parent / "witness"
    expression = f"open({str(witness)!r}, 'a').write(__import__('os').getcwd() + chr(10)) and 1"
    write(iris.project / "iris.dprep", (
        "iris", block("ReferenceActivityBlock", reference=reference("iris", "./iris.dsource")),
        block("AddCustomColumnBlock", columnId="Mine", priorColumnId="Column5", codeBlockType=0, customExpression=expression)))
    iris.write("use.py", "from azureml.dataprep import package\nprint(package.run('iris.dprep', dataflow_idx=0)['Mine'].sum())\n")

    for words in ("check", "check --files", "check use.py", "check --dump iris.dprep", "project show", "experiment prepare -c local --check",
                  "submit -c local iris.csv"):
        iris.run(*words.split(), code=None)
    iris.write("plain.py", "pass\n")
    iris.run("submit", "-c", "local", "plain.py")  # its package travels
    iris.run("history", "info", "last")
    assert not witness.exists()

    assert iris.text("submit", "-c", "local", "use.py").strip().endswith("151")

    run = iris.json("history", "info", "last")["run_id"]
    places = set(witness.read_text().splitlines())
    assert places == {str(iris.home / "runs" / run / "work")}
    for words in ("history info last", "history compare 1 2", "experiment diagnostics last", "history download last -d got"):
        iris.run(*words.split(), code=None)
    assert len(witness.read_text().splitlines()) == 151 and set(witness.read_text().splitlines()) == places
