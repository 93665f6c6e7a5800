# SPDX-License-Identifier: Apache-2.0
"""`history info --follow`: metrics as they come."""
import json
import os
import pty
import re
import signal
import subprocess
import time

SCRIPT = """import os, time, ponk
ponk.log("loss", 1.0)
while not os.path.exists(GATE + "/one"):
    time.sleep(0.02)
for step in range(1, 6):
    ponk.log("loss", 1.0 / (step + 1), step=step)
ponk.log("accuracy", float("nan"))
while not os.path.exists(GATE + "/two"):
    time.sleep(0.02)
ponk.log("accuracy", 0.9)
"""


def started(ponk, tmp_path):
    gate = tmp_path / "gate"
    gate.mkdir()
    ponk.write("train.py", SCRIPT.replace("GATE", repr(str(gate))))
    ponk.run("submit", "--async", "train.py")
    return gate


def follow(ponk, *words, **options):
    return subprocess.Popen([ponk.program, "history", "info", "last", "--follow", *words], cwd=ponk.project,
                            env=ponk.environment, stdout=subprocess.PIPE, stderr=subprocess.PIPE, **options)


def read_until(stream, wanted):
    """Lines up to the first one that has `wanted`; the test's own limit ends a wait in vain."""
    lines = []
    for line in stream:
        lines.append(line.decode().rstrip("\n"))
        if wanted in lines[-1]:
            return lines
    raise AssertionError((wanted, lines))


def test_a_pipe_gets_a_line_for_each_value(ponk, tmp_path):
    gate = started(ponk, tmp_path)
    process = follow(ponk)
    head = read_until(process.stdout, "loss 0 1.0")
    assert any(line.startswith("run_id") for line in head), "the record comes first"
    (gate / "one").touch()
    # Values of one millisecond come in the order of their names.
    lines = [process.stdout.readline().decode().rstrip("\n") for _ in range(6)]
    assert "accuracy 0 NaN" in lines
    assert [line for line in lines if line.startswith("loss")] == [
        "loss 1 0.5", "loss 2 0.3333333333333333", "loss 3 0.25", "loss 4 0.2", "loss 5 0.16666666666666666"]
    (gate / "two").touch()
    out, said = process.communicate(timeout=60)
    assert process.returncode == 0 and out.decode() == "accuracy 1 0.9\n"
    assert "Completed" in said.decode()


def test_json_lines_and_tabs(ponk, tmp_path):
    gate = started(ponk, tmp_path)
    (gate / "one").touch()
    (gate / "two").touch()
    process = follow(ponk, "-o", "json")
    lines = [json.loads(line) for line in process.communicate(timeout=60)[0].splitlines()]
    assert process.returncode == 0
    assert lines[0]["run"]["script_name"] == "train.py" and lines[-1]["run"]["status"] == "Completed"
    values = [(line["metric"], line["step"], line["value"]) for line in lines if "metric" in line]
    assert ("loss", 5, 1 / 6) in values and ("accuracy", 1, 0.9) in values and len(values) == len(set(map(str, values))) == 8
    rows = [line.split("\t") for line in ponk.text("history", "info", "last", "--follow", "-o", "tsv").splitlines()]
    # What was logged in the same millisecond comes by name.
    first = next(row for row in rows if row[0] == "loss")
    assert len(rows) == 8 and first[1] == "0" and first[3] == "1.0"
    ponk.run("history", "info", "last", "--follow", "-o", "yaml", code=64)
    ponk.run("history", "info", "last", "--follow", "--query", "run_id", code=64)


def test_ctrl_c_leaves_the_run_alone(ponk, tmp_path):
    gate = started(ponk, tmp_path)
    process = follow(ponk)
    read_until(process.stdout, "loss 0 1.0")
    process.send_signal(signal.SIGINT)
    said = process.communicate(timeout=60)[1].decode()
    assert process.returncode == 79 and "detached" in said
    assert ponk.json("history", "last")["status"] == "Running"
    (gate / "one").touch()
    (gate / "two").touch()
    ponk.run("logs", "--follow", "last")
    assert ponk.json("history", "last")["status"] == "Completed"


def test_a_terminal_is_drawn_again_and_again(ponk, tmp_path):
    gate = started(ponk, tmp_path)
    ours, theirs = pty.openpty()
    process = subprocess.Popen([ponk.program, "history", "info", "last", "--follow"], cwd=ponk.project,
                               env={**ponk.environment, "TERM": "xterm", "COLUMNS": "80"}, stdin=theirs, stdout=theirs,
                               stderr=subprocess.PIPE)
    os.close(theirs)
    seen = b""

    def until(wanted):
        nonlocal seen
        end = time.monotonic() + 60
        while not re.search(wanted, seen):
            assert time.monotonic() < end, seen
            seen += os.read(ours, 65536)

    until(rb"loss +0 +1\.0")
    (gate / "one").touch()
    until(rb"loss +5 +0\.166667")
    assert b"\x1b[?25l" in seen
    (gate / "two").touch()
    until(rb"accuracy +1 +0\.9")
    until(rb"\x1b\[\?25h")
    assert process.wait(60) == 0
    process.stderr.close()
    os.close(ours)
