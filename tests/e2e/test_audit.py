# SPDX-License-Identifier: Apache-2.0
"""Who did what through the daemon, and whether the log of that was touched."""
import hashlib
import http.client
import json
import os
import signal
import time


def ask(uri, method, path, token=None, body=None):
    host, _, port = uri.split("//")[1].rpartition(":")
    connection = http.client.HTTPConnection(host, int(port), timeout=30)
    headers = {"Content-Type": "application/json"}
    if token:
        headers["Authorization"] = f"Bearer {token}"
    connection.request(method, path, body=body if body is None else json.dumps(body), headers=headers)
    reply = connection.getresponse()
    text = reply.read()
    connection.close()
    return reply.status, text


def records(ponk, *words):
    return json.loads(ponk.text("audit", "list", "-o", "json", *words))


def test_what_the_owner_and_a_token_did_is_listed(ponk):
    env = ponk.json("tracking", "env")
    uri, token = env["MLFLOW_TRACKING_URI"], env["MLFLOW_TRACKING_TOKEN"]
    ponk.run("secret", "set", "db-password", input=b"hunter2-hunter2\n")
    _, made = ask(uri, "POST", "/api/2.0/mlflow/runs/create", token, {"experiment_id": "0"})
    run = json.loads(made)["run"]["info"]["run_id"]
    for step in range(50):
        assert ask(uri, "POST", "/api/2.0/mlflow/runs/log-metric", token,
                   {"run_id": run, "key": "loss", "value": 1.0, "timestamp": 1, "step": step})[0] == 200
    assert ask(uri, "DELETE", "/api/v1/tokens/local", "ponk_" + "0" * 64)[0] == 401
    assert ask(uri, "DELETE", "/api/v1/tokens/local", token)[0] == 403
    ponk.run("daemon", "stop")  # writes what waits

    all_of_it = records(ponk)
    secret = next(one for one in all_of_it if one["route"] == "/api/v1/secrets/{name}")
    assert (secret["who"], secret["listener"], secret["object"]["name"]) == (f"uid:{os.geteuid()}", "unix", "db-password")
    created = next(one for one in all_of_it if one["route"].endswith("runs/create"))
    assert (created["who"], created["peer"], created["outcome"]) == ("token:local", "127.0.0.1", "done")
    assert created["role"] == next(one["role"] for one in ponk.json("token", "list") if one["name"] == "local")
    assert created["object"]["run_id"] == run
    points = [one for one in all_of_it if one["route"].endswith("log-metric")]
    assert sum(one["count"] for one in points) == 50 and len(points) <= 2
    refused = records(ponk, "--refused")
    assert [(one["who"], one["status"]) for one in refused] == [("nobody", 401), ("token:local", 403)]
    assert {one["who"] for one in records(ponk, "--token", "local")} == {"token:local"}
    assert len(records(ponk, "-n", "2")) == 2
    assert records(ponk, "--since", "1h") == all_of_it and records(ponk, "--since", "2999-01-01") == []
    for file in [ponk.home / "audit.head", *(ponk.home / "audit").iterdir()]:
        text = file.read_text()
        assert "hunter2" not in text and token not in text and "ponk_" not in text
        assert file.stat().st_mode & 0o777 == 0o600
    table = ponk.text("audit", "list", "-o", "table")
    assert "runs/create" in table and "refused" in table
    assert ponk.run("audit", "list", "--since", "never", code=64).stderr


def test_the_chain_can_be_checked_by_anybody_and_a_change_is_found(ponk):
    for name in ("a", "b", "c", "d"):
        ponk.run("secret", "set", name, input=b"value-of-it\n")
    ponk.run("daemon", "stop")
    good = json.loads(ponk.text("audit", "verify", "-o", "json"))
    assert (good["first"], good["files"]) == (1, 1)
    file = ponk.home / "audit" / "000001.jsonl"
    previous = "0" * 64
    for number, line in enumerate(file.read_text().splitlines(), 1):
        body, _, rest = line.rpartition(',"hash":"')
        record = json.loads(line)
        assert (record["n"], record["prev"]) == (number, previous)
        previous = record["hash"]
        assert hashlib.sha256(body.encode()).hexdigest() == previous == rest[:64]
    assert good["head"] == f"{number}:{previous}"
    assert ponk.run("audit", "verify", "--expect", good["head"])
    ponk.run("audit", "verify", "--expect", f"{number}:{'1' * 64}", code=74)

    whole = file.read_text()
    lines = whole.splitlines(keepends=True)
    for changed, place in ((whole.replace('"name":"b"', '"name":"x"'), "audit/000001.jsonl:"),
                           ("".join(lines[:-1]), "audit/000001.jsonl:"), ("", "audit")):
        file.write_text(changed)
        done = ponk.run("audit", "verify", code=74)
        assert place.encode() in done.stderr, done.stderr
    file.write_text(whole)
    ponk.run("audit", "verify")

    # A daemon that starts on a log that was cut says so, for good.
    file.write_text("".join(lines[:-1]))
    ponk.run("secret", "list")
    ponk.run("secret", "set", "e", input=b"value-of-it\n")
    done = ponk.run("audit", "verify", code=74)
    assert f"audit/000001.jsonl:{len(lines)}:".encode() in done.stderr, done.stderr
    assert "audit log" in (ponk.home / "daemon.log").read_text()


def test_a_daemon_that_is_killed_loses_no_record_and_a_torn_line_is_repaired(ponk):
    for name in ("a", "b", "c"):
        ponk.run("secret", "set", name, input=b"value-of-it\n")
    os.kill(ponk.json("daemon", "status")["pid"], signal.SIGKILL)
    names = [one["object"]["name"] for one in records(ponk) if one["route"] == "/api/v1/secrets/{name}"]
    assert names == ["a", "b", "c"]
    with open(ponk.home / "audit" / "000001.jsonl", "a") as file:
        file.write('{"n":99,"prev":"0000')
    time.sleep(0.1)

    ponk.run("secret", "set", "d", input=b"value-of-it\n")

    ponk.run("audit", "verify")
    assert [one["text"] for one in records(ponk) if one["kind"] == "repaired"] == ["the last line was not complete: its 20 bytes were removed"]


def test_failing_calls_of_one_token_leave_the_records_of_others(ponk):
    env = ponk.json("tracking", "env")
    uri, token = env["MLFLOW_TRACKING_URI"], env["MLFLOW_TRACKING_TOKEN"]
    ponk.run("secret", "set", "mine", input=b"value-of-it\n")
    body = {name: "\x01" * 200 for name in "run_id experiment_id name new_name version alias stage key role project".split()}
    for _ in range(300):
        assert ask(uri, "POST", "/api/2.0/mlflow/runs/delete", token, body)[0] >= 400
    ponk.run("daemon", "stop")

    failed = [one for one in records(ponk) if one.get("route", "").endswith("runs/delete")]
    assert sum(one.get("count", 1) for one in failed) == 300
    assert len(failed) <= 4  # two minutes at most
    assert all(len(json.dumps(one)) < 4000 for one in failed)
    lines = ponk.text("audit", "list", "-o", "tsv").splitlines()
    assert len(lines) == len(records(ponk))
    assert any("name=mine" in line for line in lines)
    ponk.run("audit", "verify")


def test_the_table_fits_a_terminal_and_keeps_the_objects(ponk):
    env = ponk.json("tracking", "env")
    uri, token = env["MLFLOW_TRACKING_URI"], env["MLFLOW_TRACKING_TOKEN"]
    _, made = ask(uri, "POST", "/api/2.0/mlflow/runs/create", token, {"experiment_id": "0"})
    run = json.loads(made)["run"]["info"]["run_id"]
    ask(uri, "POST", "/api/2.0/mlflow/runs/delete", token, {"run_id": run})
    ponk.run("daemon", "stop")
    table = ponk.run("audit", "list", "-o", "table", env={"COLUMNS": "80"}).stdout.decode()
    line = next(line for line in table.splitlines() if "runs/delete" in line)
    assert "…" not in line and run[-8:] in line and "token:local" in line
    assert all(len(line) <= 80 for line in table.splitlines())
