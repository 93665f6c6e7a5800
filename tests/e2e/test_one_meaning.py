# SPDX-License-Identifier: Apache-2.0
"""A call of MLflow's API means the same to the daemon and to the relay of a run: status, code, words, and what a
run shows afterwards."""
import json

import pytest

from mlflow_script import CLIENT
from tracking import API, Tracking

LONG = "x" * 7000
POINT = {"key": "m", "value": 1, "timestamp": 5}


def metric(**fields):
    return "runs/log-metric", {"run_id": "RUN", **POINT, **fields}


def batch(**fields):
    return "runs/log-batch", {"run_id": "RUN", **fields}


# In this order, all about one run of each side.
CALLS = [
    metric(), metric(step=3), metric(step="4"), metric(step=5.0), metric(step=1.5), metric(step="x"), metric(step=True),
    metric(step=2 ** 63 - 1), metric(step=2 ** 63), metric(value="0.5"), metric(value="NaN"), metric(value="Infinity"),
    metric(value="much"), metric(value=None), metric(value=[1]), metric(timestamp=-1), metric(timestamp=None),
    metric(timestamp="soon"), metric(timestamp=0), metric(key=""), metric(key=None), metric(key="a/b c.d-e:f_g"), metric(key="../x"),
    metric(key="a//b"), metric(key="a\tb"), metric(key="é"), metric(key="k" * 250), metric(key="k" * 251), metric(key=7),
    metric(dataset_name="d"), metric(dataset_name="d", dataset_digest="1"), metric(dataset_name="d" * 600, dataset_digest="1"),
    metric(model_id="m" * 300), metric(unknown={"a": 1}),
    ("runs/log-parameter", {"run_id": "RUN", "key": "lr", "value": "0.1"}),
    ("runs/log-parameter", {"run_id": "RUN", "key": "lr", "value": "0.1"}),
    ("runs/log-parameter", {"run_id": "RUN", "key": "lr", "value": "0.2"}),
    ("runs/log-parameter", {"run_id": "RUN", "key": "long", "value": LONG}),
    ("runs/log-parameter", {"run_id": "RUN", "key": "empty"}),
    ("runs/log-parameter", {"run_id": "RUN", "key": "number", "value": 5}),
    ("runs/log-parameter", {"run_id": "RUN", "key": "list", "value": [5]}),
    ("runs/log-parameter", {"run_id": "RUN", "value": "x"}),
    ("runs/log-parameter", {"run_id": "RUN", "key": "a" * 251, "value": "x"}),
    ("runs/log-parameter", {"key": "a", "value": "x"}),
    ("runs/set-tag", {"run_id": "RUN", "key": "team", "value": "x"}),
    ("runs/set-tag", {"run_id": "RUN", "key": "team", "value": "y"}),
    ("runs/set-tag", {"run_id": "RUN", "key": "none"}),
    ("runs/set-tag", {"run_id": "RUN", "key": "long", "value": LONG}),
    ("runs/set-tag", {"run_id": "RUN", "key": "a\nb", "value": "x"}),
    ("runs/delete-tag", {"run_id": "RUN", "key": "team"}),
    ("runs/delete-tag", {"run_id": "RUN", "key": "team"}),
    ("runs/delete-tag", {"run_id": "RUN"}),
    batch(), batch(metrics=[POINT, {**POINT, "step": 9}], params=[{"key": "p", "value": "1"}], tags=[{"key": "t", "value": "1"}]),
    batch(metrics=[{**POINT, "key": "n"}, {"key": "n", "value": "x", "timestamp": 1}]), batch(metrics=[{"value": 1, "timestamp": 1}]),
    batch(metrics=POINT), batch(metrics=[5]), batch(metrics="x"), batch(metrics=None),
    batch(params=[{"key": "q", "value": "1"}, {"key": "q", "value": "1"}]), batch(params=[{"key": "q", "value": "1"}, {"key": "q", "value": "2"}]),
    batch(params=[{"key": "lr", "value": "9"}]), batch(params=[{"key": "r%d" % at, "value": ""} for at in range(101)]),
    batch(tags=[{"key": "s", "value": "1"}, {"key": "s", "value": "2"}]), batch(tags=[{"key": "u%d" % at, "value": ""} for at in range(101)]),
    batch(metrics=[{**POINT, "step": at} for at in range(1001)]),
    batch(metrics=[{**POINT, "step": at} for at in range(950)], params=[{"key": "v%d" % at, "value": ""} for at in range(60)]),
]

SCRIPT = CLIENT + """
for call, fields in json.load(open("calls.json")):
    if fields.get("run_id") == "RUN":
        fields["run_id"] = RUN
    status, body = client.post(call, **fields)
    print(json.dumps([status, json.loads(body)]), flush=True)
print(json.dumps(client.get("runs/get?run_id=" + RUN)))
print(json.dumps(client.get("metrics/get-history?metric_key=m&run_id=" + RUN)))
"""


def without(text, run):
    return json.loads(json.dumps(text).replace(run, "RUN"))


def shown(run):
    """Of a run what calls can change, in an order of its own."""
    data = run["run"]["data"]
    own = ("mlflow.", "ponk.")
    tags = [tag for tag in data.get("tags", []) if not tag["key"].startswith(own)]
    return [sorted(part, key=str) for part in (data["metrics"], data["params"], tags)]


@pytest.fixture(scope="module")
def answers(tmp_path_factory, program):
    from workbench import Ponk
    ponk = Ponk(program, tmp_path_factory.mktemp("h"))
    server = Tracking(ponk)

    ponk.write("calls.json", json.dumps(CALLS))
    ponk.write("log.py", SCRIPT)
    ponk.run("submit", "log.py")
    run = ponk.json("history", "last")["run_id"]
    lines = [without(json.loads(line), run) for line in ponk.text("logs", "--run", run).splitlines()]

    theirs = []
    other = server.make_run()
    for call, fields in CALLS:
        fields = {**fields, **({"run_id": other} if fields.get("run_id") == "RUN" else {})}
        answer = server.request("POST", API + call, json.dumps(fields), {"Content-Type": "application/json"})
        theirs.append(without([answer.status, answer.json], other))
    theirs.append(without(server.ask("GET", "runs/get", {"run_id": other}), other))
    theirs.append(without(server.ask("GET", "metrics/get-history", {"run_id": other, "metric_key": "m"}), other))
    yield lines, theirs
    ponk.run("daemon", "stop")


def test_each_call_has_the_same_answer(answers):
    relay, daemon = answers
    differing = [(call, str(fields)[:200], ours, theirs)
                 for (call, fields), ours, theirs in zip(CALLS, relay, daemon) if ours != theirs]
    assert not differing, "\n".join(map(str, differing))


def test_the_run_shows_the_same_afterwards(answers):
    relay, daemon = answers
    assert shown(relay[-2]) == shown(daemon[-2])
    assert relay[-1]["metrics"] == daemon[-1]["metrics"]
