# SPDX-License-Identifier: Apache-2.0
"""Writes data preparation packages in the shape of the application of 2017."""
import json
import os
import sys
import uuid

SOURCE = os.path.abspath(os.path.join(os.path.dirname(__file__), "..", "..", "python"))
if SOURCE not in sys.path:
    sys.path.insert(0, SOURCE)


def identifier(name):
    return str(uuid.uuid5(uuid.NAMESPACE_DNS, name))


def block(kind, **arguments):
    """A block; the prefix of most types is added."""
    prefix = "" if kind == "TwoWayJoin" else "Microsoft.DPrep."
    return {"id": identifier(kind + json.dumps(arguments, sort_keys=True)), "type": prefix + kind,
            "arguments": arguments}


def reference(name, path=None, **more):
    out = {"referenceType": 0 if path is None else 1, "referenceContainerPath": path,
           "referencedActivityId": identifier(name), "referencedBranchId": None,
           "referencedStep": None, "anonymousSteps": None}
    out.update(more)
    return out


def files(*paths):
    return block("DataSourceBlock", path={"target": 0, "resourceDetails": [{"path": p} for p in paths]})


def delimited(**more):
    arguments = {"preview": False, "columnHeadersMode": 1, "separator": ",", "fileEncoding": 0,
                 "skipRowsMode": 0, "handleQuotedLineBreaks": False}
    arguments.update(more)
    return block("ParseDelimitedBlock", **arguments)


def types(**columns):
    """Types by number; a date is (4, format…)."""
    out = []
    for name, kind in columns.items():
        arguments = {}
        if isinstance(kind, tuple):
            arguments, kind = {"dateTimeFormats": list(kind[1:])}, kind[0]
        out.append({"columnId": name, "typeProperty": kind, "typeArguments": arguments})
    return block("SetColumnTypesBlock", columnConversion=out)


def write(path, *activities):
    """A package of (name, block…); its folder is the path's."""
    document = {"schemaVersion": 40, "id": identifier(str(path)), "runConfigurations": [], "activities": [
        {"id": identifier(name), "name": name, "blocks": list(blocks), "inspectors": [
            {"id": identifier("i" + name), "type": "Microsoft.DPrep.DataQualityInspector", "arguments": {},
             "isBackground": False}]}
        for name, *blocks in activities]}
    path.write_text(json.dumps(document, indent=2), encoding="utf-8")
    return str(path)
