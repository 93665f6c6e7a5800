# SPDX-License-Identifier: Apache-2.0
"""Requests that nobody should send: each gets a clear refusal, and the server goes on as before."""
import json
import math
import os
import socket
import threading
import time
import zlib

import pytest

from tracking import API, Tracking, receive_answer
from workbench import Ponk

MAXIMUM = 2 ** 63 - 1


@pytest.fixture(scope="module")
def server(program, tmp_path_factory):
    ours = Ponk(program, tmp_path_factory.mktemp("h"))
    tracking = Tracking(ours)
    pid = tracking.pid
    yield tracking
    assert tracking.pid == pid, "a request has ended the daemon"
    ours.run("daemon", "stop")


@pytest.fixture
def run(server):
    return server.make_run()


def refused(answer, status=400, code="INVALID_PARAMETER_VALUE"):
    assert (answer.status, answer.code) == (status, code), answer.body[:500]
    assert answer.json["message"]
    return answer.json["message"]


def metric(run, **fields):
    return {"run_id": run, "key": "m", "value": 1, "timestamp": 1, **fields}


# Numbers -------------------------------------------------------------------------------------


@pytest.mark.parametrize("step", [0, -1, MAXIMUM, -2 ** 63, str(MAXIMUM), "5", 5.0])
def test_steps_are_kept_to_the_last_bit(server, run, step):
    server.ask("POST", "runs/log-metric", metric(run, step=step))
    history = server.ask("GET", "metrics/get-history", {"run_id": run, "metric_key": "m"})["metrics"]
    assert [point["step"] for point in history] == [int(step)]


@pytest.mark.parametrize("step", [MAXIMUM + 1, -2 ** 63 - 1, 1.5, "x", "", [], {}, True, 1e300])
def test_steps_that_are_none_are_refused(server, run, step):
    assert "step" in refused(server.call("POST", "runs/log-metric", metric(run, step=step)))
    assert "metrics" not in server.ask("GET", "runs/get", {"run_id": run})["run"]["data"]


@pytest.mark.parametrize("time_given", [-1, MAXIMUM + 1, None, "soon", 0.5])
def test_times_that_are_none_are_refused(server, run, time_given):
    refused(server.call("POST", "runs/log-metric", metric(run, timestamp=time_given)))


@pytest.mark.parametrize("sent, stored", [
    (1, 1), ("2.5", 2.5), ("NaN", "NaN"), ("nan", "NaN"), (5e-324, 5e-324), (1.7976931348623157e308, 1.7976931348623157e308),
    ("Infinity", 1.7976931348623157e308), ("-Infinity", -1.7976931348623157e308), ("inf", 1.7976931348623157e308),
    (0.1, 0.1), (2 ** 53 + 1, float(2 ** 53 + 1))])
def test_values_come_back(server, run, sent, stored):
    server.ask("POST", "runs/log-metric", metric(run, value=sent))
    latest = server.ask("GET", "runs/get", {"run_id": run})["run"]["data"]["metrics"][0]["value"]
    assert latest == stored
    history = server.ask("GET", "metrics/get-history", {"run_id": run, "metric_key": "m"})["metrics"]
    assert [point["value"] for point in history] == [stored]


@pytest.mark.parametrize("value", [None, "x", "", [], {}, True, "0x10", "1e"])
def test_values_that_are_none_are_refused(server, run, value):
    refused(server.call("POST", "runs/log-metric", metric(run, value=value)))


def test_odd_numbers_without_quotes_are_read_as_python_writes_them(server, run):
    for step, value in enumerate((math.nan, math.inf, -math.inf)):
        server.ask("POST", "runs/log-metric", metric(run, value=value, step=step))
    history = server.ask("GET", "metrics/get-history", {"run_id": run, "metric_key": "m"})["metrics"]
    assert [point["value"] for point in history] == ["NaN", 1.7976931348623157e308, -1.7976931348623157e308]
    body = json.dumps(metric(run)).replace('"value": 1', '"value": -NaN')
    refused(server.request("POST", API + "runs/log-metric", body, {"Content-Type": "application/json"}))


# Sizes ---------------------------------------------------------------------------------------


def test_too_many_metrics_are_refused_and_none_is_stored(server, run):
    many = [metric(run, step=step) for step in range(1001)]
    assert "at most 1000 metrics" in refused(server.call("POST", "runs/log-batch", {"run_id": run, "metrics": many}))
    assert "metrics" not in server.ask("GET", "runs/get", {"run_id": run})["run"]["data"]


def test_a_million_metrics_are_refused(server, run):
    body = ('{"run_id": "%s", "metrics": [' % run) + ",".join(['{"key":"m","value":1,"timestamp":1}'] * 1000001) + "]}"
    answer = server.request("POST", API + "runs/log-batch", body, {"Content-Type": "application/json"})
    assert answer.status in (400, 413), answer.body[:300]
    assert answer.json["message"]
    server.ask("POST", "runs/log-metric", metric(run))


@pytest.mark.parametrize("key", ["", "a/../b", "./a", "a//b", "/a", "..", ".", "a\nb", "a\0b", "a;b", "a'b", "k" * 251, "a\\b", "{}"])
def test_keys_that_may_not_be_are_refused(server, run, key):
    for path, fields in (("runs/log-metric", metric(run, key=key)), ("runs/log-parameter", {"run_id": run, "key": key, "value": "v"}),
                         ("runs/set-tag", {"run_id": run, "key": key, "value": "v"})):
        refused(server.call("POST", path, fields))


@pytest.mark.parametrize("key", ["a b", "a/b.c-d:e_f", "größe", "損失", "k" * 250, "' OR 1=1".replace("'", "").replace("=", "")])
def test_keys_that_may_be_come_back(server, run, key):
    server.ask("POST", "runs/log-metric", metric(run, key=key))
    server.ask("POST", "runs/log-parameter", {"run_id": run, "key": key, "value": ""})
    data = server.ask("GET", "runs/get", {"run_id": run})["run"]["data"]
    assert [m["key"] for m in data["metrics"]] == [key]
    assert data["params"] == [{"key": key, "value": ""}]


@pytest.mark.parametrize("depth", [100, 100000])
def test_deep_json_is_refused(server, depth):
    answer = server.request("POST", API + "runs/create", "[" * depth + "]" * depth, {"Content-Type": "application/json"})
    assert answer.status in (200, 400), answer.status


# Words ---------------------------------------------------------------------------------------

WORDS = ["'; DROP TABLE run; --", "\" OR \"\"=\"", "\u202e", "\U0001f600", "%s%n%x", "../../etc/passwd", "<script>alert(1)</script>",
         "a" * 8000, "\x00", "\x1b[2J"]


@pytest.mark.parametrize("word", WORDS)
def test_values_of_any_characters_come_back(server, run, word):
    server.ask("POST", "runs/set-tag", {"run_id": run, "key": "note", "value": word})
    tags = {tag["key"]: tag["value"] for tag in server.ask("GET", "runs/get", {"run_id": run})["run"]["data"]["tags"]}
    assert tags["note"] == word


@pytest.mark.parametrize("word", WORDS)
def test_filters_of_any_characters_are_answered(server, word):
    answer = server.call("POST", "runs/search", {"experiment_ids": ["0"], "filter": "params.p = '%s'" % word})
    assert answer.status in (200, 400), (answer.status, answer.body[:300])


@pytest.mark.parametrize("fields", [
    {"experiment_ids": ["x"]}, {"experiment_ids": ["0"], "max_results": 0}, {"experiment_ids": ["0"], "max_results": 50001},
    {"experiment_ids": ["0"], "order_by": ["metrics.a", "metrics.a"]}, {"experiment_ids": ["0"], "page_token": "nonsense"},
    {"experiment_ids": ["0"], "run_view_type": "SOME"}, {"experiment_ids": ["0"], "filter": "a OR b"},
    {"experiment_ids": ["0"], "filter": 7}, {"experiment_ids": {"a": 1}}])
def test_searches_that_are_none_are_refused(server, fields):
    refused(server.call("POST", "runs/search", fields))


@pytest.mark.parametrize("run_id", ["x", "../x", "0" * 32, "", "é", "a" * 300])
def test_runs_that_are_not_there_are_told(server, run_id):
    answer = server.call("GET", "runs/get", {"run_id": run_id})
    assert answer.status in (400, 404), answer.body[:300]
    assert answer.code in ("INVALID_PARAMETER_VALUE", "RESOURCE_DOES_NOT_EXIST")


def test_an_unknown_route_is_told_as_clients_understand_it(server):
    for path in ("/api/2.0/mlflow/no-such", "/ajax-api/3.0/mlflow/scorers/list", "/api/2.0/mlflow/runs/create/more"):
        refused(server.call("POST", path), 404, "ENDPOINT_NOT_FOUND")


@pytest.mark.parametrize("body", ["", "{", "[]", "null", "7", "\"\"", "{\"run_id\": 7}", "\xff\xfe"])
def test_bodies_that_are_none_are_refused(server, body):
    for path in ("runs/log-metric", "runs/log-batch", "runs/update", "runs/set-tag"):
        answer = server.request("POST", API + path, body.encode("latin-1"), {"Content-Type": "application/json"})
        refused(answer)


@pytest.mark.parametrize("body", ['{"experiment_id": "0", "start_time": nan}', '{"experiment_id": "0",}', '{"experiment_id"',
                                  '{"experiment_id": "0", "tags": [{"key": "a", "value": "\\ud800"}], }'])
def test_a_body_that_is_no_json_makes_no_run_somewhere_else(server, body):
    for path in ("runs/create", "runs/search"):
        answer = server.request("POST", API + path, body, {"Content-Type": "application/json"})
        assert "not JSON" in refused(answer)


def test_another_type_of_body_is_refused(server, run):
    answer = server.request("POST", API + "runs/log-metric", json.dumps(metric(run)), {"Content-Type": "text/plain"})
    refused(answer)


# Who may ask ---------------------------------------------------------------------------------


def test_without_a_token_nothing_is_told(server):
    for headers in ({"Authorization": ""}, {"Authorization": "Bearer x"}, {"Authorization": "Basic eDp5"}):
        answer = server.request("GET", API + "experiments/get?experiment_id=0", headers=headers)
        assert answer.status == 401, answer.body[:300]
        assert answer.code == "UNAUTHENTICATED"


def test_a_password_that_is_the_token_is_one(server):
    import base64
    word = base64.b64encode(("anyone:" + server.token).encode()).decode()
    assert server.request("GET", API + "experiments/get?experiment_id=0", headers={"Authorization": "Basic " + word}).status == 200


@pytest.mark.parametrize("host", ["evil.example", "evil.example:80", "localhost.evil.example", "127.0.0.1.evil.example", ""])
def test_other_names_of_this_machine_are_refused(server, host):
    answer = server.request("GET", API + "experiments/get?experiment_id=0", headers={"Host": host})
    assert answer.status in (400, 403), answer.status


def test_other_pages_may_not_write(server, run):
    answer = server.request("POST", API + "runs/log-metric", json.dumps(metric(run)),
                            {"Content-Type": "application/json", "Origin": "https://evil.example"})
    assert answer.status == 403, answer.body[:300]


def test_health_and_version_need_no_token(server):
    assert server.request("GET", "/health", headers={"Authorization": ""}).body == b"OK"
    assert server.request("GET", "/version", headers={"Authorization": ""}).status == 200


# Paths ---------------------------------------------------------------------------------------

PROBES = ["../../etc/passwd", "%2e%2e/%2e%2e/x", "..%2f..%2fx", "0/..%252f..%252fx", "/etc/passwd", "%2Fetc/passwd", "..%5c..%5cx",
          "%5c%5cshare", "C:/x", "a/./b", "a//b", "x%00y", "x%23y", "x;y/../../z", "....//....//etc/passwd"]


@pytest.mark.parametrize("probe", PROBES)
@pytest.mark.parametrize("method", ["GET", "PUT", "DELETE"])
def test_no_path_leads_out_of_the_artifacts(server, run, method, probe):
    for prefix in ("/api/2.0/mlflow-artifacts/artifacts/", "/api/2.0/mlflow-artifacts/artifacts/0/%s/artifacts/" % run):
        answer = server.request(method, prefix + probe, b"x" if method == "PUT" else None)
        assert answer.status < 500, (answer.status, answer.body[:300])
        assert b"root:" not in answer.body
    for folder in (server.ponk.home, server.ponk.home.parent):
        assert not (folder / "x").exists() and not (folder / "z").exists()


@pytest.mark.parametrize("probe", PROBES + ["file:///etc/passwd", "..\\..\\x"])
def test_no_query_leads_out_of_the_artifacts(server, run, probe):
    for path, fields in (("/api/2.0/mlflow-artifacts/artifacts", {"path": probe}),
                         ("artifacts/list", {"run_id": run, "path": probe}), ("/get-artifact", {"run_id": run, "path": probe})):
        answer = server.call("GET", path, fields)
        assert answer.status < 500, (path, answer.status, answer.body[:300])
        assert b"root:" not in answer.body


# Connections ---------------------------------------------------------------------------------


def head(server, method, path, *lines):
    return ("%s %s HTTP/1.1\r\nHost: 127.0.0.1:%d\r\nAuthorization: Bearer %s\r\n%s\r\n" % (
        method, path, server.port, server.token, "".join(line + "\r\n" for line in lines))).encode()


@pytest.mark.parametrize("sent", [b"\x00\x01\x02\r\n\r\n", b"GET\r\n\r\n", b"GET / HTTP/9.9\r\n\r\n", b"\x16\x03\x01\x02\x00",
                                  b"GET / HTTP/1.1\r\nContent-Length: -1\r\n\r\n",
                                  b"GET / HTTP/1.1\r\n" + b"A: b\r\n" * 20000 + b"\r\n"])
def test_what_is_no_http_is_refused(server, sent):
    answer = server.raw(sent, half_close=True)
    assert answer == b"" or answer.split()[1] in (b"400", b"413", b"431"), answer[:200]


def test_two_lengths_are_refused(server):
    sent = head(server, "POST", API + "runs/create", "Content-Type: application/json", "Content-Length: 2",
                "Transfer-Encoding: chunked") + b"0\r\n\r\n"
    answer = server.raw(sent, timeout=5, half_close=True)
    assert b" 400 " in answer.split(b"\r\n")[0] and b'"error_code"' in answer, answer[:200]


def test_addresses_as_proxies_are_asked_are_answered_for_their_own_host(server):
    own = "http://127.0.0.1:%d" % server.port
    assert server.raw(head(server, "GET", own + "/health", "Connection: close")).startswith(b"HTTP/1.1 200")
    other = server.raw(head(server, "GET", "http://other.example/health", "Connection: close"))
    assert other.startswith(b"HTTP/1.1 400") and b"different hosts" in other


def test_a_body_in_chunks_is_read(server):
    body = b'{"experiment_id": "0", "run_name": "chunked"}'
    sent = head(server, "POST", API + "runs/create", "Content-Type: application/json", "Transfer-Encoding: chunked")
    sent += b"".join(b"1\r\n" + body[i:i + 1] + b"\r\n" for i in range(len(body))) + b"0\r\n\r\n"
    assert b'"chunked"' in server.raw(sent)


def test_requests_behind_each_other_are_answered_in_order(server):
    one = head(server, "GET", API + "experiments/get?experiment_id=0")
    with socket.create_connection(("127.0.0.1", server.port), timeout=20) as connection:
        connection.sendall(one * 20)
        received = b""
        while received.count(b"HTTP/1.1 200") < 20:
            piece = connection.recv(65536)
            assert piece, received[-300:]
            received += piece


def test_half_closed_connections_get_their_answer(server):
    assert b"HTTP/1.1 200" in server.raw(head(server, "GET", API + "experiments/get?experiment_id=0"), half_close=True)


def test_slow_clients_hinder_nobody(server, run):
    slow = []
    for _ in range(200):
        connection = socket.create_connection(("127.0.0.1", server.port), timeout=20)
        connection.sendall(head(server, "POST", API + "runs/log-metric", "Content-Length: 1000")[:-2])
        slow.append(connection)
    for step in range(20):
        server.ask("POST", "runs/log-metric", metric(run, step=step))
    for connection in slow:
        connection.close()


def test_a_body_that_ends_early_stores_nothing(server, run):
    body = json.dumps({"run_id": run, "metrics": [metric(run)]}).encode()
    sent = head(server, "POST", API + "runs/log-batch", "Content-Type: application/json", "Content-Length: %d" % len(body))
    with socket.create_connection(("127.0.0.1", server.port), timeout=20) as connection:
        connection.sendall(sent + body[:-1])
    time.sleep(0.05)
    assert "metrics" not in server.ask("GET", "runs/get", {"run_id": run})["run"]["data"]


def test_a_client_that_waits_to_be_told_to_go_on_is_told(server, run):
    body = json.dumps(metric(run)).encode()
    with socket.create_connection(("127.0.0.1", server.port), timeout=20) as connection:
        connection.sendall(head(server, "POST", API + "runs/log-metric", "Content-Type: application/json", "Expect: 100-continue",
                                "Content-Length: %d" % len(body)))
        assert connection.recv(4096).startswith(b"HTTP/1.1 100")
        connection.sendall(body)
        assert b"HTTP/1.1 200" in receive_answer(connection)


def test_a_client_that_asks_before_it_sends_a_file_hears_what_is_wrong(server, run):
    for size, owner, status in ((2 ** 60, run, b"507"), (3, "0" * 32, b"404"), (3, run, b"100")):
        with socket.create_connection(("127.0.0.1", server.port), timeout=20) as connection:
            connection.sendall(head(server, "PUT", "/api/2.0/mlflow-artifacts/artifacts/0/%s/artifacts/f" % owner,
                                    "Expect: 100-continue", "Content-Length: %d" % size))
            assert connection.recv(4096).startswith(b"HTTP/1.1 " + status)


def test_files_that_come_while_their_folder_is_removed_fail_nobody(server, run):
    root = "/api/2.0/mlflow-artifacts/artifacts/0/%s/artifacts/" % run
    answers, threads = [], []
    for number in range(4):
        def work(number=number):
            for turn in range(25):
                if number:
                    answers.append(server.request("PUT", root + "a/b/%d-%d" % (number, turn), b"x" * 1000))
                else:
                    answers.append(server.request("DELETE", root + "a"))
        threads.append(threading.Thread(target=work))
        threads[-1].start()
    for thread in threads:
        thread.join()
    assert {answer.status for answer in answers} == {200}, [answer.body for answer in answers if answer.status != 200]
    server.ask("DELETE", root + "a")
    assert os.listdir(os.path.join(server.ponk.home, "artifacts", ".incoming")) == []


# Writing to what is no longer there -----------------------------------------------------------


def test_a_deleted_run_takes_nothing_more(server, run):
    server.ask("POST", "runs/delete", {"run_id": run})
    for path, fields in (("runs/log-metric", metric(run)), ("runs/set-tag", {"run_id": run, "key": "a", "value": "b"}),
                         ("runs/log-parameter", {"run_id": run, "key": "a", "value": "b"}),
                         ("runs/update", {"run_id": run, "status": "FINISHED"}),
                         ("runs/log-batch", {"run_id": run, "metrics": [metric(run)]})):
        assert "must be in the 'active' state" in refused(server.call("POST", path, fields))
    server.ask("POST", "runs/restore", {"run_id": run})
    server.ask("POST", "runs/log-metric", metric(run))


def test_a_parameter_is_written_once(server, run):
    server.ask("POST", "runs/log-parameter", {"run_id": run, "key": "lr", "value": "1"})
    server.ask("POST", "runs/log-parameter", {"run_id": run, "key": "lr", "value": "1"})
    assert "Changing param values is not allowed" in refused(
        server.call("POST", "runs/log-parameter", {"run_id": run, "key": "lr", "value": "2"}))
    batch = {"run_id": run, "metrics": [metric(run)], "params": [{"key": "lr", "value": "3"}], "tags": [{"key": "t", "value": "v"}]}
    refused(server.call("POST", "runs/log-batch", batch))
    data = server.ask("GET", "runs/get", {"run_id": run})["run"]["data"]
    assert "metrics" not in data and "t" not in {tag["key"] for tag in data["tags"]}


def test_points_are_a_set(server, run):
    for _ in range(3):
        server.ask("POST", "runs/log-metric", metric(run, step=3))
        server.ask("POST", "runs/log-batch", {"run_id": run, "metrics": [metric(run, step=3), metric(run, step=4)]})
    history = server.ask("GET", "metrics/get-history", {"run_id": run, "metric_key": "m"})["metrics"]
    assert sorted(point["step"] for point in history) == [3, 4]


@pytest.mark.skipif(os.geteuid() != 0, reason="needs the right to read another process's descriptors")
def test_descriptors_are_given_back(server):
    def count():
        return len(os.listdir("/proc/%d/fd" % server.pid))
    before = count()
    for _ in range(50):
        server.raw(b"GET / HT", timeout=0.01)
        server.call("GET", "experiments/get", {"experiment_id": "0"})
    until = time.monotonic() + 20
    while count() > before + 8 and time.monotonic() < until:
        time.sleep(0.1)
    assert count() <= before + 8


# Packed bodies ---------------------------------------------------------------------------------


def peak_of(pid):
    """Bytes that a process had in memory at most."""
    [line] = [line for line in open(f"/proc/{pid}/status") if line.startswith("VmHWM")]
    return int(line.split()[1]) * 1024


def test_a_bomb_is_refused_while_it_unpacks(server):
    packer = zlib.compressobj(1, zlib.DEFLATED, zlib.MAX_WBITS + 16)
    bomb = b"".join(packer.compress(bytes(1 << 24)) for _ in range(16)) + packer.flush()
    assert len(bomb) < 2 << 20
    before = peak_of(server.pid)
    for kind in ("application/json", "application/x-protobuf"):
        answer = server.request("POST", "/v1/traces", bomb, {"Content-Type": kind, "Content-Encoding": "gzip", "x-mlflow-experiment-id": "0"})
        assert "more than 16.0 MiB" in refused(answer)
    assert peak_of(server.pid) - before < 128 << 20, "what is behind the limit was unpacked, too"
