# SPDX-License-Identifier: Apache-2.0
"""docs/api/openapi.json, which the daemon serves, and what a daemon really answers."""
import hashlib
import json
import pathlib
import secrets
import time

import pytest

from golden_homes import GOLDEN, unpack
from web_socket import WebSocket
from wheels import write_wheel
from workbench import REPOSITORY

pytest.importorskip("jsonschema", reason="jsonschema of PyPI or Debian is not there")
from contract import Caller  # noqa: E402

TRAIN = """
import os, time, ponk
os.makedirs("outputs", exist_ok=True)
open("outputs/model.txt", "w").write("weights")
os.symlink("model.txt", "outputs/link.txt")
ponk.log_params({"lr": 0.1})
for step in range(5):
    ponk.log("loss", 1 / (step + 1), step=step)
ponk.log("list", [1.5, float("nan")])
ponk.log("word", "NaN")
print("trained")
"""


def test_the_document_is_valid():
    validator = pytest.importorskip("openapi_spec_validator", reason="openapi-spec-validator of PyPI is not there")
    document = json.loads((REPOSITORY / "docs" / "api" / "openapi.json").read_text())
    validator.validate(document)


@pytest.fixture
def api(ponk):
    return Caller(ponk)


def request_of(ponk, script="train.py", **more):
    return {"run_id": secrets.token_hex(16), "project": str(ponk.project), "script": script,
            "environment": [f"{name}={value}" for name, value in ponk.environment.items()], **more}


def run_of(api, **more):
    made = api.call("POST", "/runs", 201, body=request_of(api.ponk, **more))
    return api.call("GET", "/runs/{run}/wait", query={"timeout": 300}, run=made["run_id"])


def ask_about(api, run):
    """Everything that can be read of a run that has ended."""
    ended = api.call("GET", "/runs/{run}", run=run)
    assert "configuration" in ended
    for path in ("/runs/{run}/log", "/runs/{run}/log/tail", "/runs/{run}/log/check", "/runs/{run}/events", "/runs/{run}/metrics",
                 "/runs/{run}/artifacts", "/runs/{run}/snapshot"):
        api.call("GET", path, run=run)
    api.call("POST", "/runs/{run}/log/check", run=run)
    return ended


def hear(api, port, session, run):
    """What the page's socket says."""
    told = WebSocket(port)
    told.send({"hello": session})
    api.contract.check(told.receive(), {"$ref": "#/components/schemas/LiveHello"}, "hello")
    for subject, schema in (("runs", "LiveList"), (f"run/{run}", "LiveRun"), ("run/" + "f" * 32, "LiveProblem")):
        asked = {"watch": subject, "after": 1}
        api.contract.check(asked, {"$ref": "#/components/schemas/LiveAsk"}, subject)
        told.send(asked)
        api.contract.check(told.until(lambda message: message["subject"] == subject), {"$ref": f"#/components/schemas/{schema}"}, subject)
    told.close()
    api.called.add(("GET", "/ui/live"))


def open_prompt(api, port, session, project):
    """What the socket of the command prompt says."""
    prompt = WebSocket(port, path="/api/v1/ui/prompt")
    hello = {"hello": session, "project": project, "columns": 80, "rows": 24}
    api.contract.check(hello, {"$ref": "#/components/schemas/PromptHello"}, "hello")
    prompt.send(hello)
    api.contract.check(prompt.receive(), {"$ref": "#/components/schemas/PromptBegun"}, "hello")
    asked = {"input": "exit 3\n"}
    api.contract.check(asked, {"$ref": "#/components/schemas/PromptAsk"}, "input")
    prompt.send(asked)
    api.contract.check(prompt.until(lambda message: "output" in message), {"$ref": "#/components/schemas/PromptOutput"}, "output")
    ended = prompt.until(lambda message: "ended" in message)
    api.contract.check(ended, {"$ref": "#/components/schemas/PromptEnded"}, "ended")
    assert ended["ended"] == {"code": 3, "signal": None}
    api.called.add(("GET", "/ui/prompt"))


def test_a_daemon_answers_as_described(ponk, api, tmp_path):
    """Every GET of the document is asked here with success, so that one that is new must be added."""
    write_wheel(tmp_path, "tinytool", "1.0")
    ponk.environment.update(PIP_NO_INDEX="1", PIP_FIND_LINKS=str(tmp_path), PONK_ENV_FREE_SPACE="1000000")
    ponk.write("train.py", TRAIN)
    ponk.write("fail.py", "raise SystemExit(3)\n")
    ponk.write("wait.py", "import time\nprint('begun', flush=True)\ntime.sleep(1000)\n")
    ponk.write("data/one.csv", "1\n")
    ponk.write("aml_config/managed.runconfig", "Target: local\nFramework: Python\nManagedEnvironment: true\n")
    ponk.write("aml_config/conda_dependencies.yml", "name: x\ndependencies:\n  - python\n  - pip:\n    - tinytool==1.0\n")

    api.call("GET", "/openapi.json")
    api.call("GET", "/daemon")
    run = run_of(api, name="first", tags={"k": "v"}, inputs=[str(ponk.project / "data")])
    assert run["status"] == "Completed", run
    first = run["run_id"]
    ended = ask_about(api, first)
    assert ended["configuration"]["inputs"][0]["files"] == 1
    failed = run_of(api, script="fail.py")
    assert (failed["status"], failed["exit_code"]) == ("Failed", 3)
    managed = run_of(api, run_configuration="managed", tracked=True)
    assert managed["status"] == "Completed", managed
    lock = api.call("GET", "/runs/{run}/lock", run=managed["run_id"])
    assert [package["name"] for package in lock["packages"] if package["name"] == "tinytool"]
    project = run["project"]

    assert [one["run_id"] for one in api.call("GET", "/runs", query={"project": project, "limit": 1})["runs"]] == [managed["run_id"]]
    found = api.call("POST", "/runs/search", body={"filter": "metrics.loss < 0.3", "order_by": ["metrics.loss ASC"], "metrics": ["loss"], "limit": 1})
    assert found["next"]
    metrics = api.call("GET", "/runs/{run}/metrics", query={"points": 2, "prefix": "lo"}, run=first)["metrics"]
    assert len(metrics["loss"]["points"]) == 2
    curves = api.call("POST", "/curves", body={"runs": [first], "keys": ["loss"], "x": "step", "from": None, "to": None, "width": 100})
    head = api.contract.document["paths"]["/curves"]["post"]["responses"]["200"]["content"]["application/octet-stream"]["x-head"]
    api.contract.check(json.loads(curves[16:16 + int.from_bytes(curves[8:12], "little")]), head, "the head of curves")
    assert api.call("GET", "/runs/{run}/artifacts/{path}", run=first, path="outputs/model.txt") == b"weights"
    assert api.call("GET", "/runs/{run}/artifact", query={"path": "outputs/model.txt", "offset": 3}, run=first) == b"ghts"
    assert api.call("GET", "/runs/{run}/snapshot/file", query={"path": "fail.py"}, run=first) == b"raise SystemExit(3)\n"
    assert api.call("GET", "/export", query={"run": first})

    api.call("GET", "/projects")
    assert api.call("GET", "/samples")["samples"]
    assert "managed" in api.call("GET", "/projects/{project}/targets", project=project)["run_configurations"]
    python = str(pathlib.Path("/usr/bin/python3").resolve())
    made = api.call("POST", "/projects/{project}/targets", 201, body={"type": "local", "name": "py", "python": python}, project=project)
    assert made["name"] == "py"
    taken = api.call("POST", "/projects/{project}/targets", 409, body={"type": "local", "name": "py"}, project=project)
    assert "already exists" in taken["error"]["message"]
    unseen = api.call("POST", "/projects/{project}/targets", 400, body={"type": "remote", "name": "box", "address": "nowhere.invalid"}, project=project)
    assert "fingerprint" in unseen["error"]["message"]
    nobody = api.call("POST", "/targets/host-key", 503, body={"address": "127.0.0.1:1", "username": "ann"})
    assert "refuses connections" in nobody["error"]["message"]
    listed = {one["name"]: one["kind"] for one in api.call("GET", "/projects/{project}/files", query={"path": ""}, project=project)["entries"]}
    assert (listed["train.py"], listed["data"]) == ("file", "folder")
    assert api.call("GET", "/projects/{project}/file", query={"path": "data/one.csv"}, project=project) == b"1\n"
    read = hashlib.sha256(b"1\n").hexdigest()
    api.call("PUT", "/projects/{project}/file", query={"path": "data/one.csv"}, body={"text": "2\n", "digest": read}, project=project)
    api.call("PUT", "/projects/{project}/file", 409, query={"path": "data/one.csv"}, body={"text": "3\n", "digest": read}, project=project)
    api.call("PUT", "/projects/{project}/file", 201, query={"path": "new.txt"}, body={"text": "new", "digest": None}, project=project)
    remarks = api.call("POST", "/projects/{project}/check", body={"path": "aml_config/a.compute", "text": "type: none\n"}, project=project)
    assert remarks["remarks"]
    assert "$schema" in api.call("GET", "/schemas/{kind}", kind="runconfig")
    found = api.call("GET", "/runs/{run}/log/search", query={"q": "trained"}, run=first)
    assert [line["line"] for line in found["lines"]] == [1] and found["at_end"]
    found = api.call("GET", "/runs/{run}/log/search", query={"q": "^tr[a-z]+d$", "regex": "1"}, run=first)
    assert [line["line"] for line in found["lines"]] == [1]
    refused = api.call("GET", "/runs/{run}/log/search", 400, query={"q": "tr(", "regex": "1"}, run=first)
    assert "not a regular expression" in refused["error"]["message"] and "RE2" in refused["error"]["hint"]
    view = {"filter": "metrics.loss < 1", "order": "metrics.loss DESC", "group": "", "columns": ["state", "metric:loss"], "only_differing": False}
    assert api.call("PUT", "/views/{view}", 201, query={"project": project}, body=view, view="best")["name"] == "best"
    api.call("PUT", "/views/{view}", 200, query={"project": project}, body=view, view="best")
    api.call("PUT", "/views/{view}", 201, body={}, view="ähnlich & so")
    wrong = api.call("PUT", "/views/{view}", 400, body={"filter": "metrics.loss <"}, view="bad")
    assert "filter" in wrong["error"]["message"]
    api.call("PUT", "/views/{view}", 400, body={}, view="x" * 81)
    api.call("PUT", "/views/{view}", 404, query={"project": "none"}, body={}, view="bad")
    api.call("PATCH", "/views/{view}", body={"name": "good runs"}, query={"project": project}, view="best")
    api.call("PATCH", "/views/{view}", 404, body={"name": "x"}, query={"project": project}, view="best")
    assert [(one["name"], one["columns"]) for one in api.call("GET", "/views", query={"project": project})["views"]] == [("good runs", ["state", "metric:loss"])]
    assert len(api.call("GET", "/views")["views"]) == 2
    listed = ponk.text("runs", "--view", "good runs", "-o", "table")
    assert "metrics.loss" in listed and "first" in listed
    missing = ponk.run("runs", "--view", "best", code=66)
    assert b"'good runs'" in missing.stderr
    api.call("DELETE", "/views/{view}", query={"project": project}, view="good runs")
    api.call("DELETE", "/views/{view}", 404, query={"project": project}, view="good runs")
    assert api.call("GET", "/projects/lookup", query={"path": str(ponk.project)})["id"] == project
    api.call("POST", "/runs/{run}/promote", body={"artifact": "outputs/model.txt", "name": "best"}, run=first)
    assert api.call("GET", "/projects/{project}/assets", project=project)["assets"]
    (environment,) = api.call("GET", "/environments")["environments"]
    api.call("GET", "/environments/{environment}", query={"machine": "here"}, environment=environment["id"])
    api.call("POST", "/environments/check", body=request_of(ponk, run_configuration="managed"))
    api.call("GET", "/doctor")
    api.call("GET", "/disk")
    api.call("PUT", "/secrets/{name}", body={"value": "hunter2-hunter2", "project": "*"}, name="KEY")
    assert api.call("GET", "/secrets")["secrets"]
    api.call("POST", "/tokens", 201, body={"name": "one", "role": "read", "expires": "2099-01-01T00:00:00.000Z"})
    assert len(api.call("GET", "/tokens")["tokens"]) == 1

    code = api.call("POST", "/ui/codes", 201, body={"prompt": True, "environment": ["PATH=/usr/bin:/bin", f"HOME={ponk.home}"], "umask": 18})
    port = int(code["address"].rstrip("/").rpartition(":")[2])
    made = api.call("POST", "/ui/login", 201, body={"code": code["code"]})
    page = (port, made["session"])
    api.call("GET", "/ui/session", session=page)
    assert [one["current"] for one in api.call("GET", "/ui/sessions", session=page)["sessions"]] == [True]
    api.call("POST", "/ui/addresses", 201, body={"path": f"api/v1/runs/{first}/log", "query": {}, "show": "download"}, session=page)
    assert api.call("GET", "/ui/live", 426, session=page)["error"]["hint"]
    hear(api, *page, first)
    assert api.call("GET", "/ui/prompt", 426, session=page)["error"]["hint"]
    open_prompt(api, *page, project)
    assert api.call("GET", "/daemon", session=page)["pid"] is None
    assert api.call("GET", "/runs", 401, session=(port, "wrong"))["error"]["hint"]
    api.call("DELETE", "/ui/session", session=page)

    described = {(method.upper(), path) for path, item in api.contract.document["paths"].items() for method in item if method == "get"}
    assert described - api.called == set()


def test_calls_that_change_something_answer_as_described(ponk, api, tmp_path):
    ponk.write("train.py", TRAIN)
    ponk.write("wait.py", "import time\nprint('begun', flush=True)\ntime.sleep(1000)\n")
    first = run_of(api)["run_id"]
    waiting = api.call("POST", "/runs", 201, body=request_of(ponk, "wait.py", grace_seconds=0))["run_id"]
    api.call("GET", "/runs/{run}/wait", query={"until": "started"}, run=waiting)
    api.call("POST", "/runs/{run}/cancel", body={"grace_seconds": 0}, run=waiting)
    canceled = api.call("GET", "/runs/{run}/wait", query={"timeout": 300}, run=waiting)
    assert canceled["status"] == "Canceled"
    again = api.call("POST", "/runs/{run}/rerun", 201, body={"run_id": secrets.token_hex(16), "environment": request_of(ponk)["environment"]}, run=first)
    assert api.call("GET", "/runs/{run}/wait", query={"timeout": 300}, run=again["run_id"])["rerun_of"] == first

    changed = api.call("PATCH", "/runs/{run}", body={"name": "best", "hidden": False, "tags": {"a": "b", "c": None}}, run=first)
    assert (changed["name"], changed["tags"]) == ("best", {"a": "b"})
    assert api.call("PATCH", "/runs/{run}", body={"deleted": True}, run=waiting)["deleted_utc"]
    api.call("PATCH", "/runs/{run}", body={"deleted": False}, run=waiting)
    there = tmp_path / "restored"
    assert api.call("POST", "/runs/{run}/restore", body={"destination": str(there), "umask": 18}, run=first)["files"] >= 2
    returned = api.call("POST", "/runs/{run}/return", body={"destination": str(there), "overwrite": True}, run=first)
    assert "outputs/model.txt" in returned["copied"]
    api.call("POST", "/runs/{run}/diagnostics", body={"destination": str(tmp_path / "run.zip")}, run=first)
    api.call("POST", "/runs/{run}/clean", run=again["run_id"])
    api.call("GET", "/runs/{run}", 404, run="ffffffff")
    api.call("POST", "/experiments/restore", 404, body={"name": "nobody's"})

    lines = tmp_path / "all.jsonl"
    lines.write_text("".join(json.dumps(line) + "\n" for line in api.call("GET", "/export")))
    begun = api.call("POST", "/imports", 201, body={"path": str(lines), "dry_run": True})
    deadline = time.monotonic() + 120
    while not (step := api.call("POST", "/imports/{import}/step", **{"import": begun["import"]}))["done"]:
        assert time.monotonic() < deadline
    assert step["report"]["runs"]["found"] == 3
    api.call("DELETE", "/imports/{import}", **{"import": begun["import"]})

    api.call("POST", "/targets/check", body={"project": str(ponk.project), "target": "local"})
    api.call("POST", "/maintenance/gc")
    api.call("POST", "/maintenance/backup", body={"path": str(tmp_path / "history.db")})
    while not api.call("POST", "/prune", body={"copies_seconds": 1, "store": True, "dry_run": True})["copies"]:
        assert time.monotonic() < deadline
        time.sleep(0.1)
    api.call("PUT", "/secrets/{name}", body={"value": "hunter2-hunter2"}, name="KEY")
    api.call("DELETE", "/secrets/{name}", query={"purge": "1"}, name="KEY")
    api.call("POST", "/tokens", 201, body={"name": "one", "role": "write", "expires": None})
    api.call("DELETE", "/tokens/{name}", name="one")
    api.call("POST", "/daemon/pin")
    project = api.call("GET", "/projects")["projects"][0]["id"]
    api.call("POST", "/projects/{project}/relink", body={"path": str(ponk.project)}, project=project)
    assert api.call("DELETE", "/runs/{run}", run=waiting)["deleted"] == waiting
    assert api.call("DELETE", "/projects/{project}", project=project)["runs"] == 2
    api.call("POST", "/daemon/stop", body={"reason": "the test is over", "unpin": True})


def test_gpus_and_runs_that_used_them_are_as_described(gpus):
    ponk = gpus.ponk
    gpus.set([{"name": "Card A", "processes": [{"pid": 1, "memory": 1 << 30}]}, {"name": "Card B"}])
    ponk.write("train.py", "print('trained')\n")
    api = Caller(ponk)
    environment = request_of(ponk)["environment"]
    inventory = api.call("POST", "/gpus", body={"project": str(ponk.project), "target": "local", "environment": environment})
    assert inventory["reachable"] and inventory["devices"][0]["processes"][0]["pid"] == 1
    facts = api.call("POST", "/targets/check", body={"project": str(ponk.project), "environment": environment})["facts"]
    assert len(facts["gpus"]) == 2
    gpus.set([{"name": "Card A"}])
    run = run_of(api, gpus="1")
    assert run["gpu_evidence"]["phase"] == "ended" and run["gpu_evidence"]["devices"], run


@pytest.mark.parametrize("archive", sorted(GOLDEN.glob("home-v*.tar.gz")), ids=lambda path: path.name.split(".")[0])
def test_runs_of_earlier_versions_are_as_described(ponk, archive):
    runs = unpack(archive, ponk.home)
    api = Caller(ponk)
    listed = api.call("GET", "/runs")["runs"]
    assert sorted(run["run_id"] for run in listed) == runs
    for run in runs:
        api.call("GET", "/runs/{run}/artifacts", run=run)
        api.call("GET", "/runs/{run}/events", run=run)
