# SPDX-License-Identifier: Apache-2.0
"""Runs that clients of the tracking API set aside, and runs that scripts make."""
import os
import signal

from tracking import Tracking

MAKER = """import json, os, urllib.request
def post(path, **fields):
    request = urllib.request.Request(os.environ["MLFLOW_TRACKING_URI"] + "/api/2.0/mlflow/" + path, json.dumps(fields).encode(), {
        "Content-Type": "application/json", "Authorization": "Bearer " + os.environ["MLFLOW_TRACKING_TOKEN"]})
    return json.load(urllib.request.urlopen(request))
post("runs/create", experiment_id=os.environ["MLFLOW_EXPERIMENT_ID"])  # the first one is the run itself
for name in "one", "two":
    run = post("runs/create", experiment_id=os.environ["MLFLOW_EXPERIMENT_ID"], run_name=name, start_time=5)["run"]["info"]["run_id"]
    post("runs/update", run_id=run, status="FINISHED", end_time=9)
"""


def submitted(ponk):
    ponk.write("train.py", "import ponk; ponk.log('a', 1)")
    ponk.run("submit", "train.py")
    return ponk.json("history", "list")[0]


def test_a_run_that_a_client_deleted_is_marked_and_comes_back(ponk):
    run = submitted(ponk)
    tracking = Tracking(ponk)
    tracking.ask("POST", "runs/delete", {"run_id": run["run_id"]})

    assert ponk.json("history", "list") == []
    assert "'--deleted' lists them" in ponk.run("history", "list", "-o", "table").stderr.decode()
    assert [one["run_id"] for one in ponk.json("history", "list", "--deleted")] == [run["run_id"]]
    assert "Completed (deleted)" in ponk.text("history", "list", "--hidden", "-o", "table")
    short = run["run_id"][-8:]
    assert "'ponk history restore %s' restores it" % short in ponk.text("history", "info", short, "-o", "table")

    assert ponk.json("history", "restore", short)["restored"] == [run["run_id"]]
    assert [one["run_id"] for one in ponk.json("history", "list")] == [run["run_id"]]
    assert "deleted_utc" not in ponk.json("history", "info", short)
    assert "was not deleted" in ponk.run("history", "restore", short).stderr.decode()
    tracking.ask("POST", "runs/set-tag", {"run_id": run["run_id"], "key": "a", "value": "b"})


def test_an_experiment_that_a_client_deleted_comes_back_with_a_run(ponk):
    run = submitted(ponk)
    tracking = Tracking(ponk)
    experiment = tracking.ask("GET", "runs/get", {"run_id": run["run_id"]})["run"]["info"]["experiment_id"]
    tracking.as_administrator().ask("POST", "experiments/delete", {"experiment_id": experiment})

    assert "'ponk history restore RUN' restores them" in ponk.run("history", "list", "-o", "table").stderr.decode()
    ponk.run("history", "restore", run["run_id"])
    found = tracking.ask("GET", "experiments/get", {"experiment_id": experiment})["experiment"]
    assert found["lifecycle_stage"] == "active"


def test_an_experiment_comes_back_by_name_also_without_runs(ponk):
    tracking = Tracking(ponk)
    tracking.ask("POST", "experiments/create", {"name": "empty one"})
    assert "was not deleted" in ponk.run("history", "restore", "--experiment", "empty one", code=73).stderr.decode()
    for name in "empty one", "Default":
        found = tracking.ask("GET", "experiments/get-by-name", {"experiment_name": name})["experiment"]
        tracking.ask("POST", "experiments/delete", {"experiment_id": found["experiment_id"]})
        assert ponk.json("history", "restore", "--experiment", name)["experiment"] == name
        found = tracking.ask("GET", "experiments/get-by-name", {"experiment_name": name})["experiment"]
        assert found["lifecycle_stage"] == "active"
    assert "'nobody'" in ponk.run("history", "restore", "--experiment", "nobody", code=66).stderr.decode()
    assert "not both" in ponk.run("history", "restore", "last", "--experiment", "Default", code=64).stderr.decode()


def test_a_run_that_a_script_left_running_ends_with_it(ponk):
    ponk.write("train.py", MAKER.replace('    post("runs/update"', '    continue; post("runs/update"') + "os._exit(3)\n")
    ponk.run("submit", "train.py", code=3)
    record = ponk.json("history", "info", "last")
    assert [one["status"] for one in record["child_runs"]] == ["Failed", "Failed"]
    for one in record["child_runs"]:
        assert ponk.json("history", "info", one["run_id"])["end_time_utc"] == record["end_time_utc"]


def test_runs_that_a_script_made_are_named(ponk):
    ponk.write("train.py", MAKER)
    said = ponk.run("submit", "train.py").stderr.decode()
    assert "child runs: " in said and "(one)" in said and "(two)" in said, said
    record = ponk.json("history", "info", "last")
    assert [one["name"] for one in record["child_runs"]] == ["two", "one"]
    assert {one["status"] for one in record["child_runs"]} == {"Completed"}
    assert " (two), " in ponk.text("history", "info", "last", "-o", "table")


def test_a_project_that_is_used_again_is_no_deleted_experiment(ponk):
    run = submitted(ponk)
    tracking = Tracking(ponk)
    experiment = tracking.ask("GET", "runs/get", {"run_id": run["run_id"]})["run"]["info"]["experiment_id"]
    tracking.as_administrator().ask("POST", "experiments/delete", {"experiment_id": experiment})
    ponk.run("submit", "train.py")
    found = tracking.ask("GET", "experiments/get", {"experiment_id": experiment})["experiment"]
    assert found["lifecycle_stage"] == "active"
    assert len(ponk.json("history", "list")) == 1 and len(ponk.json("history", "list", "--deleted")) == 1


def test_a_copy_of_history_is_made_while_it_is_in_use_and_brought_back(ponk, tmp_path):
    run = submitted(ponk)["run_id"]
    copy = tmp_path / "monday.db"
    assert ponk.json("history", "backup", copy)["size"] == copy.stat().st_size > 0
    assert copy.stat().st_mode & 0o077 == 0
    assert "already exists" in ponk.run("history", "backup", copy, code=73).stderr.decode()
    assert ponk.run("history", "backup", tmp_path / "none/x.db", code=None).returncode in (66, 69)
    ponk.run("history", "delete", run, "--yes")
    assert ponk.json("history", "list") == []

    ponk.run("daemon", "stop")
    (ponk.home / "history/history.db").write_bytes(copy.read_bytes())
    back = ponk.json("history", "list")
    assert [one["run_id"] for one in back] == [run] and back[0]["a"] == 1


def test_a_copy_is_brought_back_after_a_kill(ponk, tmp_path):
    run = submitted(ponk)
    copy = tmp_path / "copy.db"
    ponk.run("history", "backup", copy)
    tracking = Tracking(ponk)
    for number in range(60):
        made = tracking.ask("POST", "runs/create", {"experiment_id": "0", "run_name": f"later {number}"})["run"]["info"]["run_id"]
        tracking.ask("POST", "runs/log-parameter", {"run_id": made, "key": "long", "value": "x" * 5000})
    os.kill(ponk.json("daemon", "status")["pid"], signal.SIGKILL)
    ponk.run("daemon", "stop", code=None)
    database = ponk.home / "history/history.db"
    assert (ponk.home / "history/history.db-wal").stat().st_size > 0
    database.write_bytes(copy.read_bytes())

    assert [one["run_id"] for one in ponk.json("history", "list", "-A")] == [run["run_id"]]
    assert [path.name for path in database.parent.glob("*damaged*")] == []
    refused = ponk.run("history", "import", copy, code=65).stderr.decode()
    assert "is a history database of ponk" in refused and "then replace history/history.db" in refused
