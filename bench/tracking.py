# SPDX-License-Identifier: Apache-2.0
"""Tracking: ponk beside `mlflow server`, at its defaults and at the number of workers that does best here.

Both are durable before they answer (SQLite's FULL; MLflow with a rollback journal, ponk with a
write-ahead log and commits that requests share). The load comes from ponk_load_tool, on one server after
the other, several times; while it is measured, what each server has afterwards is compared with what it has acknowledged.
"""
import contextlib
import json
import os
import signal
import statistics
import subprocess
import time

import load_values
import tracking_servers
from bench_place import Times
from mlflow_environment import mlflow_environment

CLIENTS = 8
TURNS = 3
SEARCH = {"filter": "metrics.accuracy > 0.9 AND params.lr = '0.3'", "order_by": ["metrics.loss ASC"], "max_results": 100}


class Different(Exception):
    pass


def load(place, server, what, amount, names):
    tool = os.path.join(os.path.dirname(place.ponk), "bench", "ponk_load_tool")
    if not os.path.exists(tool):
        tool = os.path.join(os.path.dirname(place.ponk), "ponk_load_tool")
    done = subprocess.run([tool, what, str(server.port), server.token, str(amount), *names], stdin=subprocess.DEVNULL,
                          stdout=subprocess.PIPE, stderr=subprocess.PIPE, timeout=7200)
    if done.returncode != 0:
        raise Different("%s: %s" % (server.name, done.stderr.decode(errors="replace")[-400:]))
    return json.loads(done.stdout)


def compare_points(server, run, expected):
    for key, points in expected.items():
        found = server.points(run, key)
        if len(found) != len(points) or set(found) != points:
            raise Different("%s: run %s has %d points of '%s', %d were acknowledged"
                            % (server.name, run, len(found), key, len(points)))


def writes(place, server, what, expected_of):
    """Calls a second, p50 and p99 of 8 clients; every acknowledged point of two of them is looked for."""
    experiment = server.make_experiment("%s %d" % (what, time.monotonic_ns()))
    runs = server.make_runs(experiment, CLIENTS)
    result = load(place, server, what, place.options.seconds, runs)
    for client in (0, CLIENTS - 1):
        compare_points(server, runs[client], expected_of(client, result["each"][client]))
    result["rate"] = result["calls"] / result["seconds"]
    return result


@contextlib.contextmanager
def standing_still(servers):
    """Nobody pays for what another one does when nobody asks it anything."""
    pids = [pid for server in servers for pid in server.pids()]
    for pid in pids:
        os.kill(pid, signal.SIGSTOP)
    try:
        yield
    finally:
        for pid in pids:
            os.kill(pid, signal.SIGCONT)


def writes_in_turn(place, report, what, expected_of, ours, others):
    turns = {server: [] for server in (ours, *others)}
    for _ in range(TURNS):
        for server in turns:
            with standing_still([other for other in turns if other is not server]):
                turns[server].append(writes(place, server, what, expected_of))

    def shown(server):
        rates = sorted((turn["rate"] for turn in turns[server]), reverse=True)
        best = max(turns[server], key=lambda turn: turn["rate"])
        return "%.*f / %.*f a second, p50 %.2f, p99 %.2f ms" % (
            rates[0] < 100, rates[0], rates[0] < 100, statistics.median(rates), best["p50_ms"], best["p99_ms"])

    for server in others:
        mine, other = (Times(1 / turn["rate"] for turn in turns[one]) for one in (ours, server))
        best, median = other.best / mine.best, other.median / mine.median
        report.add("%s, %d clients: %s" % (what, CLIENTS, server.name), shown(ours), shown(server),
                   "%.0fx / %.0fx" % (best, median), "at least 200x", report.verdict(best >= 200, median >= 200))


def numbers_of(answer):
    """Which runs an answer has, in its order."""
    return [next(tag["value"] for tag in run["data"]["tags"] if tag["key"] == "number") for run in answer.get("runs", [])]


def timed(server, turns, method, path, fields):
    connection = server.open()
    times = []
    for _ in range(turns):
        began = time.perf_counter()
        answer = server.ask(method, path, fields, connection)
        times.append(time.perf_counter() - began)
    connection.close()
    return Times(times), answer


def search(place, report, ours, theirs):
    count = place.options.runs
    made = load(place, ours, "runs", count, [ours.make_experiment("search")])
    report.fact("%d runs with metrics, parameters, tags made over HTTP" % count, "%.1f s" % made["seconds"],
                "%.0f runs/s" % (count / made["seconds"]))
    experiment = ours.ask("GET", "experiments/get-by-name", {"experiment_name": "search"})["experiment"]["experiment_id"]
    fast, mine = timed(ours, 15, "POST", "runs/search", dict(SEARCH, experiment_ids=[experiment]))
    experiment = theirs.make_experiment("search")
    theirs.add_runs(experiment, count)
    slow, other = timed(theirs, 3, "POST", "runs/search", dict(SEARCH, experiment_ids=[experiment]))
    if numbers_of(mine) != numbers_of(other) or not numbers_of(mine):
        raise Different("the two servers find different runs")
    report.faster("search of %d runs, metric filter and sort" % count, fast, slow, 100)


def chart(place, report, ours, theirs):
    count, pixels = place.options.series, 1000
    answers, times = [], []
    for server in (ours, theirs):
        run = server.make_runs(server.make_experiment("chart"), 1)[0]
        if server is ours:
            load(place, server, "series", count, [run])
        else:
            server.add_series(run, count)
        taken, answer = timed(server, 15 if server is ours else 3, "GET", "metrics/get-history-bulk-interval",
                              {"run_ids": [run], "metric_key": "loss", "max_results": pixels})
        times.append(taken)
        answers.append([(m["step"], m["timestamp"], m["value"]) for m in answer["metrics"]])
    if answers[0] != answers[1]:
        raise Different("the two servers draw different points: %d and %d, first at %s" % (
            len(answers[0]), len(answers[1]), next(((a, b) for a, b in zip(*answers) if a != b), "the end")))
    report.faster("history of %d points drawn at %d pixels" % (count, pixels), times[0], times[1], 100)


def tracking(place, report):
    try:
        environment = mlflow_environment()
    except (subprocess.SubprocessError, OSError) as problem:
        report.skip("tracking", "mlflow cannot be installed (%s)" % type(problem).__name__)
        return
    ours = tracking_servers.Ponk(place)
    servers = []
    try:
        for workers in (None, 1, 2):
            servers.append(tracking_servers.Mlflow(environment, os.path.join(place.folder, "mlflow-%s" % workers), workers))
            if workers is not None:
                servers[-1].metric = writes(place, servers[-1], "log-metric", load_values.metric_points)
        best = max(servers[1:], key=lambda server: server.metric["rate"])
        for server in servers[1:]:
            if server is not best:
                server.close()
        for what, expected_of in (("log-metric", load_values.metric_points), ("log-batch", load_values.batch_points)):
            writes_in_turn(place, report, what, expected_of, ours, (servers[0], best))
        # Searches and charts have one client, so the number of workers plays no part.
        search(place, report, ours, servers[0])
        chart(place, report, ours, servers[0])
        for server in (servers[0], best):
            mine, other = (tracking_servers.resident(one.pids()) for one in (ours, server))
            report.add("resident memory after all this: %s" % server.name, "%.1f MB" % (mine / 1e6), "%.1f MB" % (other / 1e6),
                       "1/%.1f" % (other / mine), "at most 1/20", report.verdict(other >= 20 * mine, other >= 20 * mine))
    finally:
        for server in servers:
            server.close()
        ours.close()
