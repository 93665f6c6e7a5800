# SPDX-License-Identifier: Apache-2.0
"""Runs seen from the command line: streams, Ctrl-C, history and its files."""
import json
import os
import pathlib
import pty
import signal
import subprocess
import time

import pytest


def start(ponk, *words, **options):
    return subprocess.Popen([ponk.program, *words], cwd=ponk.project, env=ponk.environment, stdin=subprocess.DEVNULL,
                            stdout=subprocess.PIPE, stderr=subprocess.PIPE, **options)


def wait_for(condition, seconds=30):
    end = time.monotonic() + seconds
    while not condition():
        assert time.monotonic() < end, "waited in vain"
        time.sleep(0.02)


def last(ponk):
    return json.loads(ponk.text("history", "last", "-o", "json"))


def test_standard_output_is_the_log_and_nothing_else(ponk):
    ponk.write("x.py", "import sys\nsys.stdout.buffer.write(bytes(range(256)))\nsys.stdout.flush()\nprint('e', file=sys.stderr)\n")
    done = ponk.run("submit", "x.py")
    assert done.stdout == bytes(range(256)) + b"e\n"
    assert done.stderr.startswith(b"ponk: RunId: ")
    assert ponk.run("logs", "last").stdout == done.stdout


def test_json_puts_the_log_on_standard_error_and_the_record_on_standard_output(ponk):
    ponk.write("x.py", "print('hello')\n")
    done = ponk.run("submit", "-o", "json", "x.py", "a b", "-o", "--help")
    record = json.loads(done.stdout)
    assert record["status"] == "Completed" and record["arguments"] == ["a b", "-o", "--help"]
    assert b"hello\n" in done.stderr


def test_async_prints_the_id_alone(ponk):
    ponk.write("x.py", "import time; time.sleep(1); print('late')\n")
    name = ponk.text("submit", "--async", "x.py").strip()
    assert len(name) == 32 and int(name, 16)
    assert ponk.run("logs", "--follow", name).stdout == b"late\n"
    assert json.loads(ponk.text("experiment", "status", name[-8:], "-o", "json"))["run_id"] == name


def test_first_interrupt_detaches_and_the_run_goes_on(ponk):
    ponk.write("x.py", "import time\nprint('begun', flush=True)\ntime.sleep(4)\nprint('done')\n")
    process = start(ponk, "submit", "x.py")
    assert process.stdout.readline() == b"begun\n"
    process.send_signal(signal.SIGINT)
    _, err = process.communicate(timeout=30)
    assert process.returncode == 79
    assert b"ponk logs --follow" in err and b"ponk cancel" in err
    assert err.decode().strip().splitlines()[-1].startswith("ponk: detached: run ")
    assert b"ponk: error:" not in err
    assert ponk.run("logs", "-f", "last").stdout == b"begun\ndone\n"
    assert last(ponk)["status"] == "Completed"


def test_second_interrupt_cancels(ponk):
    ponk.write("x.py", "import time\nprint('begun', flush=True)\ntime.sleep(600)\n")
    process = start(ponk, "submit", "x.py")
    assert process.stdout.readline() == b"begun\n"
    process.send_signal(signal.SIGINT)
    time.sleep(0.3)
    process.send_signal(signal.SIGINT)
    _, err = process.communicate(timeout=60)
    assert err.decode().strip().splitlines()[-1].startswith("ponk: error: ")
    assert last(ponk)["status"] == "Canceled"
    assert process.returncode == 77


def test_follower_survives_the_death_of_the_daemon(ponk):
    ponk.write("x.py", "import time\nfor i in range(40):\n    print('line', i, flush=True)\n    time.sleep(0.1)\n")
    process = start(ponk, "submit", "x.py")
    head = process.stdout.readline()
    for _ in range(2):
        pid = json.loads(ponk.text("daemon", "status", "-o", "json"))["pid"]
        os.kill(pid, signal.SIGKILL)
        time.sleep(0.5)
    rest, _ = process.communicate(timeout=60)
    assert head + rest == b"".join(b"line %d\n" % i for i in range(40))
    assert process.returncode == 0


def test_fifty_commands_at_once_start_one_daemon(ponk):
    crowd = [start(ponk, "project", "list", "-o", "json") for _ in range(50)]
    for process in crowd:
        out, err = process.communicate(timeout=60)
        assert (process.returncode, json.loads(out)) == (0, []), err
    status = json.loads(ponk.text("daemon", "status", "-o", "json"))
    assert status["running"] is True
    daemons = 0
    for folder in pathlib.Path("/proc").glob("[0-9]*"):
        try:
            words = (folder / "cmdline").read_bytes().split(b"\0")
            variables = (folder / "environ").read_bytes().split(b"\0")
        except OSError:
            continue
        if words[1:3] == [b"daemon", b"run"] and b"PONK_HOME=" + os.fsencode(str(ponk.home)) in variables:
            daemons += 1
    assert daemons == 1


def test_stopping_the_daemon_twice(ponk):
    ponk.run("project", "list")
    assert json.loads(ponk.text("daemon", "stop", "-o", "json"))["stopped"] is True
    assert json.loads(ponk.text("daemon", "stop", "-o", "json"))["stopped"] is False
    ponk.run("daemon", "status", code=69)


def test_history_lists_metrics_as_fields_and_compares(ponk):
    ponk.write("x.py", "import sys, ponk\nponk.log('accuracy', float(sys.argv[1]))\n")
    ponk.run("submit", "x.py", "0.5")
    ponk.run("submit", "x.py", "0.9")
    best = json.loads(ponk.text("history", "list", "-o", "json", "--query", "[?accuracy != null] | max_by(@, &accuracy)"))
    assert best["arguments"] == ["0.9"] and best["accuracy"] == 0.9
    assert "accuracy" in ponk.text("runs", "-o", "table").splitlines()[0]
    ids = json.loads(ponk.text("runs", "-o", "json", "--query", "[].run_id"))
    compared = json.loads(ponk.text("history", "compare", *ids, "-o", "json"))
    fields = {row["field"]: row["values"] for row in compared["differences"]}
    assert fields["accuracy"] == [0.9, 0.5] and compared["files"] == []


def test_files_of_a_run_come_back(ponk, tmp_path):
    ponk.write("x.py", "import os\nos.makedirs('outputs/a b', exist_ok=True)\nopen('outputs/a b/model.bin', 'wb').write(bytes(range(256)) * 1000)\n")
    ponk.run("submit", "x.py")
    ponk.run("history", "download", "last", "-d", tmp_path / "got")
    assert (tmp_path / "got/outputs/a b/model.bin").read_bytes() == bytes(range(256)) * 1000
    ponk.run("history", "download", "last", "-d", tmp_path / "got", code=73)
    ponk.run("history", "promote", "-r", "last", "-ap", "outputs/a b/model.bin", "-n", "model")
    assert json.loads(ponk.text("asset", "list", "-o", "json"))[0]["version"] == 1
    ponk.run("asset", "download", "-l", "assets/model.link", "-d", tmp_path / "asset")
    assert (tmp_path / "asset/model.bin").exists()
    ponk.run("project", "restore", "last", "-d", tmp_path / "restored")
    assert (tmp_path / "restored/x.py").exists()


def test_rerun_is_exact(ponk):
    script = ponk.write("x.py", "import sys; print('first', sys.argv[1:])\n")
    ponk.run("submit", "x.py", "a")
    script.write_text("print('changed')\n")
    assert ponk.run("experiment", "rerun", "last").stdout == b"first ['a']\n"


def test_unknown_run_and_hidden_ones(ponk):
    ponk.run("logs", "last", code=66)
    ponk.write("x.py", "pass\n")
    ponk.run("submit", "x.py")
    ponk.run("logs", "ffffffffffff", code=66)
    ponk.run("history", "delete", "last", code=65)
    run = ponk.json("history", "last")["run_id"]
    assert f"run {run} deleted" in ponk.text("history", "delete", "last", "--yes", "-o", "table")
    ponk.run("submit", "x.py")
    ponk.run("submit", "x.py")
    both = [run["run_id"] for run in ponk.json("history", "list")]
    assert "2 runs deleted" in ponk.text("history", "delete", *both, "--yes", "-o", "table")
    assert json.loads(ponk.text("runs", "-o", "json")) == []


def test_secret_reaches_the_script_and_no_served_log(ponk):
    ponk.run("secret", "set", "token", input=b"s3cr3t-value\n")
    assert json.loads(ponk.text("secret", "list", "-o", "json"))[0]["name"] == "token"
    ponk.write("x.py", "import os; print(os.environ['KEY'], len(os.environ['KEY']))\n")
    assert ponk.run("submit", "--env", "KEY=secret:token", "x.py").stdout == b"*** 12\n"
    assert ponk.run("logs", "last", "--raw").stdout == b"s3cr3t-value 12\n"
    ponk.run("secret", "remove", "token")


def test_on_a_terminal_control_bytes_are_shown(ponk):
    ponk.write("x.py", "print('\\x1b[31mred\\x1b[0m \\x1b]0;title\\x07 \\rend')\n")
    ponk.run("submit", "x.py")
    ours, theirs = pty.openpty()
    process = subprocess.Popen([ponk.program, "logs", "last"], cwd=ponk.project, env=ponk.environment, stdout=theirs,
                               stderr=subprocess.DEVNULL)
    os.close(theirs)
    assert process.wait(timeout=30) == 0
    seen = os.read(ours, 65536)
    os.close(ours)
    assert seen == b"\x1b[31mred\x1b[0m \\x1b]0;title\\x07 \rend\r\n"


def test_table_of_runs_keeps_what_matters_in_a_narrow_terminal(ponk):
    ponk.write("x.py", "import ponk\nponk.log('status', 7)\nponk.log('accuracy', 0.98765)\n")
    ponk.run("submit", "--name", "first try", "x.py")
    wide = ponk.text("runs", "-o", "table", env={"COLUMNS": "200"}).splitlines()
    assert "first try" in wide[2] and "metrics.status" in wide[0] and "accuracy" in wide[0]
    for columns in ("80", "60"):
        lines = ponk.text("runs", "-o", "table", env={"COLUMNS": columns}).splitlines()
        assert {"run", "no", "status", "duration", "name"} <= set(lines[0].split())
        assert all(len(line) <= int(columns) for line in lines)
        assert "…" not in lines[0] + lines[2]
        assert "Completed" in lines[2] and "first try" in lines[2]


def test_versions_of_an_asset_are_listed_and_downloaded(ponk):
    ponk.write("x.py", "import sys, os\nos.makedirs('outputs', exist_ok=True)\nopen('outputs/model', 'w').write(sys.argv[1])\n")
    for text in ("old", "new"):
        ponk.run("submit", "x.py", text)
        ponk.run("history", "promote", "last", "--artifact-path", "outputs/model", "--name", "model")
    versions = ponk.json("asset", "list", "--name", "model")
    assert sorted(asset["version"] for asset in versions) == [1, 2]
    ponk.run("asset", "download", "model", "--version", "1", "-d", "a")
    ponk.run("asset", "download", "model", "-d", "b")
    assert (ponk.project / "a/model").read_text() == "old"
    assert (ponk.project / "b/model").read_text() == "new"
    ponk.run("asset", "download", "model", "--version", "3", code=66)
    assert "'model'" in ponk.run("asset", "download", "modl", code=66).stderr.decode()
    assert "'model'" in ponk.run("asset", "list", "--name", "modl", code=66).stderr.decode()


def test_notice_of_several_lines_is_printed_as_lines(ponk):
    ponk.write("aml_config/local.runconfig", "Target: local\nFramework: python\n")
    ponk.write("aml_config/local.compute", "type: Local\n")
    ponk.write("x.py", "")
    said = ponk.run("submit", "x.py").stderr.decode()
    assert "\\n" not in said
    assert any(line.startswith("ponk:     ") for line in said.splitlines()), said


def test_many_metrics_are_shown_in_part_and_exported_whole(ponk):
    ponk.write("many.py", "import ponk\n"
                          "for step in range(3000): ponk.log('loss', 5 if step == 1234 else 1.0 / (step + 1), step=step)\n"
                          "ponk.log('curve', [0.5] * 20000)\n"
                          "ponk.log({'name%05d' % i: i for i in range(10500)})\n"
                          "ponk.log_params({'p%d' % i: i for i in range(50)})\n")
    said = ponk.run("submit", "many.py").stderr.decode()
    assert "10494 more" in said, said

    record = last(ponk)
    assert len(record["metrics"]) == 10000 and record["metrics_left_out"] == 502
    assert record["curve"] == {"count": 20000, "last": 0.5} and len(record["params"]) == 50
    shown = ponk.text("history", "info", "last", "-o", "table")
    assert "10302 more" in shown and shown.count("\n") < 1000
    assert "max 5" in shown  # a peak stays in the curve
    listed = ponk.json("history", "list", "--columns", "no,name10499,metrics.name10498", "--order-by", "metrics.name10497")
    assert [(one["name10499"], one["metrics.name10498"]) for one in listed] == [(10499, 10498)]
    assert "no run has" not in ponk.run("history", "list", "--order-by", "metrics.name10497").stderr.decode()
    line = json.loads(ponk.text("history", "export", "last"))
    assert len(line["metrics"]) == 10502 and line["metrics"]["loss"]["count"] == 3000
    assert [point[0] for point in line["metrics"]["loss"]["points"]] == list(range(3000))
    assert len(line["metrics"]["curve"]["points"]) == 20000


def test_hundreds_of_outputs_are_counted_for_people_and_listed_for_programs(ponk):
    ponk.write("x.py", "for n in range(300): open('outputs/%03d' % n, 'w').close()\n")
    ponk.run("submit", "x.py")
    shown = ponk.text("history", "info", "last", "-o", "table")
    assert "outputs/019" not in shown and "(301 files; -o json lists all)" in shown
    assert ponk.json("history", "info", "last")["attachments"].count("outputs/") == 300
