# SPDX-License-Identifier: Apache-2.0
"""Compares one answer of ponk with one expectation. Every difference comes back as a sentence; none means equal.

Adjust here, and only here, when the command's answer is shaped otherwise than assumed.
"""
import hashlib

# ponk's names for kinds of files, by the folder of the corpus.
KINDS = {
    "compute": {"compute"},
    "runconfig": {"runconfig"},
    "conda": {"conda", "conda_dependencies"},
    "spark": {"spark", "spark_dependencies"},
    "project": {"project"},
    "amlignore": {"ignore", "amlignore"},
    "other": None,  # not a file of the product: any name will do as long as the values are right
}
# Codes that ponk may give to a class of finding; a class that is missing here is judged by place and words alone.
CODES = {}
# What a finding below an error may be called.
MILD = {"warning", "notice", "info", "hint"}


def same(expected, actual):
    if isinstance(expected, dict) and set(expected) == {"either"}:
        return any(same(choice, actual) for choice in expected["either"])
    if isinstance(expected, dict):
        return isinstance(actual, dict) and set(expected) == set(actual) and all(
            same(value, actual[key]) for key, value in expected.items())
    if isinstance(expected, list):
        return isinstance(actual, list) and len(expected) == len(actual) and all(map(same, expected, actual))
    if isinstance(expected, str) and expected.startswith("sha256:"):
        return isinstance(actual, str) and "sha256:" + hashlib.sha256(actual.encode()).hexdigest() == expected
    return type(expected) is type(actual) and expected == actual


def differences(expected, actual, where="values"):
    """The smallest places where two trees differ."""
    if same(expected, actual):
        return []
    if isinstance(expected, dict) and isinstance(actual, dict) and "either" not in expected:
        found = [f"{where}.{key} is missing" for key in expected.keys() - actual.keys()]
        found += [f"{where}.{key} is too much" for key in actual.keys() - expected.keys()]
        for key in expected.keys() & actual.keys():
            found += differences(expected[key], actual[key], f"{where}.{key}")
        return found
    if isinstance(expected, list) and isinstance(actual, list) and len(expected) == len(actual):
        return [line for index, pair in enumerate(zip(expected, actual)) for line in differences(*pair, f"{where}[{index}]")]
    return [f"{where}: expected {expected!r}, got {actual!r}"]


def patterns(values):
    """An ignore file's patterns, whether listed as text or as objects."""
    if isinstance(values, dict):
        values = values.get("patterns")
    if isinstance(values, list):
        return [item.get("pattern") if isinstance(item, dict) else item for item in values]
    return values


def stands_at(expected, finding):
    lines = {expected["line"], expected.get("line_by_lf")} - {None}
    return (not lines or finding["line"] in lines) and (
        expected["column"] is None or finding["column"] == expected["column"])


def speaks_of(expected, finding):
    word = expected.get("mentions")
    text = " ".join(str(finding.get(key) or "") for key in ("message", "hint", "code"))
    codes = CODES.get(expected["class"])
    return (word is None or word.lower() in text.lower()) and (codes is None or finding["code"] in codes)


def answers(expected, finding):
    return stands_at(expected, finding) and speaks_of(expected, finding)


def show(item):
    text = item.get("message") or item.get("mentions") or ""
    return f"{item['line']}:{item['column']} {item.get('code') or item.get('class')} {text}".strip()


def values_complaints(entry, dump):
    if not isinstance(dump, dict) or "values" not in dump:
        return [f"no values, but {str(dump)[:200]}"]
    found = []
    kinds = KINDS[entry["kind"]]
    if kinds is not None and dump.get("kind") not in kinds:
        found.append(f"kind: expected one of {sorted(kinds)}, got {dump.get('kind')!r}")
    if entry["schema"] is not None and str(dump.get("schema")) != entry["schema"]:
        found.append(f"schema: expected {entry['schema']}, got {dump.get('schema')!r}")
    values = patterns(dump["values"]) if entry["kind"] == "amlignore" else dump["values"]
    return found + differences(entry["values"], values)


def meaning_complaints(entry, dump):
    """Canonical type, framework and target, wherever the meaning's top level holds them (in any case of letters)."""
    understood = {key.lower(): value for key, value in ((dump or {}).get("meaning") or {}).items()}
    return [f"meaning.{key}: expected {value!r}, got {understood.get(key)!r}"
            for key, value in entry.get("meaning", {}).items() if not same(value, understood.get(key))]


def error_complaints(entry, problems):
    errors = [item for item in problems if item["severity"] == "error"]
    if entry["ok"]:
        return [f"unexpected error {show(item)}" for item in errors]
    found = [f"no error at {show(expected)}; errors: {[show(item) for item in errors]}" for expected in entry["errors"]
             if not any(answers(expected, item) for item in errors)]
    places = entry["errors"] + entry.get("also", [])
    return found + [f"unexpected error {show(item)}" for item in errors
                    if not any(stands_at(expected, item) for expected in places)]


def finding_complaints(entry, problems):
    mild = [item for item in problems if item["severity"] != "error"]
    expected = entry.get("findings", [])
    found = [f"severity {item['severity']!r} is not known" for item in mild if item["severity"] not in MILD]
    found += [f"no finding {show(wanted)}" for wanted in expected
              if wanted.get("must") and not any(answers(wanted, item) for item in mild)]
    if not entry["ok"]:
        expected = expected + entry["errors"] + entry.get("also", [])
    return found + [f"unexpected warning {show(item)}" for item in mild
                    if item["severity"] == "warning" and not any(stands_at(wanted, item) for wanted in expected)]


def complaints(entry, dump, problems, dump_code, check_code):
    """Everything that is wrong with ponk's answer about one text."""
    found = error_complaints(entry, problems) + finding_complaints(entry, problems)
    if entry["ok"]:
        found += values_complaints(entry, dump) + meaning_complaints(entry, dump)
    for name, code in (("check", check_code), ("check --dump", dump_code)):
        if (code == 0) != entry["ok"]:
            found.append(f"{name} ended with {code}")
    return found


def faithful_answer(entry):
    """What a perfect ponk would say; only for testing the comparison itself. Hashed strings cannot be given back."""
    problems = [{"file": "x", "line": item["line"] or 1, "column": item["column"] or 1, "severity": severity,
                 "code": item["class"], "message": item.get("mentions") or "", "hint": ""}
                for severity, group in (("error", entry.get("errors", [])), ("warning", entry.get("findings", [])))
                for item in group if severity == "error" or item.get("must")]
    dump = None
    if entry["ok"]:
        kinds = KINDS[entry["kind"]]
        dump = {"kind": sorted(kinds)[0] if kinds else "unknown", "schema": entry["schema"], "values": entry["values"],
                "meaning": entry.get("meaning", {})}
    code = 0 if entry["ok"] else 1
    return dump, problems, code, code
