# SPDX-License-Identifier: Apache-2.0
"""`ponk history import`, and the sync mode of the daemon."""
import json
import os
import random
import signal
import sqlite3
import subprocess
import time

import pytest

from workbench import Ponk

SCRIPT = """
import ponk
for step in range(300):
    ponk.log("loss", 1 / (step + 1), step=step)
ponk.log("words", "NaN")
ponk.log("list", [1.5, float("nan"), float("-inf")])
ponk.log_params({"lr": 0.1})
"""


@pytest.fixture
def other(ponk, tmp_path_factory):
    """A second home."""
    made = Ponk(ponk.program, tmp_path_factory.mktemp("o"))
    yield made
    made.run("daemon", "stop", code=None)


@pytest.fixture
def lines(ponk, tmp_path):
    """An export of two runs."""
    ponk.write("train.py", SCRIPT)
    ponk.run("experiment", "submit", "--name", "one", "train.py")
    ponk.run("experiment", "submit", "--name", "two", "--tag", "k=v", "train.py")
    file = tmp_path / "all.jsonl"
    ponk.run("history", "export", "-A", "-d", file)
    return file


def runs_in(text):
    return [json.loads(line) for line in text.splitlines() if '"metrics"' in line]


def test_a_table_of_runs_comes_home_once_and_its_mistakes_are_named(ponk, other, lines, tmp_path):
    table = tmp_path / "grid.csv"
    ponk.run("history", "export", "-A", "--format", "csv", "-d", table)

    done = other.json("history", "import", table)
    assert done["format"] == "csv" and done["runs"]["added"] == 2, done
    assert "exit_code" in str(done["left_out"])
    found = other.json("history", "list", "-A", "--filter", "params.lr = '0.1' AND metrics.loss < 0.01")
    assert sorted(run["name"] for run in found) == ["one", "two"]
    assert {run["experiment"] for run in found} == {run["experiment"] for run in ponk.json("history", "list", "-A")}
    assert {run["run_id"] for run in found} == {run["run_id"] for run in ponk.json("history", "list", "-A")}
    assert other.json("history", "import", table)["runs"] == {"found": 2, "added": 0, "same": 2, "refused": 0}

    with open(table, "a") as stream:
        stream.write("only,two\n")
    refused = other.run("history", "import", table, code=65)
    assert b"grid.csv:4: not imported: it has 2 cells" in refused.stderr


def make_database(path, runs, points):
    database = sqlite3.connect(path)
    database.executescript("""
        CREATE TABLE experiments(experiment_id INTEGER PRIMARY KEY, name TEXT, artifact_location TEXT, lifecycle_stage TEXT);
        CREATE TABLE runs(run_uuid TEXT PRIMARY KEY, name TEXT, user_id TEXT, status TEXT, start_time BIGINT, end_time BIGINT,
                          lifecycle_stage TEXT, artifact_uri TEXT, experiment_id INTEGER);
        CREATE TABLE metrics(key TEXT, value FLOAT, timestamp BIGINT, run_uuid TEXT, step BIGINT, is_nan BOOLEAN);
        CREATE INDEX index_metrics_run_uuid ON metrics(run_uuid);
        CREATE TABLE params(key TEXT, value TEXT, run_uuid TEXT);
        CREATE TABLE tags(key TEXT, value TEXT, run_uuid TEXT);
        INSERT INTO experiments VALUES(1, 'many', '', 'active');""")
    ids = ["%032x" % number for number in range(1, runs + 1)]
    database.executemany("INSERT INTO runs VALUES(?, 'r', 'u', 'FINISHED', ?, 9, 'active', '', 1)",
                         [(each, at) for at, each in enumerate(ids)])
    database.executemany("INSERT INTO metrics VALUES('loss', ?, ?, ?, ?, 0)",
                         [(at / 3, at, each, at) for each in ids for at in range(points)])
    database.commit()
    database.close()


def test_an_export_that_an_editor_gave_a_byte_order_mark(other, lines):
    marked = lines.parent / "marked.jsonl"
    marked.write_bytes(b"\xef\xbb\xbf" + lines.read_bytes())
    report = other.json("history", "import", "--dry-run", marked)
    assert report["runs"]["found"] == 2 and report["problem_count"] == 0


def test_an_export_is_the_same_after_an_import_elsewhere(ponk, other, lines):
    report = other.json("history", "import", lines)
    assert report["runs"] == {"found": 2, "added": 2, "same": 0, "refused": 0} and report["problem_count"] == 0
    theirs, ours = runs_in(lines.read_text()), runs_in(other.text("history", "export", "-A"))
    for run in theirs:  # objects stay in their store
        run["run"]["snapshot"] = run["run"]["outputs"] = None
    assert ours == theirs
    assert ours[0]["metrics"]["words"]["points"][0][2:] == ["NaN", "text"]
    assert [point[3] for point in ours[0]["metrics"]["list"]["points"]] == ["list"] * 3
    # Here and there: nothing is added by doing it again.
    for each in (ponk, other):
        again = each.json("history", "import", lines)
        assert again["runs"]["same"] == 2 and again["runs"]["added"] == 0, again
    assert other.json("history", "info", ours[0]["run"]["run_id"])["loss"] == ours[0]["metrics"]["loss"]["latest"]
    assert b"2 already present" in other.run("history", "import", "-o", "table", lines).stdout


def test_what_stayed_elsewhere_is_said_and_no_damage(ponk, other, lines):
    other.run("history", "import", lines)
    run = other.json("history", "list", "-A")[0]
    said = other.run("logs", run["run_id"])
    assert said.stdout == b"" and f"its log is on machine '{run['host']}'".encode() in said.stderr
    for words in (("experiment", "rerun"), ("project", "restore", "-d", ponk.home / "back", "-r"), ("experiment", "return")):
        refused = other.run(*words, run["run_id"], code=66).stderr
        assert b"was imported without its snapshot" in refused, (words, refused)
    assert other.json("history", "info", run["run_id"])["imported_utc"] is not None
    assert other.json("history", "info", run["run_id"])["warnings"] == run["warnings"]


def test_nothing_that_an_imported_record_says_is_executed_or_written(ponk, tmp_path):
    ponk.write("x.py", "import os; os.makedirs('outputs', exist_ok=True); open('outputs/m', 'w').write('1')\n")
    ponk.run("submit", "x.py")
    lines = tmp_path / "lines.jsonl"
    ponk.run("history", "export", "-A", "-d", lines)
    records = [json.loads(line) for line in lines.read_text().splitlines()]
    forged = []
    for run in (record["run"] for record in records if "run" in record):
        run["run_id"] = run["run_id"][:-4] + "ffff"
        run["project_path"] = str(tmp_path / "elsewhere")
        run["configuration"]["program"]["command"] = ["touch", str(tmp_path / "executed")]
        forged.append(run["run_id"])
    assert len(forged) == 1
    lines.write_text("".join(json.dumps(record) + "\n" for record in records))
    ponk.run("history", "import", lines)
    refused = ponk.run("experiment", "rerun", forged[0], code=None)
    assert refused.returncode != 0 and b"was imported" in refused.stderr, refused.stderr
    assert not (tmp_path / "executed").exists() and not (tmp_path / "elsewhere").exists()


def test_a_run_of_a_client_cannot_be_imported_as_one_of_ours(ponk, lines, tmp_path):
    changed = tmp_path / "changed.jsonl"
    with changed.open("w") as out:
        for line in lines.read_text().splitlines():
            record = json.loads(line)
            if "run" in record:
                record["run"]["run_id"] = record["run"]["run_id"][:-4] + "eeee"
                record["run"]["origin"] = "client"
            out.write(json.dumps(record) + "\n")
    done = ponk.run("history", "import", changed, code=65)
    assert b"target_type" in done.stderr


def test_other_content_is_refused_and_the_rest_comes(ponk, other, lines):
    other.run("history", "import", lines)
    changed = lines.with_name("changed.jsonl")
    text = lines.read_text().replace('"name":"two"', '"name":"new"')
    changed.write_text(text + '{"run":{}\n')
    done = other.run("history", "import", changed, code=65)
    number = text.count("\n") + 1
    assert b"already exists, as 'two'" in done.stderr
    assert f"changed.jsonl:{number}:10: not imported".encode() in done.stderr
    assert done.stderr.splitlines()[-1] == b"ponk: error: 2 things could not be imported"
    assert '"new"' not in other.text("history", "export", "-A")


def test_a_dry_run_writes_nothing(other, lines):
    done = other.run("history", "import", "--dry-run", "-o", "table", lines)
    assert done.stdout.startswith(b"would import: ")
    assert runs_in(other.text("history", "export", "-A")) == []


def test_an_import_that_was_killed_goes_on_with_the_rest(other, tmp_path):
    database = tmp_path / "mlflow.db"
    make_database(database, 400, 50)
    other.run("daemon", "status", code=None)
    other.json("project", "list")  # the daemon is there
    command = subprocess.Popen([other.program, "history", "import", database], env=other.environment, cwd=other.project,
                               stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)
    deadline = time.monotonic() + 60
    while time.monotonic() < deadline and command.poll() is None:
        if runs_in(other.text("history", "export", "-A", "--filter", "attributes.run_name = 'r'"))[:1]:
            break
    os.kill(other.json("daemon", "status")["pid"], signal.SIGKILL)
    command.wait(60)
    report = other.json("history", "import", database)
    assert report["problem_count"] == 0
    assert report["runs"]["added"] + report["runs"]["same"] == 400
    assert other.json("history", "import", database)["runs"]["same"] == 400
    found = other.json("history", "list", "-A", "--limit", "1000")
    assert len(found) == 400 and {run["loss"] for run in found} == {49 / 3}


def test_what_is_nothing_is_told_so(other, tmp_path):
    garbage = random.Random(7).randbytes(5000)
    for begin in (b"", b"{", b" \n{"):
        (tmp_path / "garbage").write_bytes(begin + garbage)
        refused = other.run("history", "import", tmp_path / "garbage", code=65)
        assert b"cannot import" in refused.stderr
    assert b"absent" in other.run("history", "import", tmp_path / "absent", code=66).stderr
    assert b"NAME=OTHER" in other.run("history", "import", "--experiment", "x", tmp_path, code=64).stderr


def test_the_sync_mode_is_chosen_and_told(ponk):
    assert ponk.json("project", "list") is not None
    assert ponk.json("daemon", "status")["sync"] == "full"
    ponk.run("daemon", "stop")
    assert ponk.json("project", "list", env={"PONK_SYNC": "normal"}) is not None
    assert ponk.json("daemon", "status")["sync"] == "normal"
    assert b"normal" in ponk.run("daemon", "status", "-o", "table").stdout
    ponk.run("daemon", "stop")
    refused = ponk.run("project", "list", env={"PONK_SYNC": "often"}, code=None)
    assert refused.returncode != 0 and b"PONK_SYNC is 'often'" in refused.stderr
    assert b"not one of full, normal" in ponk.run("daemon", "run", "--sync", "often", code=64).stderr
