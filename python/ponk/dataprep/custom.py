# SPDX-License-Identifier: Apache-2.0
"""Python code of a package. It runs in the script's process, with the script's rights."""
import ast
import datetime
import math
import numbers
import re

import numpy as np
import pandas as pd

from ponk.dataprep.errors import DataPrepError, PackageError
from ponk.dataprep.flow import Flow, fresh

_EXPRESSION, _MODULE = 0, 1


class Row(object):
    """row.name and row["name"]."""

    def __init__(self, values):
        self.__dict__ = values

    def __getitem__(self, name):
        return self.__dict__[name]

    def keys(self):
        return self.__dict__.keys()


def _names():
    """What code can use without an import."""
    out = {"math": math, "numbers": numbers, "datetime": datetime, "re": re, "pd": pd, "np": np,
           "DataPrepError": DataPrepError, "__name__": "dataprep"}
    try:
        import scipy
        out["sp"] = scipy
    except ImportError:
        pass
    return out


def _parsed(step, code, column=None):
    try:
        return ast.parse(code.strip() + "\n", "%s block %d" % (step.activity.package.name, step.number))
    except SyntaxError as problem:
        raise step.error("its Python code is not valid: %s" % problem, column)


def _compiled(step, tree):
    return compile(tree, "<%s block %d>" % (step.activity.package.name, step.number), "exec")


def _function(step, code, name, column=None):
    tree = _parsed(step, code, column)
    names = _names()
    try:
        exec(_compiled(step, tree), names)
    except Exception as problem:
        raise step.error("its Python code failed: %s: %s" % (type(problem).__name__, problem), column)
    if not callable(names.get(name)):
        raise step.error("its Python code has no function '%s'" % name, column)
    return names[name]


def _returning(statements):
    """Makes the last expression the function's result, also in the branches of an if."""
    if not statements:
        return False
    last = statements[-1]
    if isinstance(last, ast.Expr):
        statements[-1] = ast.copy_location(ast.Return(value=last.value), last)
        return True
    if isinstance(last, ast.If):
        return _returning(last.body) and (not last.orelse or _returning(last.orelse))
    return isinstance(last, ast.Return)


def _value_function(step, code, column):
    tree = _parsed(step, code, column)
    body = tree.body
    if not _returning(body):
        raise step.error("its Python expression has no value", column)
    outer = ast.parse("def newvalue(row):\n    pass\n")
    outer.body[0].body = body
    names = _names()
    exec(_compiled(step, ast.fix_missing_locations(outer)), names)
    return names["newvalue"]


def add_column(step, flow):
    name, code = str(step.need("columnId")), step.need("customExpression", str)
    if flow is None:
        raise step.error("no block before it reads data")
    if name in flow.frame.columns:
        raise step.error("there is a column of this name already", name)
    prior = step.arguments.get("priorColumnId")
    position = len(flow.frame.columns)
    if prior:
        position = list(flow.frame.columns).index(step.column(flow, prior)) + 1
    if step.choice("codeBlockType", {0: _EXPRESSION, 1: _MODULE}, 0) == _EXPRESSION:
        function = _value_function(step, code, name)
    else:
        function = _function(step, code, "newvalue", name)
    values, errors = _values(step, flow, function, name)
    frame = flow.frame.copy(deep=False)
    # Texts are objects in every version of pandas, as those that were read.
    text = not values or any(isinstance(value, str) for value in values)
    frame.insert(position, name, pd.Series(values, index=frame.index, dtype=object if text else None))
    found = dict(flow.errors)
    if errors:
        found[name] = errors
    return Flow(frame, found, flow.paths)


def _values(step, flow, function, name):
    """A row whose code fails has an error value; code that fails for all rows is an error."""
    values, errors, first = [], {}, None
    for label, cells in zip(flow.frame.index, _rows(flow)):
        try:
            value = function(Row(cells))
        except Exception as problem:
            first = first or problem
            value = DataPrepError({"message": str(problem), "originalValue": None})
        if isinstance(value, DataPrepError):
            errors[label] = getattr(value, "originalValue", None)
            value = None
        values.append(value)
    if first is not None and len(errors) == len(values):
        raise step.error("its Python code failed for every row: %s: %s"
                         % (type(first).__name__, first), name)
    return values, errors


def _rows(flow):
    names = list(flow.frame.columns)
    columns = []
    for name in names:
        cells = flow.frame[name].tolist()
        failed = flow.errors.get(name)
        if failed:
            for position, label in enumerate(flow.frame.index):
                if label in failed:
                    cells[position] = DataPrepError({"message": "the value is an error",
                                                     "originalValue": failed[label]})
        columns.append(cells)
    if not columns:
        return ({} for _ in flow.frame.index)
    return (dict(zip(names, cells)) for cells in zip(*columns))


def transform(step, flow):
    code = step.need("customBlock", str)
    if flow is None:
        raise step.error("no block before it reads data")
    frame = flow.frame.copy()
    if step.choice("codeBlockType", {0: _EXPRESSION, 1: _MODULE}, 0) == _MODULE:
        function = _function(step, code, "transform")
        work = lambda: function(frame)  # noqa: E731
    else:
        work = lambda: _last_value(step, code, frame)  # noqa: E731
    try:
        made = work()
    except PackageError:
        raise
    except Exception as problem:
        raise step.error("its Python code failed: %s: %s" % (type(problem).__name__, problem))
    if not isinstance(made, pd.DataFrame):
        raise step.error("its Python code gave no data frame, but %s" % type(made).__name__)
    made.columns = [str(name) for name in made.columns]
    return fresh(made)


def _last_value(step, code, frame):
    """Statements that end with a data frame, or change `df`."""
    tree = _parsed(step, code)
    names = _names()
    names["df"] = frame
    last = tree.body.pop() if tree.body and isinstance(tree.body[-1], ast.Expr) else None
    exec(_compiled(step, tree), names)
    if last is not None:
        value = eval(compile(ast.Expression(last.value), "<last line>", "eval"), names)
        if isinstance(value, pd.DataFrame):
            return value
    return names["df"]
