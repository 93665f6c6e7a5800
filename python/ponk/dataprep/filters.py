# SPDX-License-Identifier: Apache-2.0
"""Rows by the value of a column."""
import operator

import pandas as pd
from pandas.api.types import is_numeric_dtype

from ponk.dataprep.conversions import numbers

_NULL = "(null)"  # how the inspectors of the application wrote 'missing' into a filter
_COMPARISONS = {6: operator.gt, 7: operator.ge, 8: operator.lt, 9: operator.le}


def filter_numbers(step, flow):
    return _filter(step, flow, _number_clause)


def filter_texts(step, flow):
    return _filter(step, flow, _text_clause)


def _filter(step, flow, clause_of):
    name = step.column(flow, step.need("columnId"))
    every = step.choice("clauseRelationship", {0: True, 1: False}, 1)
    remove = step.choice("filterResult", {0: False, 1: True}, 0)
    masks = [clause_of(step, flow, name, clause) for clause in step.need("clauses", list)]
    if not masks:
        raise step.error("the filter has no conditions", name)
    met = masks[0]
    for mask in masks[1:]:
        met = met & mask if every else met | mask
    return flow.keep(~met if remove else met)


def _shared_clause(flow, name, number):
    """Conditions that columns of all types have; None for the others."""
    if number in (2, 3):
        missing = flow.is_missing(name)
        return missing if number == 2 else ~missing & ~flow.has_error(name)
    if number in (4, 5):
        return flow.has_error(name) if number == 4 else ~flow.has_error(name)
    return None


def _number_clause(step, flow, name, clause):
    number = clause.get("operator")
    mask = _shared_clause(flow, name, number)
    if mask is not None:
        return mask
    value = clause.get("value")
    if number in (0, 1) and value in (None, _NULL):
        missing = flow.is_missing(name)
        return missing if number == 0 else ~missing
    values = numbers(flow.frame[name])
    try:
        value = float(value)
    except (TypeError, ValueError):
        raise step.error("the condition's value %r is not a number" % (value,), name)
    if number in _COMPARISONS:
        return _COMPARISONS[number](values, value)  # false where there is no number
    return _equality(step, flow, name, number, values == value)


def _text_clause(step, flow, name, clause):
    number = clause.get("operator")
    mask = _shared_clause(flow, name, number)
    if mask is not None:
        return mask
    value = clause.get("value")
    if value in (None, _NULL):
        same = flow.is_missing(name)
    elif is_numeric_dtype(flow.frame[name]) and len(flow.frame):
        raise step.error("a filter for text, but the column has numbers", name)
    else:
        same = pd.Series(flow.frame[name].astype(object) == str(value), index=flow.frame.index)
    return _equality(step, flow, name, number, same)


def _equality(step, flow, name, number, same):
    if number == 0:
        return same
    if number == 1:
        return ~same & ~flow.has_error(name)
    raise step.error("the condition with the number %r is not supported" % (number,), name)
