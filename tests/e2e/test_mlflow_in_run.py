# SPDX-License-Identifier: Apache-2.0
"""MLflow's API inside a run: no set-up, no daemon needed, nothing lost when anything of it is killed."""
import json
import os
import signal
import time

from mlflow_script import CLIENT, go_on_without_daemon


def submit(ponk, body, *words):
    ponk.write("log.py", CLIENT + body)
    return ponk.json("submit", "--async", "log.py", *words)["run_id"]


def ended(ponk, run, seconds=60):
    end = time.monotonic() + seconds
    while True:
        record = ponk.json("history", "info", "--run", run)
        if record["end_time_utc"]:
            return record
        assert time.monotonic() < end, record
        time.sleep(0.05)


def completed(ponk, run):
    record = ended(ponk, run)
    assert (record["status"], record["exit_code"]) == ("Completed", 0), ponk.run("logs", "--run", run, code=None).stdout[-2000:]
    return record


def points(ponk, run, key):
    """Steps and values, as history has them."""
    record = json.loads(ponk.text("history", "export", run))
    return [(point[0], point[2]) for point in record["metrics"][key]["points"]]


def test_what_a_script_logs_is_in_history(ponk):
    run = submit(ponk, """
client.metric("loss", 0.5, 1)
client.metric("loss", 0.25, 2)
client.metric("bad", "NaN")
assert client.post("runs/log-parameter", run_id=RUN, key="lr", value="0.1")[0] == 200
assert client.post("runs/log-parameter", run_id=RUN, key="lr", value="0.2")[0] == 400
assert client.post("runs/log-batch", run_id=RUN, metrics=[{"key": "acc", "value": 0.9, "timestamp": 5, "step": 3}],
                   params=[{"key": "depth", "value": "3"}], tags=[{"key": "team", "value": "x"}])[0] == 200
data = client.get("runs/get?run_id=" + RUN)["run"]["data"]
assert {m["key"]: m["value"] for m in data["metrics"]} == {"loss": 0.25, "bad": "NaN", "acc": 0.9}, data
history = client.get("metrics/get-history?metric_key=loss&run_id=" + RUN)["metrics"]
assert [m["step"] for m in history] == [1, 2]
""")
    record = completed(ponk, run)

    assert record["metrics"]["loss"] == 0.25 and record["metrics"]["acc"] == 0.9
    assert record["params"] == {"lr": "0.1", "depth": "3"}
    assert record["tags"]["team"] == "x"


def test_artifacts_are_the_runs_outputs(ponk, tmp_path):
    run = submit(ponk, """
assert client.put("model/weights.bin", bytes(range(256)) * 40000)[0] == 200
assert client.put("empty", b"")[0] == 200
listed = client.get("artifacts/list?run_id=" + RUN)["files"]
assert sorted(f["path"] for f in listed) == ["empty", "model"], listed
""")
    completed(ponk, run)
    ponk.run("history", "download", "--run", run, "-d", tmp_path / "got")

    found = list((tmp_path / "got").rglob("weights.bin"))
    assert len(found) == 1 and found[0].read_bytes() == bytes(range(256)) * 40000


def test_who_does_not_ask_pays_nothing(ponk):
    ponk.write("plain.py", "import os\nprint(os.environ['MLFLOW_TRACKING_URI'])\n")
    run = ponk.json("submit", "--async", "plain.py")["run_id"]
    completed(ponk, run)

    assert list((ponk.task(run) / "journal").iterdir()) == []
    assert ponk.text("logs", "--run", run).startswith("http://127.0.0.1:")


def test_without_the_runs_token_nothing_is_told(ponk):
    run = submit(ponk, """
stranger = Client(token="guess")
assert stranger.post("runs/set-tag", run_id=RUN, key="a", value="b")[0] == 401
assert stranger.ask("GET", "/health") == (200, b"OK")
""")
    assert "a" not in completed(ponk, run)["tags"]


def test_a_relay_that_is_killed_loses_and_doubles_nothing(ponk):
    run = submit(ponk, """
import signal
for step in range(60):
    client.metric("loss", step, step)
    if step % 20 == 10:
        for pid in relays():
            os.kill(pid, signal.SIGKILL)
""")
    record = completed(ponk, run)

    assert record["metrics"]["loss"] == 59
    assert len(list((ponk.task(run) / "journal").glob("relay-*"))) == 4
    assert points(ponk, run, "loss") == [(step, step) for step in range(60)]


def test_the_daemon_is_not_needed(ponk):
    run = submit(ponk, """
client.metric("loss", 0, 0)
while not os.path.exists("go"):
    time.sleep(0.05)
for step in range(1, 50):
    client.metric("loss", step, step)
assert client.put("a.txt", b"a")[0] == 200
open("done", "w").close()
""")
    go_on_without_daemon(ponk, run, 60)
    record = completed(ponk, run)

    assert record["metrics"]["loss"] == 49
    assert points(ponk, run, "loss") == [(step, step) for step in range(50)]


def test_two_processes_of_a_run_log_at_once(ponk):
    run = submit(ponk, """
child = os.fork()
key = "parent" if child else "child"
client.connection = None
for step in range(100):
    client.metric(key, step, step)
if not child:
    os._exit(0)
assert os.waitpid(child, 0)[1] == 0
assert len(relays()) == 1
""")
    completed(ponk, run)

    for key in ("parent", "child"):
        assert points(ponk, run, key) == [(step, step) for step in range(100)]


def test_the_relay_ends_with_its_run_and_is_no_survivor(ponk):
    run = submit(ponk, "client.metric('a', 1)\nprint(relays()[0])\n")
    completed(ponk, run)
    pid = int(ponk.text("logs", "--run", run).split()[0])

    assert not os.path.exists(f"/proc/{pid}")
    assert b"\nsurvivors 0\n" in (ponk.task(run) / "exit").read_bytes()


def test_a_supervisor_that_is_killed_takes_nothing_along(ponk):
    run = submit(ponk, """
import signal
client.metric("a", 1, 1)
os.kill(os.getppid(), signal.SIGKILL)
time.sleep(0.3)
client.metric("a", 2, 2)
for pid in relays():
    os.kill(pid, signal.SIGKILL)
client.metric("a", 3, 3)
""")
    completed(ponk, run)

    assert points(ponk, run, "a") == [(1, 1), (2, 2), (3, 3)]


def test_a_configuration_may_name_another_server(ponk):
    ponk.write("aml_config/other.runconfig",
               "Target: local\nFramework: Python\nEnvironmentVariables:\n  MLFLOW_TRACKING_URI: http://elsewhere\n")
    ponk.write("x.py", "import os\nprint(os.environ['MLFLOW_TRACKING_URI'], 'MLFLOW_RUN_ID' in os.environ)\n")
    done = ponk.run("submit", "-c", "other", "x.py", env={"MLFLOW_RUN_ID": ""})

    assert done.stdout.startswith(b"http://elsewhere")


def test_what_only_the_daemon_knows_is_asked_behind_what_was_logged(ponk):
    run = submit(ponk, """
EXPERIMENT = os.environ["MLFLOW_EXPERIMENT_ID"]
for step in range(5):
    client.metric("loss", step, step)
    status, body = client.post("runs/search", experiment_ids=[EXPERIMENT], filter="metrics.loss = %d" % step)
    assert status == 200 and RUN in body.decode(), (status, body)
status, body = client.post("logged-models", experiment_id=EXPERIMENT, name="net", source_run_id=RUN)
model = json.loads(body)["model"]["info"]["model_id"]
assert client.post("runs/log-metric", run_id=RUN, key="acc", value=1, timestamp=1, model_id=model)[0] == 200
assert client.post("registered-models/create", name="R")[0] == 200
status, body = client.post("model-versions/create", name="R", source="models:/" + model, model_id=model)
assert status == 200 and json.loads(body)["model_version"]["run_id"] == RUN, (status, body)
assert client.post("runs/log-inputs", run_id=RUN, datasets=[
    {"dataset": {"name": "iris", "digest": "d", "source_type": "local", "source": "x"}}])[0] == 200
status, body = client.post("runs/search", experiment_ids=[EXPERIMENT], filter="dataset.name = 'iris'")
assert status == 200 and RUN in body.decode(), (status, body)
for call, fields in (("registered-models/rename", {"name": "R", "new_name": "S"}), ("runs/delete", {"run_id": RUN}),
                     ("experiments/delete", {"experiment_id": EXPERIMENT}), ("experiments/create-x", {})):
    assert client.post(call, **fields)[0] in (403, 404), call
assert client.ask("GET", "/api/v1/tokens")[0] == 403
""")
    completed(ponk, run)

    assert list((ponk.task(run) / "answers").iterdir()) == []


def test_a_question_that_nobody_hears_is_never_carried_out(ponk):
    run = submit(ponk, """
assert client.post("runs/search", experiment_ids=["0"])[0] == 200
open("ready", "w").close()
while not os.path.exists("go"):
    time.sleep(0.05)
began = time.monotonic()
status, body = client.post("registered-models/create", name="Ghost")
assert status == 501 and b"ponk daemon" in body, (status, body)
assert client.post("registered-models/create", name="Ghost")[0] == 501
assert time.monotonic() - began < 30
client.metric("loss", 1)
open("asked", "w").close()
while not os.path.exists("back"):
    time.sleep(0.05)
for attempt in range(20):
    if client.ask("GET", "/api/2.0/mlflow/registered-models/get?name=Ghost")[0] == 404:
        break
else:
    sys.exit("nobody answers any more, or there is a ghost")
""")
    work = ponk.home / "runs" / run / "work"

    def wait_for(name):
        end = time.monotonic() + 60
        while not (work / name).exists():
            assert time.monotonic() < end, ponk.text("logs", "--run", run, code=None)
            time.sleep(0.05)

    wait_for("ready")
    os.kill(ponk.json("daemon", "status")["pid"], signal.SIGKILL)
    (work / "go").touch()
    wait_for("asked")
    ponk.run("history", "list")
    (work / "back").touch()

    assert completed(ponk, run)["metrics"]["loss"] == 1


def test_files_of_another_run_come_in_pieces(ponk):
    first = submit(ponk, 'assert client.put("big.bin", bytes(range(251)) * 40000)[0] == 200\nassert client.put("empty", b"")[0] == 200\n')
    completed(ponk, first)
    second = submit(ponk, f"""
place = "/api/2.0/mlflow-artifacts/artifacts/" + os.environ["MLFLOW_EXPERIMENT_ID"] + "/{first}/artifacts/"
status, body = client.ask("GET", place + "big.bin")
assert status == 200 and body == bytes(range(251)) * 40000, (status, len(body))
assert client.ask("GET", place + "empty") == (200, b"")
assert client.ask("GET", place + "none")[0] == 404
assert client.ask("PUT", place + "new", b"x")[0] == 403
""")
    completed(ponk, second)
