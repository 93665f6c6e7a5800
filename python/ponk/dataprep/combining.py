# SPDX-License-Identifier: Apache-2.0
"""Blocks that make other rows: references, joins, summaries; and the one that writes them."""
import numpy as np
import pandas as pd
from pandas.api.types import is_numeric_dtype

from ponk.dataprep import places
from ponk.dataprep.flow import fresh

_MATCH, _LEFT_ONLY, _RIGHT_ONLY = 2, 4, 8


def reference(step, flow):
    return step.referenced(step.arguments.get("reference"))


def join(step, flow):
    """Rows with a missing key match nothing."""
    left, left_key = _side(step, "left")
    right, right_key = _side(step, "right")
    kind = step.choice("joinType", {number: number for number in range(2, 16, 2)}, _MATCH)
    both = [name for name in right.columns if name in left.columns]
    if both:
        raise step.error("both sides have this column and no prefix tells them apart", both[0])
    kinds = [side[key].dtype.kind.replace("i", "f") for side, key in ((left, left_key), (right, right_key))]
    if kinds[0] != kinds[1]:
        raise step.error("it cannot be compared with '%s': the types %s and %s differ; convert one"
                         % (right_key, left[left_key].dtype, right[right_key].dtype), left_key)
    matched = pd.merge(left[left[left_key].notnull()], right[right[right_key].notnull()],
                       left_on=left_key, right_on=right_key, how="inner", sort=False)
    parts = [matched] if kind & _MATCH else []
    if kind & _LEFT_ONLY:
        parts.append(left[~left[left_key].isin(matched[left_key])])
    if kind & _RIGHT_ONLY:
        parts.append(right[~right[right_key].isin(matched[right_key])])
    if len(parts) > 1:
        columns = list(left.columns) + list(right.columns)
        parts = [part.reindex(columns=columns) for part in parts if len(part)] or parts[:1]
    return fresh(parts[0] if len(parts) == 1 else pd.concat(parts))


def _side(step, side):
    flow = step.referenced(step.arguments.get(side + "ActivityReference"))
    key = step.column(flow, step.need(side + "KeyColumn"))
    prefix = step.arguments.get(side + "ColumnPrefix") or ""
    frame = flow.frame.copy()
    frame.columns = [prefix + name for name in frame.columns]
    return frame, prefix + key


def _spread(values):
    return values.quantile(0.75) - values.quantile(0.25)


def _extreme(choose):
    def of(values):
        values = [value for value in values if not pd.isnull(value)]
        return choose(values) if values else None
    return of


# Function, and whether it needs numbers.
_SUMMARIES = {0: (_extreme(min), False), 1: (_extreme(max), False), 2: ("mean", True),
              3: ("median", True), 4: ("var", True), 5: ("std", True), 6: ("first", False),
              7: ("last", False), 8: ("size", False), 9: ("nunique", False), 10: (_spread, True),
              11: ("sum", True)}


def summarize(step, flow):
    """One row per combination of the columns, in the order of their first appearance."""
    frame = flow.frame
    keys = step.columns(flow, "groupByColumns")
    group = np.zeros(len(frame), dtype="int64")
    for name in keys:
        codes = pd.factorize(frame[name])[0] + 1  # 0: missing, a group of its own
        group = pd.factorize(group * (codes.max() + 1 if len(codes) else 1) + codes)[0]
    out = frame[keys][~pd.Series(group).duplicated().values].reset_index(drop=True)
    if not keys:
        out = pd.DataFrame(index=range(1 if len(frame) else 0))
    for request in step.need("summaryColumns", list):
        name = step.column(flow, request.get("columnId"))
        number = request.get("summaryFunction")
        if number not in _SUMMARIES:
            raise step.error("the summary function %r is not known" % (number,), name)
        function, of_numbers = _SUMMARIES[number]
        if of_numbers and not is_numeric_dtype(frame[name]):
            raise step.error("the summary needs numbers, and this column has none; a conversion "
                             "to numbers is missing before it", name)
        grouped = frame[name].groupby(group, sort=False)
        values = grouped.size() if function == "size" else grouped.agg(function)
        out[str(request.get("summaryColumnName") or name)] = values.reindex(range(len(out))).values
    return fresh(out)


def write_csv(step, flow):
    """Writes the rows of this point; they go on unchanged."""
    path = step.need("path")
    if isinstance(path, dict):
        details = path.get("resourceDetails") or [{}]
        path = details[0].get("path") if isinstance(details[0], dict) else None
    if not path:
        raise step.error("it names no file")
    frame = flow.frame.copy()
    for name in frame.columns:
        failed = flow.has_error(name)
        if failed.any():
            frame[name] = frame[name].astype(object).where(~failed, step.arguments.get("error") or "")
    options = dict(sep=step.arguments.get("separator") or ",", na_rep=step.arguments.get("na") or "",
                   index=False, encoding="utf-8")
    end = step.choice("eol", {0: "\n", 1: "\r\n"}, 0)
    target = places.output_file(step, str(path))
    with open(target, "w", newline="", encoding="utf-8") as file:
        try:
            frame.to_csv(file, lineterminator=end, **options)
        except TypeError:  # pandas before 1.5
            frame.to_csv(file, line_terminator=end, **options)
    return flow
