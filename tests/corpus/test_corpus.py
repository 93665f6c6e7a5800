# SPDX-License-Identifier: Apache-2.0
"""Every real configuration text gets its right meaning or an exact error."""
import collections
import concurrent.futures
import copy
import hashlib
import json
import os
import pathlib
import subprocess

import pytest

import comparison

EXPECTATIONS = json.loads((pathlib.Path(__file__).parent / "expectations.json").read_text())
COUNTS = {"amlignore": 3, "compute": 106, "conda": 118, "other": 10, "project": 19, "runconfig": 98, "spark": 41}
AT_ONCE = 4


def files_of(corpus):
    return {f"{path.parent.name}/{path.name[:12]}": path for path in sorted(corpus.glob("*/*"))}


def run(ponk, home, *arguments):
    environment = os.environ | {"PONK_HOME": str(home), "HOME": str(home), "NO_COLOR": "1"}
    done = subprocess.run([str(ponk), *map(str, arguments)], cwd=home, env=environment, capture_output=True, timeout=20,
                          stdin=subprocess.DEVNULL)
    try:
        return done.returncode, json.loads(done.stdout)
    except ValueError:
        return done.returncode, {"not JSON": done.stdout[:200].decode(errors="replace"),
                                 "stderr": done.stderr[:300].decode(errors="replace")}


def ask(ponk, home, path):
    check_code, problems = run(ponk, home, "check", path, "-o", "json")
    dump_code, dump = run(ponk, home, "check", "--dump", path, "-o", "json")
    return dump, problems, dump_code, check_code


def judge(entry, answer):
    dump, problems, dump_code, check_code = answer
    if not isinstance(problems, list):
        return [f"check gave no array but {str(problems)[:300]}"]
    return comparison.complaints(entry, dump, problems, dump_code, check_code)


@pytest.fixture(scope="session")
def verdicts(ponk, corpus, tmp_path_factory, table):
    """name -> list of complaints, for every text."""
    home, files = tmp_path_factory.mktemp("home"), files_of(corpus)
    with concurrent.futures.ThreadPoolExecutor(AT_ONCE) as pool:
        answers = dict(zip(files, pool.map(lambda path: ask(ponk, home, path), files.values())))
    result = {name: judge(EXPECTATIONS[name], answer) for name, answer in answers.items() if name in EXPECTATIONS}
    table.extend(rows(result))
    return result


def rows(result):
    by_kind = collections.defaultdict(collections.Counter)
    for name, found in result.items():
        entry, count = EXPECTATIONS[name], by_kind[EXPECTATIONS[name]["kind"]]
        count["texts"] += 1
        count["errors"] += not entry["ok"]
        count["findings"] += sum(1 for item in entry.get("findings", []) if item.get("must"))
        count["right"] += not found
    yield f"{'class':<12}{'texts':>7}{'right':>7}{'errors expected':>17}{'findings expected':>19}"
    for kind, count in sorted(by_kind.items()):
        yield f"{kind:<12}{count['texts']:>7}{count['right']:>7}{count['errors']:>17}{count['findings']:>19}"


def test_every_text_has_an_expectation_and_is_the_text_that_was_reviewed(corpus):
    files = files_of(corpus)
    assert set(files) == set(EXPECTATIONS)
    changed = [name for name, path in files.items()
               if hashlib.sha256(path.read_bytes()).hexdigest() != EXPECTATIONS[name]["text"]]
    assert not changed
    assert dict(collections.Counter(name.split("/")[0] for name in files)) == COUNTS


@pytest.mark.parametrize("kind", sorted(COUNTS))
def test_every_text_of_a_class_gets_its_meaning_or_its_exact_error(kind, verdicts):
    wrong = {name: found for name, found in verdicts.items() if EXPECTATIONS[name]["kind"] == kind and found}
    report = "\n".join(f"  {name} ({EXPECTATIONS[name]['file']}): {line}" for name, found in wrong.items() for line in found)
    assert not wrong, f"{len(wrong)} of {COUNTS[kind]} texts differ:\n{report}"


def changed_leaf(values):
    """A copy of a tree with its first leaf made wrong."""
    if isinstance(values, dict) and values:
        key = next(iter(values))
        return values | {key: changed_leaf(values[key])}
    if isinstance(values, list) and values:
        return [changed_leaf(values[0])] + values[1:]
    return "something else"


def alterations(entry):
    """The same expectation with one thing made wrong, for each thing that the test claims to notice."""
    if entry["ok"]:
        yield "a value", entry | {"values": changed_leaf(entry["values"])}
        yield "refused", entry | {"ok": False, "errors": [{"class": "x", "line": 1, "column": 1}]}
        if entry["schema"]:
            yield "the schema", entry | {"schema": "2016"}
        if "meaning" in entry:
            yield "the meaning", entry | {"meaning": dict.fromkeys(entry["meaning"], "something else")}
        yield "a finding more", entry | {"findings": entry.get("findings", []) + [
            {"class": "x", "line": 99, "column": 9, "must": True, "mentions": "nothing"}]}
    else:
        for field in ("line", "column"):
            errors = copy.deepcopy(entry["errors"])
            errors[0][field] += 1
            yield f"an error's {field}", entry | {"errors": errors}
        yield "accepted", entry | {"ok": True, "values": {}, "errors": []}
    required = [item for item in entry.get("findings", []) if item.get("must") and item["line"]]
    if required:
        moved = [item | {"line": item["line"] + 40} if item is required[0] else item for item in entry["findings"]]
        yield "a finding's line", entry | {"findings": moved}


def without_hashes(value):
    """A perfect answer cannot be made from a hash, so the self-check looks at texts as if nothing had been hidden."""
    if isinstance(value, dict):
        return value["either"][0] if set(value) == {"either"} else {key: without_hashes(item) for key, item in value.items()}
    if isinstance(value, list):
        return [without_hashes(item) for item in value]
    return value[7:] if isinstance(value, str) and value.startswith("sha256:") else value


def test_the_comparison_accepts_a_perfect_answer_and_notices_every_altered_expectation():
    noticed = collections.Counter()
    for name, hidden in EXPECTATIONS.items():
        entry = hidden | {key: without_hashes(hidden[key]) for key in ("values", "meaning") if key in hidden}
        answer = comparison.faithful_answer(entry)
        assert not judge(entry, answer), name
        for what, altered in alterations(entry):
            assert judge(altered, answer), f"{name}: {what} was altered and nobody noticed"
            noticed[what] += 1
    assert min(noticed.values()) >= 5 and len(noticed) >= 9, noticed


def test_a_hidden_value_is_compared_by_its_hash():
    hidden = "sha256:" + hashlib.sha256(b"gpubox").hexdigest()
    assert comparison.same({"address": hidden}, {"address": "gpubox"})
    assert not comparison.same({"address": hidden}, {"address": "gpubox "})


def test_text_number_and_truth_value_are_not_the_same():
    assert not comparison.same("1", 1)
    assert not comparison.same(1, True)
    assert not comparison.same("true", True)
    assert not comparison.same(None, "")
