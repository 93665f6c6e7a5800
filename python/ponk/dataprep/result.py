# SPDX-License-Identifier: Apache-2.0
"""The data frame that a script gets."""
import os
import sys

from ponk.dataprep.errors import PackageError
from ponk.dataprep.flow import Flow


def deliver(flow, spark=None):
    """A pandas data frame, numbered from 0; a Spark data frame when `spark` is true, or when it is
    not given and the process belongs to Spark."""
    if not isinstance(flow, Flow):
        raise PackageError("the dataflow ends before its files are parsed; only delimited text is "
                           "supported")
    frame = flow.frame.reset_index(drop=True)
    if spark or spark is None and _is_on_spark():
        return _on_spark(frame)
    return frame


def _is_on_spark():
    """Whether spark-submit started the script, or the script has a Spark context already."""
    if os.environ.get("PYSPARK_GATEWAY_PORT"):
        return True
    pyspark = sys.modules.get("pyspark")
    context = getattr(pyspark, "SparkContext", None)
    return getattr(context, "_active_spark_context", None) is not None


def _on_spark(frame):
    try:
        from pyspark.sql import SparkSession
    except ImportError:
        raise ImportError("a Spark data frame was requested (spark=True), but this Python has no "
                          "pyspark; submit the script with 'Framework: PySpark', or pass "
                          "spark=False")
    session = SparkSession.builder.getOrCreate()
    return session.createDataFrame(_rows(frame), _schema(frame))


def _schema(frame):
    from pyspark.sql import types
    kinds = {"f": types.DoubleType, "i": types.LongType, "b": types.BooleanType,
             "M": types.TimestampType}
    return types.StructType([
        types.StructField(name, kinds.get(frame[name].dtype.kind, types.StringType)(), True)
        for name in frame.columns])


def _rows(frame):
    """Python values with None for missing: Spark tells NaN and null apart."""
    columns = []
    for name in frame.columns:
        kind, values, missing = frame[name].dtype.kind, frame[name], frame[name].isnull().tolist()
        if kind == "M":
            cells = [None if gone else value.to_pydatetime() for value, gone in zip(values, missing)]
        elif kind in "fib":
            cells = [None if gone else value for value, gone in zip(values.tolist(), missing)]
        else:
            cells = [None if gone else str(value) for value, gone in zip(values, missing)]
        columns.append(cells)
    return [tuple(row) for row in zip(*columns)]
