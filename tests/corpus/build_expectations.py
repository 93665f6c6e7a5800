#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Writes expectations.json from the texts, the independent reader and the review; never from ponk's output.

Usage: build_expectations.py CORPUS_FOLDER [--check]
Needs ruamel.yaml (a private virtual environment will do). With --check nothing is written: it says whether the file that
is there would come out the same.
"""
import hashlib
import json
import pathlib
import re
import sys

import finding_rules
import review
from independent_reader import Unreadable, WrongType, read

HERE = pathlib.Path(__file__).resolve().parent
TARGET = HERE / "expectations.json"

# Names that anyone might give a target; others may hold a person's or a company's name and are kept as a hash.
COMMON_TARGETS = {"local", "docker", "docker-python", "docker-spark", "dsvm", "myvm", "gpuvm", "remotevm", "my_dsvm1", "spark",
                  "cluster", "clustercompute", "lastRun", "vm", "sample_dsvm", "cpucluster", "amlcompute", "hdinsight",
                  "myhdi", "remotedocker", "dockerdsvm", "mydevvm"}
HIDDEN_KEYS = {"address", "username", "password", "Scope", "Id", "subscription_id", "resource_group", "workspace_name",
               "dataFile", "statsLocation", "url", "authorization", "storageAccount", "storageKey", "storageContainer",
               "interpreterPath", "baseDockerImage", "Description"}
# Placeholders, documentation addresses and stock names hide nothing.
OPEN_VALUES = {"python", "IP_ADDRESS", "USER", "PASSWORD", "sshuser", "xxx", "gpubox.example.org", "192.0.2.10"}
# The one field that the schema leaves open: the stock file's own version, a number or text.
OPEN_TYPES = {("spark", "version")}

CANONICAL_TYPES = {"docker": "localdocker", "virtualmachine": "remotedocker"}


def digest(text):
    return "sha256:" + hashlib.sha256(text.encode()).hexdigest()


def looks_private(key, text):
    if key in HIDDEN_KEYS:
        return text not in OPEN_VALUES and not text.startswith(("microsoft/mmlspark", "<"))
    if key in ("Target", "target") or (key == "name" and text != "project_environment"):
        return text not in COMMON_TARGETS
    return bool(re.search(r"://\S*\?|[0-9A-Fa-f]{20}|AzureMlSecret|Bearer ", text))


def hide(value, key=None):
    """The same tree with addresses, users, keys and signatures replaced by their hashes."""
    if isinstance(value, dict):
        return {name: hide(item, name) for name, item in value.items()}
    if isinstance(value, list):
        return [hide(item, key) for item in value]
    if isinstance(value, str) and looks_private(key, value):
        return digest(value)
    return value


def meaning(folder, schema, values):
    """The few things understood that do not depend on how ponk names its fields."""
    if folder == "compute":
        written = values.get("type")
        if written is None:
            written = "cluster" if values.get("cluster") else "remotedocker"
        return {"type": CANONICAL_TYPES.get(written, written)}
    if schema == "runconfig-2017":
        return {"framework": values.get("Framework", "PySpark"), "target": hide(values["Target"], "Target")}
    if schema == "runconfig-2018":
        return {"framework": values["framework"], "target": hide(values["target"], "target")}
    return None


def in_order(found):
    return sorted(found, key=lambda item: (item["line"] or 0, item["column"] or 0, item["class"]))


def refused(name, folder, text):
    """The hand-written error, after asserting that the independent reader refuses the text too."""
    found = []
    try:
        read(folder, text)
    except Unreadable as error:
        seen = [(error.line, error.column)]
    except WrongType as error:
        seen = [(line, column) for line, column, _ in error.places]
        found = in_order(finding_rules.findings(folder, error.root, error.schema, error.values))
    else:
        raise SystemExit(f"{name}: the review calls this an error, the independent reader accepts it")
    stated = [(line, column) for line, column, _, _ in review.ERRORS[name]]
    if name not in review.READER_POINTS_ELSEWHERE and seen != stated:
        raise SystemExit(f"{name}: review says {stated}, the independent reader {seen}")
    errors = [{"class": kind, "line": line, "column": column, "mentions": word}
              for line, column, kind, word in review.ERRORS[name]]
    also = [{"line": line, "column": column} for line, column in review.ALSO.get(name, [])]
    return {"ok": False, "errors": errors} | ({"also": also} if also else {}) | ({"findings": found} if found else {})


def line_alternatives(text, line):
    """A lone CR is a line break for YAML and none for most editors: the count by LF for a line counted with CR."""
    breaks = [match.end() for match in re.finditer(r"\r\n|\r|\n", text)]
    offset = breaks[line - 2] if line > 1 else 0
    return text.count("\n", 0, offset) + 1


def accepted(name, folder, text):
    root, schema, values = read(folder, text)
    found = list(finding_rules.findings(folder, root, schema, values))
    for kind, line, column, is_must, word in review.BY_EYE.get(name, []):
        found.append({"class": kind, "line": line, "column": column} | ({"must": True, "mentions": word} if is_must else {}))
    for finding in found:
        if finding["line"] and line_alternatives(text, finding["line"]) != finding["line"]:
            finding["line_by_lf"] = line_alternatives(text, finding["line"])
    entry = {"ok": True, "values": hide(values)}
    if (folder, "version") in OPEN_TYPES and "version" in values:
        entry["values"]["version"] = {"either": [values["version"], int(values["version"])]}
    if meaning(folder, schema, values):
        entry["meaning"] = meaning(folder, schema, values)
    return schema, entry | ({"findings": in_order(found)} if found else {})


def ignore_entry(text):
    lines = [line for line in text.replace("\r\n", "\n").split("\n") if line.strip() and not line.startswith("#")]
    return {"ok": True, "values": lines}


def shown_name(name):
    """The file's name as the project had it, where it is nobody's own."""
    stem, _, ending = name.rpartition(".")
    return name if ending not in ("compute", "runconfig") or not looks_private("target", stem) else f"*.{ending}"


def expectation(name, folder, path):
    data = path.read_bytes()
    text = data.decode("utf-8")
    head = {"file": shown_name(path.name[13:]), "text": hashlib.sha256(data).hexdigest(), "kind": folder,
            "schema": None}
    if folder == "amlignore":
        return head | ignore_entry(text)
    if name in review.ERRORS:
        if folder == "runconfig":
            head["schema"] = "2017"
        return head | refused(name, folder, text)
    schema, entry = accepted(name, folder, text)
    if folder == "runconfig":
        head["schema"] = schema.removeprefix("runconfig-")
    return head | entry


def build(corpus):
    entries = {}
    for path in sorted(corpus.glob("*/*")):
        name = f"{path.parent.name}/{path.name[:12]}"
        assert name not in entries, name
        entries[name] = expectation(name, path.parent.name, path)
    for listed in list(review.ERRORS) + list(review.BY_EYE):
        assert listed in entries, listed
    return entries


def as_text(entries):
    """One line per text head, one per finding: short enough to read, stable enough to compare."""
    lines = []
    for name, entry in entries.items():
        fields = [f"  {json.dumps(key)}: {json.dumps(value, ensure_ascii=False)}" for key, value in entry.items()
                  if key not in ("findings", "file", "text", "kind", "schema", "ok")]
        head = ", ".join(f"{json.dumps(key)}: {json.dumps(entry[key])}" for key in ("file", "kind", "schema", "ok", "text"))
        if "findings" in entry:
            rows = ",\n".join("   " + json.dumps(finding) for finding in entry["findings"])
            fields.append(f'  "findings": [\n{rows}]')
        lines.append(f" {json.dumps(name)}: {{{head},\n" + ",\n".join(fields) + "}")
    return "{\n" + ",\n".join(lines) + "\n}\n"


def main(arguments):
    result = as_text(build(pathlib.Path(arguments[0])))
    assert json.loads(result)
    if "--check" in arguments:
        same = TARGET.read_text() == result
        print("expectations.json is up to date" if same else "expectations.json differs from what the texts give")
        return 0 if same else 1
    TARGET.write_text(result)
    print(f"{TARGET}: {len(json.loads(result))} texts")
    return 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
