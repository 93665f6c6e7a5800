# SPDX-License-Identifier: Apache-2.0
"""Types of columns. What cannot be converted is an error value: missing, with its original value
kept for 'is error' filters, ReplaceErrors blocks and custom code."""
import pandas as pd

_TEXT, _BOOLEAN, _INTEGER, _DECIMAL, _DATE = range(5)
_TYPES = {number: number for number in range(5)}
_ARGUMENTS = ("dateTimeFormat", "dateTimeFormats", "decimalPoint")
_BOOLEANS = {"true": True, "1": True, "yes": True, "false": False, "0": False, "no": False}


def set_column_types(step, flow):
    for request in step.need("columnConversion", list):
        name = step.column(flow, request.get("columnId"))
        kind = request.get("typeProperty")
        if kind not in _TYPES:
            raise step.error("the type %r is not known; known: 0 text, 1 boolean, 2 integer, "
                             "3 decimal, 4 date" % (kind,), name)
        arguments = request.get("typeArguments") or {}
        for unknown in sorted(set(arguments) - set(_ARGUMENTS)):
            if arguments[unknown]:
                raise step.error("the type's argument '%s' is not known" % unknown, name)
        flow = _convert(flow, name, kind, arguments)
    return flow


def convert_to_number(step, flow):
    comma = step.choice("decimalPoint", {0: False, 1: True}, 0)
    for name in step.columns(flow):
        flow = _convert(flow, name, _DECIMAL, {"decimalPoint": int(comma)})
    return flow


def _convert(flow, name, kind, arguments):
    series = flow.frame[name]
    if kind == _TEXT:
        text = series.where(series.isnull(), series.map(_as_text)).astype(object)
        return flow.replace(name, text, flow.errors.get(name))
    if kind == _DATE:
        values = _dates(series, arguments)
    elif kind == _BOOLEAN:
        values = series.map(lambda value: _BOOLEANS.get(str(value).strip().lower()))
        values = values.astype(object)
    else:
        values = numbers(series, comma=arguments.get("decimalPoint") == 1)
    errors = dict(flow.errors.get(name, {}))
    failed = values.isnull() & series.notnull()
    for label, value in series[failed].items():
        if str(value).strip():
            errors[label] = value
    if kind == _BOOLEAN and not values.isnull().any():
        values = values.astype(bool)
    if kind == _INTEGER:
        values = _whole(values, series, errors)
    return flow.replace(name, values, errors)


def numbers(series, comma=False):
    """Numbers as float64; what is not a number is NaN."""
    if series.dtype == object and comma:
        series = series.map(_with_point)
    return pd.to_numeric(series, errors="coerce").astype("float64")


def _with_point(value):
    if not isinstance(value, str):
        return value
    # A point would be read as a decimal mark, which it is not here.
    return value.replace(",", ".") if "." not in value else None


def _whole(values, series, errors):
    broken = values.notnull() & (values % 1 != 0)
    for label in values.index[broken]:
        errors[label] = series[label]
    values = values.where(~broken)
    return values if values.isnull().any() else values.astype("int64")


def _as_text(value):
    if isinstance(value, float) and value == int(value):
        return str(int(value))
    return str(value)


def _dates(series, arguments):
    formats = arguments.get("dateTimeFormats") or []
    if arguments.get("dateTimeFormat"):
        formats = [arguments["dateTimeFormat"]] + list(formats)
    values = pd.Series(pd.NaT, index=series.index, dtype="datetime64[ns]")
    for form in formats or [None]:
        open_cells = values.isnull() & series.notnull()
        if not open_cells.any():
            break
        values = values.where(~open_cells, _parsed(series.where(open_cells), form))
    return values


def _parsed(series, form):
    """Dates with an offset become UTC; the result has no time zone."""
    if form is None or "%z" in form.lower():
        options = {} if int(pd.__version__.split(".")[0]) < 2 else {"format": "mixed"}
        dates = pd.to_datetime(series, errors="coerce", utc=True, **options)
    else:
        dates = pd.to_datetime(series, errors="coerce", format=form)
    if getattr(dates.dt, "tz", None) is not None:
        dates = dates.dt.tz_convert("UTC").dt.tz_localize(None)
    return dates.astype("datetime64[ns]")
