# SPDX-License-Identifier: Apache-2.0
"""What ponk says at the end of a run about what a user would otherwise have to guess."""
import os
import pty
import select
import shutil
import signal
import time

import pytest


def test_a_child_that_lives_on_is_named_and_ended(ponk):
    ponk.write("train.py", "import subprocess\nprint(subprocess.Popen(['sleep', '1001']).pid)\n")

    done = ponk.run("submit", "train.py")

    assert b"1 process of the run still ran when the script ended, and ponk ended it: sleep 1001" in done.stderr
    with pytest.raises(ProcessLookupError):
        os.kill(int(done.stdout), 0)
    evidence = ponk.json("history", "last")["evidence"]
    assert evidence["survivors"] == 1 and evidence["survivor_commands"] == "sleep 1001"
    assert ponk.json("history", "last")["status"] == "Completed"


def test_a_child_that_is_just_leaving_is_not(ponk):
    ponk.write("train.py", "import subprocess, sys\n"
                           "subprocess.Popen(['sh', '-c', 'read x; exit 0'], stdin=subprocess.PIPE)\n")

    done = ponk.run("submit", "train.py")

    assert b"still ran" not in done.stderr and ponk.json("history", "last")["evidence"]["survivors"] == 0


def test_an_argument_of_a_child_that_is_a_secret_is_not_shown(ponk):
    ponk.run("secret", "set", "TOKEN", input=b"hunter2hunter2hunter2")
    ponk.write("train.py", "import os, subprocess\n"
                           "subprocess.Popen(['sleep', '1002', os.environ['T'], os.environ['T'] * 30])\n"
                           "import time\ntime.sleep(0.1)\n")

    done = ponk.run("submit", "--env", "T=secret:TOKEN", "train.py")

    assert b"hunter2" not in done.stderr
    assert "hunter2" not in ponk.text("history", "last", "-o", "json")


@pytest.mark.parametrize("script, told", [
    ("def f():\n    return input('name: ')\nf()\n", b"ask.py:2: input() waits for a user"),
    ("x = 1\nbreakpoint()\ny = 2\n", b"ask.py:3: a breakpoint waits for a user"),
])
def test_a_script_that_waits_for_a_user_gets_the_line_and_advice(ponk, script, told):
    ponk.write("ask.py", script)

    done = ponk.run("submit", "ask.py", code=1)

    assert told in done.stderr and b"ponk submit --env" in done.stderr


def test_an_end_of_file_that_a_script_handles_is_its_own_matter(ponk):
    ponk.write("ask.py", "try:\n    input()\nexcept EOFError:\n    print('none')\nraise SystemExit(3)\n")

    assert b"waits for a user" not in ponk.run("submit", "ask.py", code=3).stderr


def test_the_signal_has_its_name_in_the_record_too(ponk):
    ponk.write("crash.py", "import os, signal; os.kill(os.getpid(), signal.SIGSEGV)\n")
    ponk.run("submit", "crash.py", code=139)

    assert "139 (SIGSEGV)" in ponk.text("history", "info", "last", "-o", "table")
    assert ponk.json("history", "info", "last")["exit_code"] == 139


def test_metrics_are_told_in_the_order_in_which_they_were_logged(ponk):
    ponk.write("train.py", "import ponk\nponk.log('zeta', 1)\nfor step in range(3):\n    ponk.log('loss', 1 / (step + 1))\n"
                           "    ponk.log('acc', step)\nponk.log('beta', 4)\n")

    done = ponk.run("submit", "train.py")

    assert b"metrics: zeta 1, loss 0.333333, acc 2, beta 4" in done.stderr, done.stderr
    assert list(ponk.json("history", "info", "last")["metrics"]) == ["zeta", "loss", "acc", "beta"]
    shown = ponk.text("history", "info", "last", "-o", "table").split("\n\n")
    table = next(part for part in shown if part.lstrip().startswith("zeta"))
    assert [line.split()[0] for line in table.splitlines()] == ["zeta", "loss", "acc", "beta"]
    charts = [part.split()[0] for part in shown if part.split()[:1] in (["loss"], ["acc"])]
    assert charts == ["loss", "acc"], shown


def test_the_daemon_of_a_removed_program_ends(ponk, tmp_path):
    copy, original = tmp_path / "ponk", ponk.program
    shutil.copy(original, copy)
    ponk.program = str(copy)
    ponk.write("train.py", "pass\n")
    ponk.run("submit", "train.py")
    pid = ponk.json("daemon", "status")["pid"]

    copy.unlink()
    ponk.program = original  # to tidy up

    end = time.monotonic() + 60
    while time.monotonic() < end:
        try:
            os.kill(pid, 0)
        except ProcessLookupError:
            return
        time.sleep(0.1)
    os.kill(pid, signal.SIGTERM)
    raise AssertionError("the daemon still runs")


def on_terminal(ponk, *words):
    child, terminal = pty.fork()
    if child == 0:
        os.chdir(ponk.project)
        os.execve(ponk.program, [ponk.program, *words], {**ponk.environment, "TERM": "xterm", "PAGER": "cat"})
    shown, end = b"", time.monotonic() + 60
    while time.monotonic() < end:
        if not select.select([terminal], [], [], 1)[0]:
            continue
        try:
            shown += os.read(terminal, 65536)
        except OSError:
            break
    os.waitpid(child, 0)
    return shown.decode().replace("\r\n", "\n")


def test_a_terminal_shows_the_projects_path_and_a_pipe_the_stored_bytes(ponk):
    ponk.write("lib/deep.py", "def f():\n    raise ValueError('x')\n")
    ponk.write("train.py", "import sys\nsys.path.insert(0, 'lib')\nimport deep\ndeep.f()\n")

    shown = on_terminal(ponk, "submit", "train.py")

    run = ponk.json("history", "last")["run_id"]
    copy = str(ponk.home / "runs" / run / "work")
    assert f'File "{ponk.project}/train.py", line 4' in shown and copy not in shown, shown
    stored = (ponk.task(run) / "log").read_bytes()
    assert f'File "{copy}/train.py", line 4'.encode() in stored
    assert ponk.run("logs", "last").stdout == stored
    assert copy.encode() in ponk.run("history", "info", "last", "-o", "table").stdout
    for words in (["logs", "last"], ["history", "info", "last"]):
        seen = on_terminal(ponk, *words)
        assert f'File "{ponk.project}/train.py", line 4' in seen and copy not in seen, words
    assert copy in on_terminal(ponk, "logs", "--raw", "last")


def test_a_longer_run_has_curves_of_its_cpu_and_memory(ponk):
    ponk.write("train.py", "import time\nblock = b'x' * 200_000_000\nend = time.monotonic() + 12\n"
                           "while time.monotonic() < end:\n    pass\n")

    ponk.run("submit", "train.py")

    latest = ponk.json("history", "info", "last")["metrics"]
    assert latest["system/run.memory_usage_megabytes"] > 200 and latest["system/run.cpu_utilization_percentage"] > 0, latest
    points = ponk.json("history", "export", "last")["metrics"]["system/run.cpu_utilization_percentage"]["points"]
    assert len(points) >= 2 and points[0][0] >= 5 and all(value > 0 for _, _, value in points), points
    seen = on_terminal(ponk, "history", "info", "last")
    assert "CPU of the run, % of one processor" in seen and "memory of the run, GiB" in seen
    assert "CPU" not in on_terminal(ponk, "history", "chart", "last")
    assert "memory_usage" in on_terminal(ponk, "history", "chart", "last", "-m", "system/run.memory_usage_megabytes")


def test_a_short_run_has_no_curves_and_no_journal_of_them(ponk):
    ponk.write("train.py", "pass\n")

    ponk.run("submit", "train.py")

    run = ponk.json("history", "last")["run_id"]
    assert not list(ponk.task(run).glob("journal/use-*"))
    assert not any(name.startswith("system/run.") for name in ponk.json("history", "last")["metrics"])


def test_the_shared_folder_is_made_for_those_who_ask_for_it(ponk):
    shared = ponk.home.parent / ".azureml"
    ponk.write("train.py", "import os\nprint(os.environ['AZUREML' + '_NATIVE_SHARE_DIRECTORY'])\n")
    place = ponk.run("submit", "train.py").stdout.decode().strip()
    assert place.startswith(str(shared)) and not shared.exists()

    ponk.write("lib/store.py", "import os\nopen(os.path.join(os.environ['AZUREML_NATIVE_SHARE_DIRECTORY'], 'x'), 'w').write('1')\n")
    ponk.write("uses.py", "import sys\nsys.path.insert(0, 'lib')\nimport store\n")
    ponk.run("submit", "uses.py")
    assert open(os.path.join(place, "x")).read() == "1"


def test_a_command_that_names_the_shared_folder_has_it(ponk):
    ponk.write("train.py", "pass\n")
    ponk.run("submit", "--", "sh", "-c", "echo 1 >$AZUREML_NATIVE_SHARE_DIRECTORY/x")
    assert len(list((ponk.home.parent / ".azureml/share").glob("*/x"))) == 1
