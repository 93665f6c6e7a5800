# SPDX-License-Identifier: Apache-2.0
"""A disk without a byte left, at every step of a run: states stay true, and with room again everything goes on."""
import json
import math
import os
import re
import subprocess
import time

import pytest
from tracking import Tracking

pytestmark = pytest.mark.skipif(os.getuid() != 0, reason="mounting a small disk needs root")


class Disk:
    def __init__(self, folder):
        self.folder = folder
        self.ballast = folder / "ballast"

    def fill(self):
        with open(self.ballast, "ab", buffering=0) as out:
            for size in [1 << 16, 4096, 512, 1]:
                try:
                    while True:
                        out.write(b"b" * size)
                except OSError:
                    pass

    def free(self):
        self.ballast.unlink()


@pytest.fixture
def disk(ponk, tmp_path):
    folder = tmp_path / "disk"
    folder.mkdir()
    subprocess.run(["mount", "-t", "tmpfs", "-o", "size=16m,mode=755", "tmpfs", str(folder)], check=True)
    ponk.home = folder / "home"
    ponk.environment["PONK_HOME"] = str(ponk.home)
    yield Disk(folder)
    subprocess.run([ponk.program, "daemon", "stop"], env=ponk.environment, capture_output=True, timeout=60)
    subprocess.run(["umount", "-l", str(folder)], check=False)


def wait_for(condition, seconds=30):
    deadline = time.monotonic() + seconds
    while time.monotonic() < deadline:
        if condition():
            return True
        time.sleep(0.02)
    return False


def test_the_first_start_names_the_cause(ponk, disk):
    ponk.write("a.py", "print(1)\n")
    disk.fill()

    for command in [["submit", "a.py"], ["history", "list"]]:
        done = ponk.run(*command, code=69)
        assert b"No space left on device" in done.stderr and b"disk is full" in done.stderr

    disk.free()
    assert ponk.run("submit", "a.py").stdout == b"1\n"


def test_a_submission_to_a_full_disk_is_refused_or_ends_truly(ponk, disk):
    ponk.write("a.py", "print(1)\n")
    ponk.run("submit", "a.py")
    disk.fill()
    for number in range(3):
        ponk.write("a.py", f"print({number}, 'x' * 9000)\n")
        done = ponk.run("submit", "a.py", code=None)
        assert done.returncode in (69, 72, 74), done
        assert b"full" in done.stderr or b"No space" in done.stderr
    ponk.run("history", "list")

    disk.free()

    ponk.write("a.py", "print('again')\n")
    assert ponk.run("submit", "a.py").stdout == b"again\n"
    states = [run["status"] for run in ponk.json("history", "list")]
    assert states[0] == states[-1] == "Completed" and set(states[1:-1]) <= {"Failed"}
    ponk.run("daemon", "stop")
    assert [run["status"] for run in ponk.json("history", "list")] == states


def test_a_snapshot_that_does_not_fit_fails_its_run_and_leaves_nothing(ponk, disk):
    ponk.write("a.py", "print(1)\n")
    ponk.run("submit", "a.py")
    (ponk.project / "large.bin").write_bytes(os.urandom(20 << 20))

    done = ponk.run("submit", "a.py", code=72)

    assert b"No space left" in done.stderr and b"disk is full" in done.stderr
    (ponk.project / "large.bin").unlink()
    assert ponk.run("submit", "a.py").stdout == b"1\n"
    assert not [path for path in (ponk.home / "store/objects").rglob(".tmp-*")]


def test_a_working_copy_that_does_not_fit_fails_its_run_and_leaves_nothing(ponk, disk):
    ponk.write("a.py", "print(1)\n")
    (ponk.project / "large.bin").write_bytes(os.urandom(8 << 20))

    done = ponk.run("submit", "a.py", code=72)

    assert b"No space left" in done.stderr
    assert not list(ponk.home.glob("runs/*/work*"))
    (ponk.project / "large.bin").unlink()
    assert ponk.run("submit", "a.py").stdout == b"1\n"


def test_metrics_and_log_go_on_when_there_is_room_again(ponk, disk, tmp_path):
    signs = {name: tmp_path / name for name in ["begun", "full", "written", "free"]}
    ponk.write("long.py", f"""import os, sys, time, ponk
def wait(path):
    while not os.path.exists(path): time.sleep(0.01)
ponk.log('loss', 1.0, step=1)
open({str(signs['begun'])!r}, 'w').close()
wait({str(signs['full'])!r})
for step in range(2, 2000): ponk.log('loss', 1.0 / step, step=step)
open({str(signs['written'])!r}, 'w').close()
wait({str(signs['free'])!r})
ponk.log('loss', 0.25, step=5000)
print('the end', flush=True)
""")
    run = ponk.text("submit", "--async", "long.py").strip()
    assert wait_for(signs["begun"].exists)
    disk.fill()
    signs["full"].touch()
    assert wait_for(signs["written"].exists), "a metric blocked or ended the training"
    assert ponk.json("history", "info", run)["status"] == "Running"
    disk.free()
    signs["free"].touch()

    assert wait_for(lambda: ponk.json("history", "info", run)["status"] not in ("Running", "Finalizing"))

    record = ponk.json("history", "info", run)
    assert record["status"] == "Completed" and record["loss"] == 0.25
    assert ponk.text("logs", run).endswith("the end\n")


def logged_and_lost(ponk, run):
    """How many values of 'loss' are stored, and how many the run's warnings say were lost."""
    record = ponk.json("history", "info", run)
    said = [re.fullmatch(r"(\d+) values? that the script logged could not be stored: No space left on device", text)
            for text in record["warnings"]]
    lost = [int(match.group(1)) for match in said if match]
    assert len(lost) <= 1, record["warnings"]
    stored = json.loads(ponk.text("history", "export", run))["metrics"]["loss"]["count"]
    return record, stored, lost[0] if lost else 0


@pytest.mark.parametrize("freed", [True, False])
def test_values_that_found_no_room_are_counted_in_the_runs_record(ponk, disk, freed):
    subprocess.run(["mount", "-o", "remount,size=24m", str(disk.folder)], check=True)
    ponk.write("a.py", f"""import os, ponk
for step in range(5): ponk.log('loss', 1.0, step=step)
with open({str(disk.ballast)!r}, 'ab', buffering=0) as out:
    for size in (1 << 16, 4096, 512, 1):
        try:
            while True: out.write(b'b' * size)
        except OSError: pass
for step in range(5, 205): ponk.log('loss', 1.0, step=step)
ponk.log('loss', [1.0] * 300, step=205)
if {freed}: os.unlink({str(disk.ballast)!r})
for step in range(505, 555): ponk.log('loss', 1.0, step=step)
print('the end', flush=True)
""")
    run = ponk.text("submit", "--async", "a.py").strip()
    assert wait_for(lambda: (ponk.task(run) / "exit").exists())
    if not freed:
        disk.free()
    assert wait_for(lambda: ponk.json("history", "info", run)["status"] == "Completed")

    record, stored, lost = logged_and_lost(ponk, run)

    assert stored + lost == 555 and lost > 0, record["warnings"]
    assert ponk.text("logs", run).endswith("the end\n")
    assert not any("disk with its log" in text for text in record["warnings"]), record["warnings"]


def test_a_disk_that_is_nearly_full_is_not_called_full(ponk, disk):
    ponk.write("a.py", "import ponk\nponk.log('loss', 1.0)\nprint('ok')\n")
    ponk.run("submit", "a.py")
    room = os.statvfs(disk.folder)
    with open(disk.ballast, "wb") as out:
        out.write(b"b" * (room.f_bavail * room.f_frsize - 3900 * 1024))

    done = ponk.run("submit", "a.py")

    assert b"full" not in done.stderr
    record, stored, lost = logged_and_lost(ponk, "last")
    assert (record["status"], record["warnings"], stored, lost) == ("Completed", [], 1, 0)
    assert ponk.text("logs", "last") == "ok\n"


def test_a_log_that_does_not_fit_is_told(ponk, disk):
    ponk.write("a.py", f"""import sys
with open({str(disk.ballast)!r}, 'ab', buffering=0) as out:
    try:
        while True: out.write(b'b' * 4096)
    except OSError: pass
for _ in range(1000): sys.stdout.write('x' * 9999 + '\\n')
""")
    done = ponk.run("submit", "a.py", code=None)
    disk.free()

    assert done.returncode != 0
    assert wait_for(lambda: ponk.json("history", "last")["status"] == "Failed")
    assert any("disk with its log" in text for text in ponk.json("history", "last")["warnings"])


def test_outputs_that_do_not_fit_are_told_and_not_lost(ponk, disk, tmp_path):
    # Two names: the file cannot become an object by a link and must be copied.
    ponk.write("a.py", f"""import os
os.makedirs('outputs', exist_ok=True)
open('outputs/m', 'wb').write(os.urandom(6 << 20))
os.link('outputs/m', 'other')
try:
    with open({str(disk.ballast)!r}, 'ab', buffering=0) as out:
        while True: out.write(b'b' * 4096)
except OSError:
    pass
""")

    done = ponk.run("submit", "a.py", code=72)

    assert b"collect outputs" in done.stderr and b"No space left" in done.stderr
    record = ponk.json("history", "last")
    assert record["status"] == "Failed" and record["exit_code"] == 0
    disk.free()
    ponk.run("experiment", "return", "last", "-d", tmp_path / "got")
    assert (tmp_path / "got/outputs/m").stat().st_size == 6 << 20
    ponk.write("b.py", "print('goes on')\n")
    assert ponk.run("submit", "b.py").stdout == b"goes on\n"


def test_an_end_that_could_not_be_written_is_written_when_there_is_room(ponk, disk, tmp_path):
    go = tmp_path / "go"
    ponk.write("a.py", f"import os, sys, time\nwhile not os.path.exists({str(go)!r}): time.sleep(0.01)\nsys.exit(3)\n")
    run = ponk.text("submit", "--async", "a.py").strip()
    assert wait_for(lambda: ponk.json("history", "info", run)["status"] == "Running")
    disk.fill()
    go.touch()
    time.sleep(1)
    assert ponk.json("history", "info", run)["status"] in ("Running", "Finalizing", "Failed")
    disk.free()

    assert wait_for(lambda: ponk.json("history", "info", run)["status"] == "Failed")
    assert ponk.json("history", "info", run)["exit_code"] == 3


def test_a_script_that_takes_all_room_before_its_start_is_noted_has_an_end(ponk, disk, tmp_path):
    ponk.run("history", "list")
    daemon = ponk.json("daemon", "status")["pid"]
    python = tmp_path / "python"
    # The packages are listed with "-c"; what is stopped is the start of the script.
    python.write_text(f"#!/bin/sh\n[ \"$1\" = -c ] || kill -STOP {daemon}\nexec /usr/bin/python3 \"$@\"\n")
    python.chmod(0o755)
    ponk.write("aml_config/local.compute", f"type: local\npythonLocation: {python}\n")
    # It also takes whatever is given back while it runs.
    ponk.write("greedy.py", f"""import os, signal, sys, time
def fill():
    for size in (1 << 16, 4096, 512, 1):
        try:
            while True: os.write(1, b'x' * size)
        except OSError:
            pass
fill()
os.kill({daemon}, signal.SIGCONT)
for _ in range(100):
    time.sleep(0.02)
    fill()
sys.exit(3)
""")
    run = ponk.text("submit", "--async", "greedy.py").strip()

    assert wait_for(lambda: ponk.json("history", "info", run)["status"] == "Failed", 30)
    assert ponk.json("history", "info", run)["exit_code"] == 3


def test_metrics_that_found_no_room_are_stored_before_the_end(ponk, disk):
    # They take more than is kept free for the end of a log and of a run.
    subprocess.run(["mount", "-o", "remount,size=64m", str(disk.folder)], check=True)
    ponk.run("history", "list")
    daemon = ponk.json("daemon", "status")["pid"]
    ponk.write("last.py", f"""import os, signal, ponk
ponk.log('loss', 1.0, step=0)
os.kill({daemon}, signal.SIGSTOP)
for step in range(120): ponk.log('note', os.urandom(75000).hex(), step=step)
with open({str(disk.ballast)!r}, 'ab', buffering=0) as out:
    for size in (1 << 16, 4096, 512, 1):
        try:
            while True: out.write(b'b' * size)
        except OSError:
            pass
os.kill({daemon}, signal.SIGCONT)
""")
    run = ponk.text("submit", "--async", "last.py").strip()
    assert wait_for(lambda: (ponk.task(run) / "exit").exists())
    time.sleep(1)
    disk.free()

    assert wait_for(lambda: ponk.json("history", "info", run)["status"] == "Completed")
    metrics = json.loads(ponk.text("history", "export", run))["metrics"]
    assert [metrics["loss"]["count"], metrics["note"]["count"]] == [1, 120]


def test_what_was_logged_is_read_without_room(ponk, disk):
    tracking = Tracking(ponk)
    run = tracking.ask("POST", "runs/create", {"experiment_id": "0"})["run"]["info"]["run_id"]

    def log(first):
        return tracking.call("POST", "runs/log-batch", {"run_id": run, "metrics": [
            {"key": "loss", "value": math.sin(step), "timestamp": step, "step": step} for step in range(first, first + 1000)]}).status

    assert log(0) == 200
    disk.fill()
    steps = 1000
    while (status := log(steps)) == 200:
        steps += 1000
    assert status == 503

    info = tracking.ask("GET", "runs/get", {"run_id": run})["run"]
    assert [(each["key"], each["step"]) for each in info["data"]["metrics"]] == [("loss", steps - 1)]
    found = tracking.ask("POST", "runs/search", {"experiment_ids": ["0"], "filter": "metrics.loss < 2"})
    assert [each["info"]["run_id"] for each in found["runs"]] == [run]
    assert ponk.json("history", "list", "-A")[0]["run_id"] == run
    curve = ponk.json("history", "chart", run, "-m", "loss")[0]["series"][0]
    assert curve["points"][-1][0] == steps - 1
    disk.free()
    assert log(steps) == 200
    history = ponk.json("history", "chart", run, "-m", "loss", "--points", str(steps + 2000))[0]["series"][0]
    assert len(history["points"]) == steps + 1000
