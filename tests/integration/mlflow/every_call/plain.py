# SPDX-License-Identifier: Apache-2.0
"""What the client gave back, as JSON without ids and times, so that two servers can be compared."""
import dataclasses
import datetime
import enum
import inspect
import json
import math
import os
import pathlib
import re
import sys

import numpy
import pandas
from mlflow.entities._mlflow_object import _MlflowObject
from mlflow.store.entities.paged_list import PagedList

FOLDER = pathlib.Path(sys.argv[1])
URI = os.environ["MLFLOW_TRACKING_URI"]

ID = re.compile(r"(?:\b|(?<=%2F))(tr-|m-|d-|a-|w-|mcp-)?([0-9a-f]{32}|[0-9a-f]{8}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{12}|[0-9a-f]{16})\b")
TIMES = re.compile("time|timestamp|duration|created_at|updated_at|latency")
# What belongs to who runs the client, or to the version of it.
UNIMPORTANT = {"workspace", "mlflow.user", "user_id", "mlflow.source.name", "mlflow.trace.sizeBytes", "mlflow.trace.sizeStats", "size_bytes",
               "mlflow.trace.infoFinalized", "mlflow.trace.session", "mlflow.source.git.commit"}


def text_of(text):
    host, port = URI.split("//")[1].split(":")
    text = text.replace(URI, "SERVER").replace(f"host='{host}', port={port}", "SERVER").replace(str(FOLDER), "FOLDER")
    text = re.sub(r"Response text: (\{.*\})\s*", lambda match: "Response text: " + body_of(match[1]), text, flags=re.DOTALL)
    text = re.sub(r"\btmp[a-z0-9_]{8}\b", "TEMPORARY", text)
    text = ID.sub(lambda match: (match[1] or "") + "ID", text)
    text = re.sub(r"^[a-z]+-[a-z]+-\d+$", "NAME", text)
    text = re.sub(r"\d{4}-\d\d-\d\d[T ][\d:.]+(\+00:00|Z)?", "TIME", text)
    return re.sub(r"\b1[0-9]{12}\b", "TIME", text)


def body_of(text):
    """What an error says, without the words of a cloud's SQL that stand beside it, and however it was written."""
    try:
        return json.dumps({name: value for name, value in json.loads(text).items() if name not in {"sqlstate", "error_class"}}, sort_keys=True)
    except ValueError:
        return text


def fields_of(value):
    """What an entity of the client says about itself."""
    if isinstance(value, _MlflowObject):
        try:
            return dict(value)
        except (TypeError, AttributeError):
            pass
    if dataclasses.is_dataclass(value):
        return {field.name: getattr(value, field.name) for field in dataclasses.fields(value) if not field.name.startswith("_")}
    named = {name for name, kind in inspect.getmembers(type(value)) if isinstance(kind, property)} | set(vars(value))
    return {name: getattr(value, name) for name in sorted(named) if not name.startswith("_")}


def plain(value, name=""):
    if value is None or isinstance(value, bool):
        return value
    if isinstance(value, enum.Enum):
        return value.name
    if isinstance(value, (int, float)):
        if TIMES.search(name) or abs(value) > 1e12:
            return "TIME"
        return str(value) if isinstance(value, float) and not math.isfinite(value) else value
    if isinstance(value, (str, pathlib.Path)):
        path = pathlib.Path(str(value))
        if str(value).startswith(str(FOLDER)) and path.exists():
            return tree(path)
        try:
            parsed = json.loads(value) if str(value)[:1] in "[{" else None
        except ValueError:
            parsed = None
        return plain(parsed) if parsed is not None else text_of(str(value))
    if isinstance(value, bytes):
        return text_of(value.decode("utf-8", "replace"))
    if isinstance(value, datetime.datetime):
        return "TIME"
    if isinstance(value, PagedList):
        return {"items": [plain(entry) for entry in value], "token": bool(value.token)}
    if isinstance(value, pandas.DataFrame):
        return {"columns": sorted(value.columns), "rows": len(value)}
    if isinstance(value, numpy.ndarray):
        return {"shape": list(value.shape)}
    if isinstance(value, dict):
        return {text_of(str(key)): plain(entry, str(key)) for key, entry in value.items() if str(key) not in UNIMPORTANT}
    if isinstance(value, (list, tuple, set)):
        entries = [plain(entry) for entry in value]
        # None of these lists has an order that is promised.
        by_key = entries and all(isinstance(entry, dict) and "key" in entry for entry in entries)
        return sorted(entries, key=json.dumps) if by_key or name == "latest_versions" else entries
    if not hasattr(value, "__dict__"):  # lists of protobuf
        return plain(list(value))
    return {"": type(value).__name__, **{key: plain(entry, key) for key, entry in fields_of(value).items() if key not in UNIMPORTANT}}


def tree(path):
    if path.is_file():
        return {path.name: path.read_bytes()[:200].decode("utf-8", "replace") if path.suffix in {".txt", ".json"} else "BYTES"}
    return sorted(str(entry.relative_to(path)) for entry in path.rglob("*") if entry.is_file())
