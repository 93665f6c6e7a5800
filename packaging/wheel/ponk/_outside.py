# SPDX-License-Identifier: Apache-2.0
"""Logging outside of a run: in a debugger, a notebook, a shell.

The first call that logs makes a run through the daemon, in the experiment that has the name of the current
folder, and the end of the interpreter ends it. Only the installed package has this file: the module that ponk
puts into its own runs does nothing outside of them.
"""
import atexit
import getpass
import http.client
import json
import os
import shutil
import socket
import subprocess
import sys
import sysconfig
import threading
import time
from urllib.parse import quote

LIMIT = 10  # seconds for one answer of a daemon on this machine
MOST = 1000  # metrics in one request, as MLflow's API has it
_lock = threading.Lock()
_state = {"run": None, "owner": None, "off": False}
_connections = threading.local()


class NoDaemon(Exception):
    """Nobody to log to; the text says why and what helps."""


class Refused(Exception):
    """The daemon's answer to one request."""


class _Connection(http.client.HTTPConnection):
    def __init__(self, path):
        http.client.HTTPConnection.__init__(self, "localhost", timeout=LIMIT)
        self.path = path

    def connect(self):
        self.sock = socket.socket(socket.AF_UNIX, socket.SOCK_STREAM)
        self.sock.settimeout(LIMIT)
        self.sock.connect(self.path)


def wanted():
    """PONK_TRACKING says on or off. Without it: on, but not in tests, which would fill the history."""
    word = os.environ.get("PONK_TRACKING", "").strip().lower()
    if word in ("off", "0", "false", "no"):
        return False
    return bool(word) or "pytest" not in sys.modules


def _home():
    named = os.environ.get("PONK_HOME")
    if named:
        return os.path.abspath(named)
    data = os.environ.get("XDG_DATA_HOME", "")
    if data.startswith("/"):
        return os.path.join(data, "ponk")
    return os.path.join(os.path.expanduser("~"), ".local", "share", "ponk")


def _program():
    """The program of the same package, else the one on PATH."""
    beside = os.path.join(sysconfig.get_path("scripts"), "ponk")
    return beside if os.access(beside, os.X_OK) else shutil.which("ponk")


def _start_daemon():
    program = _program()
    if not program:
        raise NoDaemon("no program 'ponk' was found beside this Python or on PATH")
    try:
        done = subprocess.run([program, "runs", "-o", "json"], stdin=subprocess.DEVNULL, stdout=subprocess.DEVNULL,
                              stderr=subprocess.PIPE, timeout=60)
    except (OSError, subprocess.SubprocessError) as problem:
        raise NoDaemon("'%s' does not start: %s" % (program, problem))
    if done.returncode != 0:
        lines = done.stderr.decode("utf-8", "replace").strip().splitlines()
        raise NoDaemon("'%s' could not start a daemon: %s" % (program, lines[-1] if lines else done.returncode))


def _ask_once(method, path, body):
    kept = getattr(_connections, "kept", None)
    if kept is None or kept[0] != os.getpid():  # a connection belongs to the process and thread that made it
        kept = _connections.kept = (os.getpid(), _Connection(os.path.join(_home(), "daemon.sock")))
    connection = kept[1]
    try:
        connection.request(method, path, None if body is None else json.dumps(body), {"Content-Type": "application/json"})
        reply = connection.getresponse()
        return reply.status, reply.read()
    except Exception:
        connection.close()
        raise


def _ask(method, path, body=None):
    """The answer. A daemon that has ended since the last call is started again."""
    path = "/api/2.0/mlflow/" + path
    try:
        status, text = _ask_once(method, path, body)
    except (OSError, http.client.HTTPException):
        _start_daemon()
        try:
            status, text = _ask_once(method, path, body)
        except (OSError, http.client.HTTPException) as problem:
            raise NoDaemon("the daemon does not answer: %s" % problem)
    answer = json.loads(text.decode("utf-8") or "{}")
    if status >= 400:
        refused = Refused(answer.get("message", "status %d" % status))
        refused.status = status
        raise refused
    return answer


def _experiment():
    name = os.environ.get("PONK_EXPERIMENT") or os.path.basename(os.getcwd()) or "Default"
    try:
        return name, _ask("GET", "experiments/get-by-name?experiment_name=" + quote(name, safe=""))["experiment"]["experiment_id"]
    except Refused as problem:
        if problem.status != 404:
            raise
    return name, _ask("POST", "experiments/create", {"name": name})["experiment_id"]


def _user():
    try:
        return getpass.getuser()
    except Exception:
        return "unknown"


def _begin():
    name, experiment = _experiment()
    source = sys.argv[0] if sys.argv and sys.argv[0] not in ("", "-c", "-m") else "interactive"
    made = _ask("POST", "runs/create", {
        "experiment_id": experiment, "start_time": _now(),
        "tags": [{"key": "mlflow.user", "value": _user()},
                 {"key": "mlflow.source.name", "value": os.path.basename(source)},
                 {"key": "mlflow.source.type", "value": "LOCAL"}]})
    run = made["run"]["info"]["run_id"]
    atexit.register(_end, os.getpid())
    sys.stderr.write("ponk: logging to run %s of '%s' (PONK_TRACKING=off turns this off)\n" % (run, name))
    return run


def _now():
    return int(time.time() * 1000)


def _end(owner):
    run = _state["run"]
    if not run or os.getpid() != owner:  # a forked child logs to its parent's run, and does not end it
        return
    # A prompt goes on after an error, a script does not.
    failed = getattr(sys, "last_value", None) is not None and not hasattr(sys, "ps1")
    try:
        _ask("POST", "runs/update", {"run_id": run, "status": "FAILED" if failed else "FINISHED", "end_time": _now()})
    except Exception:
        pass  # the daemon knows when it heard from the run last


def _batch(records):
    """The records of a journal as MLflow's API takes them."""
    metrics, params, tags = [], [], []
    for record in records:
        if "values" in record:
            metrics += [{"key": record["metric"], "value": value, "step": record["step"] + index, "timestamp": record["time"]}
                        for index, value in enumerate(record["values"])]
        elif "metric" in record and "value" in record:
            metrics.append({"key": record["metric"], "value": record["value"], "step": record["step"], "timestamp": record["time"]})
        elif "metric" in record:
            tags.append({"key": record["metric"], "value": record["text"]})
        elif "param" in record:
            params.append({"key": record["param"], "value": record["value"]})
        elif "tag" in record:
            tags.append({"key": record["tag"], "value": record["value"]})
    return metrics, params, tags


def write(records, warn):
    """Sends records; the first ones make the run. Without a daemon: one warning, and nothing from then on."""
    if _state["off"]:
        return
    if not wanted():
        _state["off"] = True
        return
    try:
        with _lock:
            if _state["run"] is None:
                _state["run"] = _begin()
        metrics, params, tags = _batch(records)
        for start in range(0, max(len(metrics), 1), MOST):
            first = start == 0
            _ask("POST", "runs/log-batch", {"run_id": _state["run"], "metrics": metrics[start:start + MOST],
                                            "params": params if first else [], "tags": tags if first else []})
    except NoDaemon as problem:
        _state["off"] = True
        warn("log: nothing is recorded: %s" % problem)


def after_fork():
    """A lock that another thread held in the parent would never open in the child."""
    global _lock
    _lock = threading.Lock()


if hasattr(os, "register_at_fork"):
    os.register_at_fork(after_in_child=after_fork)
