# SPDX-License-Identifier: Apache-2.0
"""Spark data frames of data preparation packages."""
import datetime
import sys
import types as modules

import pytest

from dprep_maker import delimited, files, types, write

pytest.importorskip("pandas", reason="data preparation packages need pandas")

import ponk.dataprep  # noqa: E402

ROWS = [(1.5, 7, True, datetime.datetime(2017, 9, 25, 10), "x"), (None, 8, False, None, None)]


@pytest.fixture
def package(tmp_path, monkeypatch):
    monkeypatch.chdir(str(tmp_path))
    (tmp_path / "d.csv").write_text("n,i,b,d,t\n1.5,7,true,2017-09-25,x\ny,8,false,,\n".replace("09-25,x", "09-25 10:00,x"))
    return write(tmp_path / "p.dprep", ("a", files("d.csv"), delimited(), types(n=3, i=2, b=1, d=(4, "%Y-%m-%d %H:%M"))))


class Session(object):
    """Stands for pyspark's where that is not installed: it keeps what it is given."""
    builder = modules.SimpleNamespace(getOrCreate=lambda: Session())

    def createDataFrame(self, rows, schema):
        return rows, [(field.name, field.kind) for field in schema]


def stand_in(monkeypatch, context):
    pyspark, sql, kinds = (modules.ModuleType(name) for name in ("pyspark", "pyspark.sql", "pyspark.sql.types"))
    pyspark.SparkContext = modules.SimpleNamespace(_active_spark_context=context)
    pyspark.sql, sql.types, sql.SparkSession = sql, kinds, Session
    for name in ("Double", "Long", "Boolean", "Timestamp", "String"):
        setattr(kinds, name + "Type", lambda name=name: name)
    kinds.StructField = lambda name, kind, missing: modules.SimpleNamespace(name=name, kind=kind)
    kinds.StructType = list
    for module in (pyspark, sql, kinds):
        monkeypatch.setitem(sys.modules, module.__name__, module)


def test_the_session_gets_rows_with_types(package, monkeypatch):
    stand_in(monkeypatch, None)
    rows, schema = ponk.dataprep.run(package, spark=True)
    assert rows == ROWS
    assert schema == [("n", "Double"), ("i", "Long"), ("b", "Boolean"), ("d", "Timestamp"), ("t", "String")]


@pytest.mark.parametrize("context, spark, expected", [
    (None, None, "DataFrame"), (object(), None, "tuple"), (object(), False, "DataFrame"), (None, True, "tuple")])
def test_a_spark_context_decides_where_the_script_does_not(package, monkeypatch, context, spark, expected):
    stand_in(monkeypatch, context)
    assert type(ponk.dataprep.run(package, spark=spark)).__name__ == expected


def test_spark_submit_decides_too(package, monkeypatch):
    stand_in(monkeypatch, None)
    monkeypatch.setenv("PYSPARK_GATEWAY_PORT", "1")
    assert type(ponk.dataprep.run(package)).__name__ == "tuple"
    assert type(ponk.dataprep.run(package, spark=False)).__name__ == "DataFrame"


def test_a_real_session(package):
    sql = pytest.importorskip("pyspark.sql", reason="pyspark is not installed for the Python of this test")
    session = sql.SparkSession.builder.master("local[1]").config("spark.ui.enabled", "false").config(
        "spark.driver.bindAddress", "127.0.0.1").config("spark.driver.host", "127.0.0.1").getOrCreate()
    try:
        frame = ponk.dataprep.run(package)
        assert [kind for _, kind in frame.dtypes] == ["double", "bigint", "boolean", "timestamp", "string"]
        assert [tuple(row) for row in frame.collect()] == ROWS
        assert frame.filter("n is null").count() == 1
    finally:
        session.stop()
