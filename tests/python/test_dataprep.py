# SPDX-License-Identifier: Apache-2.0
"""Data preparation packages of 2017: what each block does to the data."""
import datetime
import math
import os

import pytest

from dprep_maker import block, delimited, files, reference, types, write

pd = pytest.importorskip("pandas", reason="data preparation packages need pandas")

import ponk.dataprep  # noqa: E402
from ponk.dataprep import PackageError  # noqa: E402


@pytest.fixture(autouse=True)
def project(tmp_path, monkeypatch):
    monkeypatch.chdir(str(tmp_path))
    for name in ("PONK_DATA_SAMPLING", "PONK_DATA_SOURCES", "PONK_OUTPUTS_DIRECTORY"):
        monkeypatch.delenv(name, raising=False)
    return tmp_path


@pytest.fixture
def flow(project):
    """The result of blocks after a file with that text is read."""
    def run(text, *blocks, **parse):
        data = project / "data.csv"
        if isinstance(text, bytes):
            data.write_bytes(text)
        else:
            data.write_bytes(text.encode("utf-8"))
        package = write(project / "p.dprep", ("a", files("./data.csv"), delimited(**parse)) + blocks)
        return ponk.dataprep.run(package)
    return run


def rows(frame):
    """Plain values, None for missing."""
    return [[None if pd.isnull(value) else value for value in row] for row in frame.values.tolist()]


def test_text_without_types_stays_text(flow):
    frame = flow("a,b\n1,x\n2,\n")
    assert list(frame.columns) == ["a", "b"]
    assert rows(frame) == [["1", "x"], ["2", None]]
    assert list(frame.index) == [0, 1]


@pytest.mark.parametrize("mode, expected, columns", [
    (0, [["a", "b"], ["1", "2"], ["a", "c"], ["3", "4"]], ["Column1", "Column2"]),
    (1, [["1", "2"], ["a", "c"], ["3", "4"]], ["a", "b"]),
    (2, [["1", "2", None], ["3", None, "4"]], ["a", "b", "c"]),
    (3, [["1", "2"], ["3", "4"]], ["a", "b"]),
])
def test_headers_of_several_files(project, mode, expected, columns):
    (project / "one.csv").write_text("a,b\n1,2\n")
    (project / "two.csv").write_text("a,c\n3,4\n")
    package = write(project / "p.dsource", ("a", files("one.csv", "two.csv"), delimited(columnHeadersMode=mode)))
    frame = ponk.dataprep.run(package)
    assert list(frame.columns) == columns and rows(frame) == expected


@pytest.mark.parametrize("mode, expected", [(0, 5), (1, 3), (2, 1)])
def test_skipped_rows(project, mode, expected):
    (project / "one.csv").write_text("note\nnote\na\n1\n")
    (project / "two.csv").write_text("note\nnote\n")
    package = write(project / "p.dsource", ("a", files("one.csv", "two.csv"),
                                            delimited(skipRowsMode=mode, skipRows=2)))
    assert len(ponk.dataprep.run(package)) == expected


def test_separators_quotes_and_ragged_rows(flow):
    assert rows(flow("a;b\n1;\"x;y\"\n", separator=";")) == [["1", "x;y"]]
    assert rows(flow("a\tb\n1\t2\n", separator="\t")) == [["1", "2"]]
    assert rows(flow("a||b\n1||2\n", separator="||")) == [["1", "2"]]
    frame = flow("a,b\n1,2,3\n4\n")
    assert list(frame.columns) == ["a", "b", "Column3"] and rows(frame) == [["1", "2", "3"], ["4", None, None]]
    assert list(flow("a,a,,b\n1,2,3,4\n").columns) == ["a", "a_1", "Column3", "b"]


def test_quoted_line_breaks(flow):
    assert rows(flow('a,b\n1,"x\ny"\n', handleQuotedLineBreaks=True)) == [["1", "x\ny"]]
    # Otherwise a quote that stays open ends with its line.
    assert len(flow('a,b\n1,"x\ny",z\n', handleQuotedLineBreaks=False)) == 2


def test_encodings(flow, capsys):
    assert rows(flow("a\nna\u00efve\n".encode("utf-8"))) == [["na\u00efve"]]
    assert rows(flow("\ufeffa\nx\n".encode("utf-8"))) == [["x"]]
    assert rows(flow("a\nna\u00efve\n".encode("latin-1"), fileEncoding=1)) == [["na\u00efve"]]
    assert rows(flow("a\nna\u00efve\n".encode("utf-16"), fileEncoding=5)) == [["na\u00efve"]]
    assert rows(flow("a\r\nx\r\n".encode("utf-8"))) == [["x"]]
    capsys.readouterr()
    assert rows(flow("a\nna\u00efve\n".encode("latin-1"))) == [["na\ufffdve"]]
    assert "data.csv' has bytes that are not utf-8, first at byte 4" in capsys.readouterr().err


def test_a_blank_line_is_a_row_of_missing_values(flow):
    blank = block("FilterStringColumnBlock", columnId="Column2", filterResult=1, clauseRelationship=1,
                  clauses=[{"operator": 0, "value": "(null)"}])
    assert len(flow("1,a\n2,b\n\n", columnHeadersMode=0)) == 3
    assert rows(flow("1,a\n2,b\n\n", blank, columnHeadersMode=0)) == [["1", "a"], ["2", "b"]]


def test_column_types(flow):
    frame = flow("n,i,b,d,z,t\n1.5,7,true,2017-09-25 10:00:00,2017-09-25T10:00:00.5+02:00,3\n"
                 "x,,no,never,2017-01-01T00:00:00.0+00:00,y\n",
                 types(n=3, i=2, b=1, d=(4, "%m/%d/%Y", "%Y-%m-%d %H:%M:%S"), z=(4, "%Y-%m-%dT%H:%M:%S.%f%z"), t=0))
    assert [str(kind) for kind in frame.dtypes[["n", "i", "b", "d", "z"]]] == [
        "float64", "float64", "bool", "datetime64[ns]", "datetime64[ns]"]
    assert frame["n"][0] == 1.5 and math.isnan(frame["n"][1]) and list(frame["t"]) == ["3", "y"]
    assert list(frame["b"]) == [True, False]
    assert frame["d"][0] == datetime.datetime(2017, 9, 25, 10) and pd.isnull(frame["d"][1])
    assert frame["z"][0] == datetime.datetime(2017, 9, 25, 8, 0, 0, 500000)
    assert str(flow("i\n7\n8\n", types(i=2))["i"].dtype) == "int64"


def test_the_older_name_of_a_date_format(flow):
    conversion = [{"columnId": "d", "typeProperty": 4, "typeArguments": {"dateTimeFormat": "%d.%m.%Y"}}]
    frame = flow("d\n25.09.2017\n", block("SetColumnTypesBlock", columnConversion=conversion))
    assert frame["d"][0] == datetime.datetime(2017, 9, 25)


def test_dates_without_a_format(flow):
    frame = flow("d\n2017-09-25\n2017-09-25 10:30\nx\n", types(d=4))
    assert list(frame["d"][:2]) == [pd.Timestamp(2017, 9, 25), pd.Timestamp(2017, 9, 25, 10, 30)]
    assert pd.isnull(frame["d"][2])


@pytest.mark.parametrize("mark, expected", [(0, [1.5, None, 1000.0]), (1, [None, 2.5, 1000.0])])
def test_numbers_with_a_decimal_point_or_comma(flow, mark, expected):
    frame = flow("a\n1.5\n\"2,5\"\n1e3\n", block("ConvertColumnFieldTypeBlock", columnIds=["a"], decimalPoint=mark))
    assert str(frame["a"].dtype) == "float64" and [row[0] for row in rows(frame)] == expected


def test_columns_are_renamed_deleted_and_kept(flow):
    frame = flow("a,b,c,d\n1,2,3,4\n", block("ColumnRenameBlock", columnId="a", newColumnId="A b"),
                 block("DeleteColumnBlock", columnIds=["b"]), block("KeepColumnBlock", columnIds=["d", "A b"]))
    assert list(frame.columns) == ["A b", "d"] and rows(frame) == [["1", "4"]]


NUMBERS = "n\n1\n2\n\nx\n3\n"


@pytest.mark.parametrize("number, value, expected", [
    (0, 2, [2.0]), (1, 2, [1.0, None, 3.0]), (2, None, [None]), (3, None, [1.0, 2.0, 3.0]), (4, None, [None]),
    (5, None, [1.0, 2.0, None, 3.0]), (6, 2, [3.0]), (7, 2, [2.0, 3.0]), (8, 2.0, [1.0]), (9, 2, [1.0, 2.0]),
])
def test_conditions_for_numbers(flow, number, value, expected):
    frame = flow(NUMBERS, types(n=3), block("FilterNumberColumnBlock", columnId="n", filterResult=0,
                                            clauseRelationship=1, clauses=[{"operator": number, "value": value}]))
    assert [row[0] for row in rows(frame)] == expected


@pytest.mark.parametrize("relationship, result, expected", [
    (1, 0, ["1", "3"]), (0, 0, []), (1, 1, ["2", None]), (0, 1, ["1", "2", None, "3"])])
def test_conditions_are_combined(flow, relationship, result, expected):
    clauses = [{"operator": 0, "value": "1"}, {"operator": 0, "value": "3"}]
    frame = flow("n,m\n1,x\n2,x\n,x\n3,x\n", block("FilterStringColumnBlock", columnId="n", filterResult=result,
                                                  clauseRelationship=relationship, clauses=clauses))
    assert [row[0] for row in rows(frame)] == expected


@pytest.mark.parametrize("number, expected", [(0, ["x"]), (1, ["y", None]), (2, [None]), (3, ["x", "y"]), (5, ["x", "y", None])])
def test_conditions_for_texts(flow, number, expected):
    frame = flow("a,b\nx,1\ny,1\n,1\n", block("FilterStringColumnBlock", columnId="a", filterResult=0,
                                             clauseRelationship=1, clauses=[{"operator": number, "value": "x"}]))
    assert [row[0] for row in rows(frame)] == expected


def samples(strategy, **more):
    one = {"sampleId": "s", "sampleName": "Top 2", "sampleStrategy": strategy, "topArguments": {"sampleCount": 2},
           "randomNArguments": {"sampleCount": 3}, "randomPercentArguments": {"probability": 0.5}, "isDisabled": False}
    one.update(more)
    return block("SampleBlock", samples=[dict(one, sampleId="other", sampleStrategy=0), one], activeSample="s")


@pytest.mark.parametrize("strategy, count", [(0, 2), (1, 3), (2, 4), (3, 8)])
def test_the_active_sample_is_used(flow, capsys, strategy, count):
    text = "a\n" + "".join("%d\n" % number for number in range(8))
    frame = flow(text, samples(strategy))
    values = [int(value) for value in frame["a"]]
    assert len(values) == count and values == sorted(values)
    assert values == [int(value) for value in flow(text, samples(strategy))["a"]]
    said = capsys.readouterr().err
    assert ("%d of 8 rows are used" % count in said) == (strategy != 3)


def test_all_rows_are_used_without_sampling(flow, monkeypatch):
    text = "a\n1\n2\n3\n"
    assert len(flow(text, samples(0))) == 2
    assert len(flow(text, samples(0, isDisabled=True))) == 3
    monkeypatch.setenv("PONK_DATA_SAMPLING", "off")
    assert len(flow(text, samples(0))) == 3


def test_errors_and_missing_values_are_replaced(flow):
    errors = block("ReplaceErrorsForNumberColumnBlock", columnIds=["n"], replaceWith=-1)
    missing = block("ReplaceMissingNumberValuesBlock", columnIds=["n"], replaceWith=0.5)
    assert [row[0] for row in rows(flow(NUMBERS, types(n=3), errors))] == [1.0, 2.0, None, -1.0, 3.0]
    assert [row[0] for row in rows(flow(NUMBERS, types(n=3), missing))] == [1.0, 2.0, 0.5, None, 3.0]
    renamed = block("ColumnRenameBlock", columnId="n", newColumnId="m")
    errors = block("ReplaceErrorsForNumberColumnBlock", columnIds=["m"], replaceWith=-1)
    assert [row[0] for row in rows(flow(NUMBERS, types(n=3), renamed, errors))][3] == -1.0


@pytest.mark.parametrize("null, empty, expected", [(True, False, ["x", "?"]), (False, True, ["x", None])])
def test_missing_texts_are_replaced(flow, null, empty, expected):
    replacement = block("ReplaceMissingStringValuesBlock", columnIds=["a"], replaceWith="?",
                        useNullAsMissing=null, useEmptyStringAsMissing=empty)
    assert list(row[0] for row in rows(flow("a,b\nx,1\n,1\n", replacement))) == expected


def test_equal_rows_are_dropped(flow):
    frame = flow("a,b\n1,x\n1,y\n2,z\n", block("SelectRowsOnDistinctValuesInColumnBlock", columnIds=["a"]))
    assert rows(frame) == [["1", "x"], ["2", "z"]]


def test_the_path_column(flow, project):
    assert list(flow("a\n1\n", block("HandlePathColumnBlock", pathColumnOperation=0)).columns) == ["a"]
    frame = flow("a\n1\n", block("HandlePathColumnBlock", pathColumnOperation=1))
    assert list(frame.columns) == ["Path", "a"] and frame["Path"][0] == str(project / "data.csv")


def summary(name, function, out):
    return {"columnId": name, "summaryFunction": function, "summaryColumnName": out, "hasExplicitColumnName": False}


def test_summaries(flow):
    wishes = [summary("v", number, str(number)) for number in range(12)]
    frame = flow("k,v\nb,4\na,1\nb,2\n,9\nb,2\n", types(v=3),
                 block("SummarizeBlock", groupByColumns=["k"], summaryColumns=wishes))
    assert list(frame.columns) == ["k"] + [str(number) for number in range(12)]
    assert [row[0] for row in rows(frame)] == ["b", "a", None]
    b = rows(frame)[0][1:]
    assert b[:4] == [2.0, 4.0, pytest.approx(8 / 3), 2.0]
    assert b[4:6] == [pytest.approx(4 / 3), pytest.approx(math.sqrt(4 / 3))]
    assert b[6:] == [4.0, 2.0, 3, 2, 1.0, 8.0]
    whole = flow("v\n1\n3\n", types(v=3), block("SummarizeBlock", groupByColumns=[], summaryColumns=[summary("v", 2, "m")]))
    assert rows(whole) == [[2.0]]
    texts = flow("k,t\n1,b\n1,a\n1,\n", block("SummarizeBlock", groupByColumns=["k"], summaryColumns=[
        summary("t", 0, "first"), summary("t", 8, "count"), summary("t", 9, "different")]))
    assert rows(texts) == [["1", "a", 3, 2]]


@pytest.mark.parametrize("kind, expected", [
    (2, [["1", "x", "1", "A"], ["1", "y", "1", "A"]]),
    (4, [["2", "z"], [None, "w"]]),
    (8, [["3", "C"], [None, "D"]]),
    (6, [["1", "x", "1", "A"], ["1", "y", "1", "A"], ["2", "z", None, None], [None, "w", None, None]]),
    (14, [["1", "x", "1", "A"], ["1", "y", "1", "A"], ["2", "z", None, None], [None, "w", None, None],
          [None, None, "3", "C"], [None, None, None, "D"]]),
])
def test_joins(project, kind, expected):
    (project / "l.csv").write_text("k,v\n1,x\n2,z\n1,y\n,w\n")
    (project / "r.csv").write_text("k,v\n3,C\n1,A\n,D\n")
    package = write(project / "p.dprep", ("left", files("l.csv"), delimited()), ("right", files("r.csv"), delimited()),
                    ("Join Result", block("TwoWayJoin", leftActivityReference=reference("left"),
                                          rightActivityReference=reference("right"), rightColumnPrefix="r_",
                                          leftKeyColumn="k", rightKeyColumn="k", joinType=kind)))
    frame = ponk.dataprep.run(package, 2)
    assert list(frame.columns) == {4: ["k", "v"], 8: ["r_k", "r_v"]}.get(kind, ["k", "v", "r_k", "r_v"])
    assert rows(frame) == expected


@pytest.mark.parametrize("eol, end", [(0, b"\n"), (1, b"\r\n")])
def test_rows_are_written(flow, project, eol, end):
    out = block("WriteToCsvBlock", path={"target": 0, "resourceDetails": [{"path": "out\\d.csv"}]}, separator=";",
                na="NA", error="bad", eol=eol)
    frame = flow("n,t\n1.5,a\n,b\nx,c\n", types(n=3), out, block("DeleteColumnBlock", columnIds=["t"]))
    assert (project / "out" / "d.csv").read_bytes() == end.join([b"n;t", b"1.5;a", b"NA;b", b"bad;c", b""])
    assert list(frame.columns) == ["n"]


def test_what_belongs_to_another_machine_is_written_to_the_outputs(flow, project, capsys):
    flow("n\n1\n", block("WriteToCsvBlock", path="C:\\Users\\me\\d.csv", separator=",", na="", error="", eol=0))
    assert (project / "outputs" / "d.csv").read_bytes() == b"n\n1\n"
    assert "outputs/d.csv' is written in place of 'C:\\Users\\me\\d.csv'" in capsys.readouterr().err


def custom_column(code, kind=0, name="new", prior="n"):
    return block("AddCustomColumnBlock", columnId=name, priorColumnId=prior, customExpression=code, codeBlockType=kind)


def test_custom_columns(flow):
    frame = flow("n,t\n1,a\n100,b\n0,c\n", types(n=3), custom_column("math.log(row.n)"), custom_column("1", name="one"))
    assert list(frame.columns) == ["n", "one", "new", "t"]
    assert list(frame["one"]) == [1, 1, 1] and str(frame["one"].dtype) == "int64"
    # The logarithm of 0 is an error value, and the other rows have theirs.
    assert [row[2] for row in rows(frame)] == [0.0, pytest.approx(math.log(100)), None]
    module = "import string\ndef newvalue(row):\n    if row['t'] in string.ascii_letters[:2]:\n        return row.t * 2\n    else:\n        return '-'\n"
    assert list(flow("n,t\n1,a\n2,z\n", custom_column(module, 1))["new"]) == ["aa", "-"]
    imports = "import math\nimport re\nre.sub('a', 'b', row['t'])"
    assert list(flow("n,t\n1,a\n", custom_column(imports))["new"]) == ["b"]


def test_custom_code_sees_error_values(flow):
    code = "if isinstance(row['n'], DataPrepError):\r\n    row['n'].originalValue\r\nelse:\r\n    str(row['n'])"
    assert list(flow("n,m\n1,a\nx,b\n", types(n=3), custom_column(code))["new"]) == ["1.0", "x"]
    replaced = block("ReplaceErrorsForNumberColumnBlock", columnIds=["new"], replaceWith=7)
    frame = flow("n\n0\n1\n", types(n=3), custom_column("math.log(row.n)"), replaced)
    assert list(frame["new"]) == [7.0, 0.0]


def custom_block(code, kind):
    return block("CustomBlock", customBlock=code, codeBlockType=kind)


@pytest.mark.parametrize("code, kind", [
    ("df['m'] = df['n'] - min(df['n'])\r\ndf.rename(columns={'n': 'old'}, inplace=True)\r\n\r\ndf", 0),
    ("df['m'] = df['n'] - df['n'].min()\ndf = df.rename(columns={'n': 'old'})", 0),
    ("def transform(df):\n    df = df.join(pd.DataFrame({'m': np.arange(len(df)) * 2.0}, index=df.index))\n"
     "    return df.rename(columns={'n': 'old'})", 1),
])
def test_custom_blocks(flow, code, kind):
    frame = flow("n\n3\n5\n", types(n=3), custom_block(code, kind))
    assert list(frame.columns) == ["old", "m"] and rows(frame) == [[3.0, 0.0], [5.0, 2.0]]


def test_references_to_other_files_and_activities(project):
    (project / "data").mkdir()
    (project / "data" / "iris.csv").write_text("1,a\n2,b\n")
    source = write(project / "data" / "iris.dsource", ("iris", files(".\\iris.csv"), delimited(columnHeadersMode=0)))
    package = write(
        project / "p.dprep",
        ("one", block("ReferenceActivityBlock", reference=reference("iris", ".\\data\\iris.dsource")),
         block("ColumnRenameBlock", columnId="Column1", newColumnId="x"), block("DeleteColumnBlock", columnIds=["x"])),
        ("two", block("ReferenceActivityBlock", reference=reference("one"))),
        ("part", block("ReferenceActivityBlock", reference=reference("one", referencedStep={
            "stepReferenceType": 0, "fallback": 1,
            "referencedStepId": block("ColumnRenameBlock", columnId="Column1", newColumnId="x")["id"]}))))
    assert [list(ponk.dataprep.run(package, number).columns) for number in range(3)] == [
        ["Column2"], ["Column2"], ["x", "Column2"]]
    # A source that was exchanged has another id.
    write(project / "data" / "iris.dsource", ("other", files("iris.csv"), delimited(columnHeadersMode=0)))
    assert len(ponk.dataprep.run(package)) == 2 and len(ponk.dataprep.run(source)) == 2


def test_sources_are_exchanged_by_the_run_configuration(project, monkeypatch, capsys):
    for name in ("small", "large"):
        (project / (name + ".csv")).write_text("a\n%s\n" % name)
        write(project / (name + ".dsource"), (name, files(name + ".csv"), delimited()))
    package = write(project / "p.dprep", ("a", block("ReferenceActivityBlock", reference=reference("small", "./small.dsource"))))
    assert rows(ponk.dataprep.run(package)) == [["small"]]
    monkeypatch.setenv("PONK_DATA_SOURCES", '{"small.dsource": "large.dsource"}')
    assert rows(ponk.dataprep.run(package)) == [["large"]]
    assert rows(ponk.dataprep.load_source("small.dsource")) == [["large"]]
    assert "'large.dsource' is read in place of './small.dsource'" in capsys.readouterr().err


@pytest.mark.parametrize("path", ["C:\\Users\\me\\Downloads\\d.csv", "/Volumes/nobody/x (1)/d.csv", "\\\\server\\share\\d.csv",
                                  "https://storage.example/data/d.csv?sv=1", "wasb://c@a.example/d.csv"])
def test_a_file_beside_the_package_takes_the_place_of_one_elsewhere(project, path, capsys):
    package = write(project / "p.dsource", ("a", files(path), delimited()))
    with pytest.raises(PackageError) as problem:
        ponk.dataprep.run(package)
    assert path in str(problem.value) and "put the file as 'd.csv' beside 'p.dsource'" in str(problem.value)
    (project / "d.csv").write_text("a\n1\n")
    assert rows(ponk.dataprep.run(package)) == [["1"]]
    assert "d.csv' is read in place of '%s'" % path in capsys.readouterr().err


def test_a_folder_and_a_pattern_are_all_their_files(project):
    (project / "days").mkdir()
    for number in (2, 1):
        (project / "days" / ("%d.csv" % number)).write_text("a\n%d\n" % number)
    for path in ("days", "days\\*.csv"):
        package = write(project / "p.dsource", ("a", files(path), delimited(columnHeadersMode=3)))
        assert rows(ponk.dataprep.run(package)) == [["1"], ["2"]]


def test_an_empty_file_has_no_rows(flow):
    assert len(flow("")) == 0
    frame = flow("a,b\n", types(a=3), block("FilterNumberColumnBlock", columnId="a", filterResult=0, clauseRelationship=1,
                                           clauses=[{"operator": 8, "value": 1}]), custom_column("row.a", prior="a"),
                 block("SummarizeBlock", groupByColumns=["b"], summaryColumns=[summary("a", 2, "m")]))
    assert list(frame.columns) == ["b", "m"] and len(frame) == 0


def test_the_calls_of_scripts(project):
    (project / "d.csv").write_text("a\n1\n")
    write(project / "d.dsource", ("d", files("d.csv"), delimited(), block("HandlePathColumnBlock", pathColumnOperation=0)))
    write(project / "d.dprep", ("d", block("ReferenceActivityBlock", reference=reference("d", "./d.dsource"))))
    from azureml.dataprep import datasource, package
    from azureml.dataprep.datasource import load_datasource
    from azureml.dataprep.package import run
    from dataprep.Package import Package
    frames = [run("d.dprep", dataflow_idx=0), package.run("d.dprep", dataflow_idx=0, spark=False), run("d.dprep"),
              load_datasource("d.dsource"), datasource.load_datasource("d.dsource", spark=False)]
    with Package.open_package("d.dprep") as opened:
        frames.append(opened.dataflows[0].get_dataframe())
    assert [rows(frame) for frame in frames] == [[["1"]]] * 6
    assert package.submit("d.dprep") is None
    assert os.path.isfile("d.csv")
