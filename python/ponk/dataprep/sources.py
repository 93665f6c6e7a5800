# SPDX-License-Identifier: Apache-2.0
"""Delimited text files as rows of text."""
import codecs
import csv
import io
import itertools

import pandas as pd

from ponk.dataprep import places
from ponk.dataprep.errors import notice
from ponk.dataprep.flow import Flow

_NONE, _FIRST_FILE, _EACH_FILE, _SAME_IN_ALL = range(4)
_HEADERS = {number: number for number in range(4)}
_SKIP = {0: (False, False), 1: (True, False), 2: (True, True)}  # first file, the others
# Later versions numbered the others differently; a byte order mark tells those apart.
_ENCODINGS = {0: "utf-8", 1: "iso-8859-1", 2: "iso-8859-1"}
_MARKS = ((codecs.BOM_UTF8, "utf-8-sig"), (codecs.BOM_UTF32_LE, "utf-32"),
          (codecs.BOM_UTF32_BE, "utf-32"), (codecs.BOM_UTF16_LE, "utf-16"),
          (codecs.BOM_UTF16_BE, "utf-16"))


class Files(object):
    """What a DataSourceBlock found; a ParseDelimitedBlock reads it."""

    def __init__(self, names):
        self.names = names


def data_source(step, flow):
    path = step.need("path", dict)
    details = path.get("resourceDetails")
    if not isinstance(details, list) or not details:
        raise step.error("it names no file; only files are supported as sources")
    names = []
    for detail in details:
        if not isinstance(detail, dict) or not detail.get("path"):
            raise step.error("it names a source that is not a file; only files are supported")
        names += places.data_files(step, str(detail["path"]))
    return Files(names)


def parse_delimited(step, files):
    if not isinstance(files, Files):
        raise step.error("the block before it does not name files")
    headers = step.choice("columnHeadersMode", _HEADERS, 1)
    skip_first, skip_others = step.choice("skipRowsMode", _SKIP, 0)
    separator = step.arguments.get("separator") or ","
    parts, names, paths = [], None, []
    for number, name in enumerate(files.names):
        text = _text(name, step.arguments.get("fileEncoding", 0))
        if skip_first if number == 0 else skip_others:
            text = "".join(text.splitlines(True)[int(step.arguments.get("skipRows") or 0):])
        rows = _rows(step, name, text, separator)
        has_header = headers in (_EACH_FILE, _SAME_IN_ALL) or headers == _FIRST_FILE and number == 0
        if has_header and len(rows):
            first, rows = rows.iloc[0], rows.iloc[1:]
            if names is None or headers == _EACH_FILE:
                names = _unique(first)
        names = names or []
        rows.columns = _extended(names, rows.shape[1])
        parts.append(rows)
        paths += [name] * len(rows)
    frame = _stacked(parts)
    return Flow(frame, paths=pd.Series(paths, index=frame.index, dtype=object))


def handle_path_column(step, flow):
    include = step.choice("pathColumnOperation", {0: False, 1: True}, 0)
    if not include or flow.paths is None or "Path" in flow.frame.columns:
        return flow
    frame = flow.frame.copy(deep=False)
    frame.insert(0, "Path", flow.paths.reindex(frame.index))
    return Flow(frame, flow.errors, flow.paths)


def _text(name, code):
    with open(name, "rb") as file:
        content = file.read()
    encoding = next((known for mark, known in _MARKS if content.startswith(mark)), None)
    encoding = encoding or _ENCODINGS.get(code, "cp1252")
    try:
        text = content.decode(encoding)
    except UnicodeDecodeError as problem:
        notice("'%s' has bytes that are not %s, first at byte %d; they are read as U+FFFD"
               % (name, encoding, problem.start))
        text = content.decode(encoding, "replace")
    return text.replace("\r\n", "\n").replace("\r", "\n")


def _rows(step, name, text, separator):
    """All lines as text; empty fields are missing. A blank line is a row of missing values."""
    if not text:
        return pd.DataFrame(dtype=object)
    breaks = bool(step.arguments.get("handleQuotedLineBreaks"))
    if len(separator) > 1 or '"' in text and not breaks and _has_open_quote(text):
        return _slow_rows(text, separator, breaks)
    options = dict(sep=separator, header=None, dtype=object, na_values=[""], skip_blank_lines=False,
                   keep_default_na=False, engine="c")
    try:
        return pd.read_csv(io.StringIO(text), **options)
    except ValueError:
        # Most often a row with more fields than the first one.
        return _slow_rows(text, separator, breaks)


def _has_open_quote(text):
    return any(line.count('"') % 2 for line in text.split("\n"))


def _slow_rows(text, separator, breaks):
    lines = text.split("\n")
    if lines and lines[-1] == "":
        lines.pop()
    if len(separator) > 1:
        rows = [line.split(separator) for line in lines]
    elif breaks:
        rows = list(csv.reader(io.StringIO(text, newline=""), delimiter=separator))
    else:
        # A quote that stays open ends with its line.
        rows = [next(csv.reader([line], delimiter=separator), []) for line in lines]
    width = max([len(row) for row in rows] or [0])
    filled = [[field if field != "" else None for field in row] + [None] * (width - len(row))
              for row in rows]
    return pd.DataFrame(filled, columns=range(width), dtype=object)


def _unique(first):
    names, used = [], set()
    for number, name in enumerate(first, 1):
        name = "Column%d" % number if pd.isnull(name) else str(name)
        unique = name
        for count in itertools.count(1):
            if unique not in used:
                break
            unique = "%s_%d" % (name, count)
        used.add(unique)
        names.append(unique)
    return names


def _extended(names, width):
    more = ["Column%d" % number for number in range(len(names) + 1, width + 1)]
    return _unique(list(names[:width]) + more)


def _stacked(parts):
    """All rows under all columns, in the order of their first appearance."""
    columns = []
    for part in parts:
        columns += [name for name in part.columns if name not in columns]
    parts = [part.reindex(columns=columns) for part in parts if len(part)]
    if not parts:
        return pd.DataFrame(columns=columns, dtype=object)
    frame = parts[0] if len(parts) == 1 else pd.concat(parts)
    return frame.astype(object).reset_index(drop=True)
