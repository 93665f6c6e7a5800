# SPDX-License-Identifier: Apache-2.0
"""Blocks that change columns, single values or the number of rows."""
import os

from pandas.api.types import is_numeric_dtype

from ponk.dataprep.errors import notice
from ponk.dataprep.flow import Flow


def rename(step, flow):
    old, new = step.column(flow, step.need("columnId")), str(step.need("newColumnId"))
    if new != old and new in flow.frame.columns:
        raise step.error("there is a column '%s' already" % new, old)
    errors = {new if name == old else name: cells for name, cells in flow.errors.items()}
    return Flow(flow.frame.rename(columns={old: new}), errors, flow.paths)


def delete(step, flow):
    names = step.columns(flow)
    errors = {name: cells for name, cells in flow.errors.items() if name not in names}
    return Flow(flow.frame.drop(names, axis=1), errors, flow.paths)


def keep(step, flow):
    names = step.columns(flow)
    kept = [name for name in flow.frame.columns if name in names]
    return Flow(flow.frame[kept], flow.errors, flow.paths)


def distinct(step, flow):
    """The first row of those that are equal in the columns."""
    return flow.keep(~flow.frame.duplicated(step.columns(flow) or None))


def replace_errors(step, flow):
    value = step.need("replaceWith")
    for name in step.columns(flow):
        values = flow.frame[name].where(~flow.has_error(name), _fitting(step, flow, name, value))
        flow = flow.replace(name, values, None)
    return flow


def replace_missing_numbers(step, flow):
    value = step.need("replaceWith")
    for name in step.columns(flow):
        flow = _fill(step, flow, name, flow.is_missing(name), value)
    return flow


def replace_missing_texts(step, flow):
    value = str(step.need("replaceWith"))
    for name in step.columns(flow):
        cells = flow.is_missing(name) & bool(step.arguments.get("useNullAsMissing", True))
        if step.arguments.get("useEmptyStringAsMissing"):
            cells = cells | (flow.frame[name].astype(object) == "")
        flow = _fill(step, flow, name, cells, value)
    return flow


def _fill(step, flow, name, cells, value):
    values = flow.frame[name].where(~cells, _fitting(step, flow, name, value))
    return flow.replace(name, values, flow.errors.get(name))


def _fitting(step, flow, name, value):
    """A text for a column of numbers has to be a number."""
    if not is_numeric_dtype(flow.frame[name]):
        return value
    try:
        return float(value)
    except (TypeError, ValueError):
        raise step.error("'%s' cannot stand in a column of numbers" % value, name)


def sample(step, flow):
    """The active sample, as in runs of 2017; 'UseSampling: false' in the run configuration reads
    everything."""
    if os.environ.get("PONK_DATA_SAMPLING") == "off":
        return flow
    active = step.arguments.get("activeSample")
    chosen = [one for one in step.arguments.get("samples") or [] if one.get("sampleId") == active]
    if not chosen or chosen[0].get("isDisabled"):
        return flow
    taken = _taken(step, flow, chosen[0])
    if len(taken) < len(flow.frame):
        notice("'%s' has the sample '%s' active: %d of %d rows are used; 'UseSampling: false' in "
               "the run configuration uses all" % (
                   step.activity.package.name, chosen[0].get("sampleName") or "",
                   len(taken), len(flow.frame)))
    return Flow(taken, flow.errors, flow.paths)


def _taken(step, flow, chosen):
    kind = chosen.get("sampleStrategy")
    arguments = chosen.get({0: "topArguments", 1: "randomNArguments",
                            2: "randomPercentArguments"}.get(kind)) or {}
    # The same rows each time, also where the package gives no seed.
    seed = int(arguments.get("seed") or 0) % (2 ** 32)
    frame = flow.frame
    if kind == 3:
        return frame
    if kind == 0:
        return frame.head(int(arguments.get("sampleCount", 10000)))
    if kind == 1:
        count = min(int(arguments.get("sampleCount", 10000)), len(frame))
        return frame.sample(n=count, random_state=seed).sort_index()
    if kind == 2:
        part = min(max(float(arguments.get("probability", 1)), 0.0), 1.0)
        return frame.sample(frac=part, random_state=seed).sort_index()
    raise step.error("the sample strategy %r is not known; 'UseSampling: false' in the run "
                     "configuration reads everything" % (kind,))
