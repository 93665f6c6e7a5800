# SPDX-License-Identifier: Apache-2.0
"""Packages that cannot be run say which file, activity, block and column it is, before anything is executed."""
import os
import subprocess
import sys

import pytest

from dprep_maker import SOURCE, block, delimited, files, reference, types, write

pd = pytest.importorskip("pandas", reason="data preparation packages need pandas")

import ponk.dataprep  # noqa: E402
from ponk.dataprep import PackageError  # noqa: E402


@pytest.fixture(autouse=True)
def project(tmp_path, monkeypatch):
    monkeypatch.chdir(str(tmp_path))
    (tmp_path / "d.csv").write_text("a,b\n1,x\n2,y\n")
    return tmp_path


def message(path, *activities):
    package = write(path, *activities) if activities else str(path)
    with pytest.raises(PackageError) as problem:
        ponk.dataprep.run(package)
    return str(problem.value)


def failing(project, *blocks):
    return message(project / "p.dprep", ("act", files("d.csv"), delimited()) + blocks)


@pytest.mark.parametrize("kind, words", [
    ("DeriveColumnByExample", "by example"), ("SplitColumnByExampleBlock", "by example"),
    ("FuzzyGroupBlock", "not supported")])
def test_unknown_blocks_are_named_and_nothing_runs(project, kind, words):
    write_first = block("WriteToCsvBlock", path="out.csv", separator=",", na="", error="", eol=0)
    said = failing(project, write_first, block(kind, columnId="DATE", dsl="PABO", examples="null"))
    assert "p.dprep', activity 'act', block 4 (%s), column 'DATE': " % kind in said and words in said
    assert not os.path.exists("out.csv")


@pytest.mark.parametrize("wrong, column, words", [
    (types(c=3), "c", "the data has no such column; it has: 'a', 'b'"),
    (types(a=9), "a", "the type 9 is not known"),
    (block("SetColumnTypesBlock", columnConversion=[{"columnId": "a", "typeProperty": 1, "typeArguments": {"trueValues": ["x"]}}]),
     "a", "the type's argument 'trueValues' is not known"),
    (block("ColumnRenameBlock", columnId="c", newColumnId="d"), "c", "no such column"),
    (block("ColumnRenameBlock", columnId="a", newColumnId="b"), "a", "a column 'b' already"),
    (block("DeleteColumnBlock", columnIds=["a", "c"]), "c", "no such column"),
    (block("KeepColumnBlock", columnIds=["c"]), "c", "no such column"),
    (block("FilterStringColumnBlock", columnId="a", filterResult=0, clauseRelationship=1,
           clauses=[{"operator": 12, "value": "x"}]), "a", "number 12 is not supported"),
    (block("FilterNumberColumnBlock", columnId="a", filterResult=0, clauseRelationship=1,
           clauses=[{"operator": 8, "value": "x"}]), "a", "'x' is not a number"),
    (block("SummarizeBlock", groupByColumns=["a"], summaryColumns=[
        {"columnId": "b", "summaryFunction": 2, "summaryColumnName": "m"}]), "b", "needs numbers"),
    (block("SummarizeBlock", groupByColumns=["a"], summaryColumns=[
        {"columnId": "b", "summaryFunction": 40, "summaryColumnName": "m"}]), "b", "function 40 is not known"),
    (block("AddCustomColumnBlock", columnId="n", priorColumnId="a", customExpression="row.(", codeBlockType=0), "n",
     "its Python code is not valid"),
    (block("AddCustomColumnBlock", columnId="n", priorColumnId="a", customExpression="row.nothing", codeBlockType=0), "n",
     "failed for every row: AttributeError"),
    (block("AddCustomColumnBlock", columnId="n", priorColumnId="a", customExpression="x = 1", codeBlockType=0), "n",
     "has no value"),
    (block("AddCustomColumnBlock", columnId="n", priorColumnId="a", customExpression="y = 1", codeBlockType=1), "n",
     "has no function 'newvalue'"),
    (block("AddCustomColumnBlock", columnId="b", priorColumnId="a", customExpression="1", codeBlockType=0), "b",
     "of this name already"),
])
def test_the_column_is_named(project, wrong, column, words):
    said = failing(project, wrong)
    assert "activity 'act', block 3 (" in said and "), column '%s': " % column in said and words in said


@pytest.mark.parametrize("wrong, words", [
    (delimited(columnHeadersMode=7), "'columnHeadersMode' is 7, which is not known; known: 0, 1, 2, 3"),
    (delimited(skipRowsMode=3), "'skipRowsMode' is 3")])
def test_unknown_modes_are_named(project, wrong, words):
    assert words in message(project / "p.dprep", ("act", files("d.csv"), wrong))


@pytest.mark.parametrize("wrong, words", [
    (block("CustomBlock", customBlock="def transform(df):\n    return 1", codeBlockType=1), "no data frame, but int"),
    (block("CustomBlock", customBlock="df['none']", codeBlockType=0), "its Python code failed: KeyError"),
    (block("CustomBlock", customBlock="df[", codeBlockType=0), "(CustomBlock): its Python code is not valid"),
    (block("CustomBlock", customBlock="pass", codeBlockType=1), "has no function 'transform'"),
    (block("SampleBlock", samples=[{"sampleId": "s", "sampleStrategy": 8}], activeSample="s"), "strategy 8 is not known"),
    (block("SetColumnTypesBlock", columnConversion=[1]), "AttributeError"),
    (block("DeleteColumnBlock"), "the argument 'columnIds' is missing"),
])
def test_the_block_is_named(project, wrong, words):
    said = failing(project, wrong)
    assert "p.dprep', activity 'act', block 3 (" in said and words in said


def test_arguments_without_effect_are_named(project, capsys):
    write(project / "p.dprep", ("act", files("d.csv"), delimited(commentLineCharacter="#", other=None)))
    assert len(ponk.dataprep.run("p.dprep")) == 2
    assert capsys.readouterr().err == ("azureml.dataprep: 'p.dprep', activity 'act', block 2 (ParseDelimitedBlock): the argument "
                                       "'commentLineCharacter' is not known and has no effect\n")


def test_files_that_cannot_be_read(project):
    (project / "folder.csv").mkdir()
    said = message(project / "p.dprep", ("act", files("folder.csv"), delimited()))
    assert "the folder 'folder.csv' has no files" in said
    write(project / "p.dprep", ("act", files("d.csv"), delimited()))
    if os.getuid() != 0:
        (project / "d.csv").chmod(0)
        assert "block 2 (ParseDelimitedBlock): PermissionError: " in message("p.dprep")


def test_files_that_are_not_there(project):
    said = message(project / "p.dsource", ("act", files("./none.csv"), delimited()))
    assert "p.dsource', activity 'act', block 1 (DataSourceBlock): the data file './none.csv' is not there" in said
    assert "put it into the project; if an ignore file leaves it out, submit with '--input ./none.csv'" in said
    said = message(project / "p.dprep", ("act", block("ReferenceActivityBlock", reference=reference("x", "./x.dsource"))))
    assert "block 1 (ReferenceActivityBlock): it refers to './x.dsource', which is not there" in said
    assert "put that file into the project, beside 'p.dprep'" in said
    assert "there is no data preparation package 'none.dprep'" in message("none.dprep")


def test_sources_that_are_not_files(project):
    said = message(project / "p.dsource", ("act", block("DataSourceBlock", path={"target": 3, "resourceDetails": [{"server": "s"}]})))
    assert "only files are supported" in said
    said = message(project / "q.dsource", ("act", files("d.csv"), block("ColumnRenameBlock", columnId="a", newColumnId="c")))
    assert "have not been parsed" in said
    assert "before its files are parsed" in message(project / "r.dsource", ("act", files("d.csv")))
    assert "no block before it reads data" in message(project / "s.dprep", ("act", delimited()))


def test_references_that_lead_nowhere(project):
    one = ("one", block("ReferenceActivityBlock", reference=reference("two")))
    two = ("two", block("ReferenceActivityBlock", reference=reference("one")))
    assert "activity 'one' refers to itself" in message(project / "p.dprep", one, two)
    lost = ("one", block("ReferenceActivityBlock", reference=reference("three")))
    assert "has no activity" in message(project / "p.dprep", lost, two)
    branch = ("one", block("ReferenceActivityBlock", reference=reference("two", referencedBranchId="b")))
    assert "'referencedBranchId' are not supported" in message(project / "p.dprep", branch, two)


def test_joins_that_cannot_be(project):
    left = ("l", files("d.csv"), delimited())
    right = ("r", files("d.csv"), delimited(), types(a=3))

    def join(**more):
        arguments = dict(leftActivityReference=reference("l"), rightActivityReference=reference("r"), rightColumnPrefix="",
                         leftKeyColumn="a", rightKeyColumn="a", joinType=2)
        arguments.update(more)
        return message(project / "p.dprep", ("j", block("TwoWayJoin", **arguments)), left, right)

    assert "block 1 (TwoWayJoin), column 'a': both sides have this column" in join()
    assert "'joinType' is 3" in join(joinType=3)
    assert "column 'k': the data has no such column" in join(rightKeyColumn="k", rightColumnPrefix="r_")
    assert "cannot be compared with 'r_a': the types object and float64 differ" in join(rightColumnPrefix="r_")


@pytest.mark.parametrize("text, words", [("{", "is not a data preparation package"), ("[]", "no list 'activities'"),
                                         ('{"activities": [{}]}', "without a list 'blocks'"),
                                         ('{"activities": []}', "has no dataflow 0; it has: none"),
                                         ('{"activities": [{"blocks": []}]}', "has no blocks")])
def test_files_that_are_no_packages(project, text, words):
    (project / "p.dprep").write_text(text)
    assert words in message("p.dprep")


def test_the_dataflows_are_listed(project):
    write(project / "p.dprep", ("one", files("d.csv")), ("two", files("d.csv")))
    with pytest.raises(PackageError, match="has no dataflow 2; it has: 0 'one', 1 'two'"):
        ponk.dataprep.run("p.dprep", 2)


def script(text, **env):
    environment = {"PATH": "/usr/bin:/bin", "PYTHONPATH": SOURCE, "PYTHONDONTWRITEBYTECODE": "1"}
    environment.update(env)
    return subprocess.run([sys.executable, "-c", text], env=environment, timeout=60, stdout=subprocess.PIPE,
                          stderr=subprocess.STDOUT, cwd=os.getcwd()).stdout.decode()


def test_missing_pandas_is_named(project):
    write(project / "p.dprep", ("one", files("d.csv"), delimited()))
    said = script("import sys; sys.modules['pandas'] = None\nfrom azureml.dataprep import package\npackage.run('p.dprep')")
    assert "ImportError: 'p.dprep' needs the package pandas" in said.split("\n")[-2]
    assert "conda_dependencies.yml" in said and "-m pip install pandas" in said


def test_missing_pyspark_is_named(project):
    write(project / "p.dprep", ("one", files("d.csv"), delimited()))
    said = script("import sys; sys.modules['pyspark'] = None\nfrom azureml.dataprep import package\n"
                  "package.run('p.dprep', spark=True)")
    assert "this Python has no pyspark" in said


def test_an_installed_package_wins(project):
    site = project / "site"
    for name, text in [("dataprep/__init__.py", "REAL = __name__"), ("dataprep/Package.py", "REAL = 1"),
                       ("azureml/__init__.py", ""), ("azureml/dataprep/__init__.py", "REAL = __name__")]:
        (site / name).parent.mkdir(parents=True, exist_ok=True)
        (site / name).write_text(text)
    said = script("import dataprep, azureml.dataprep\nfrom dataprep.Package import REAL\n"
                  "print(dataprep.REAL, azureml.dataprep.REAL, REAL)\n"
                  "try:\n    import azureml.dataprep.package\nexcept ImportError:\n    print('theirs')",
                  PYTHONPATH="%s:%s" % (SOURCE, site))
    assert said == "dataprep azureml.dataprep 1\ntheirs\n"
    # A data folder of that name is not a package.
    (project / "dataprep").mkdir()
    assert script("from dataprep.Package import Package; print(Package.__module__)") == "dataprep.Package\n"
