# SPDX-License-Identifier: Apache-2.0
"""Whose a card is: the queue, leases, strangers, and what others do to them."""
import json
import os
import signal
import subprocess
import time

from gpus import pids_of, side_of, sides_of, slow_supervisor, wait_for


def test_two_runs_on_one_card_queue_and_show_their_place(gpus, ponk):
    gpus.set([{"name": "Only"}])
    ponk.write("wait.py", "import os, time\nwhile not os.path.exists(os.environ['GO']): time.sleep(0.05)\n")
    go = gpus.file.parent / "go"
    ponk.environment["GO"] = str(go)
    first = ponk.run("submit", "--async", "wait.py").stdout.decode().strip()
    waiting = [subprocess.Popen([ponk.program, "submit", "wait.py"], cwd=ponk.project, env=ponk.environment,
                                stdout=subprocess.PIPE, stderr=subprocess.PIPE)]
    time.sleep(1)
    waiting.append(subprocess.Popen([ponk.program, "submit", "wait.py"], cwd=ponk.project, env=ponk.environment,
                                    stdout=subprocess.PIPE, stderr=subprocess.PIPE))
    time.sleep(1.5)
    listed = {record["run_id"]: record for record in ponk.json("history", "list")}
    assert sorted(record["status"] for record in listed.values()) == ["Queued", "Queued", "Running"]
    refused = ponk.run("submit", "--no-wait", "wait.py", code=None)
    assert refused.returncode != 0 and b"busy" in refused.stderr and first[-8:].encode() in refused.stderr
    # The daemon may die: who waits keeps its place.
    os.kill(ponk.json("daemon", "status")["pid"], signal.SIGKILL)
    go.touch()
    said = [process.communicate(timeout=60) for process in waiting]
    assert all(process.returncode == 0 for process in waiting), said
    assert b"number 2" in said[1][1] or b"before this one" in said[1][1], said[1][1]
    ended = [wait_for(ponk, run, "Completed") for run in listed if run]
    times = sorted((record["start_time_utc"], record["end_time_utc"]) for record in ended)
    assert all(before[1] <= after[0] for before, after in zip(times, times[1:])), times
    assert any(record["timings"]["queue"] > 1000 for record in ended)


def test_a_run_that_asked_is_never_shown_as_one_that_did_not(gpus, ponk):
    gpus.set([{"name": "Only"}])
    ponk.write("wait.py", "import time; time.sleep(60)\n")
    first = ponk.run("submit", "--async", "wait.py").stdout.decode().strip()
    runs = [ponk.run("submit", "--async", *words, "wait.py").stdout.decode().strip() for words in ([], ["--gpus", "1"])]
    for run in runs:
        assert wait_for(ponk, run, "Queued")["gpu_verdict"] is None
        os.kill(side_of(run), signal.SIGKILL)
        record = wait_for(ponk, run, "Lost")
        assert record["gpu_verdict"] == "unknown" and "did not get" in record["gpu_evidence"]["reason"]
    ponk.run("submit", "--gpus", "1", "--no-wait", "wait.py", code=None)
    record = ponk.json("history", "info", "last")
    assert record["status"] == "Failed" and record["gpu_verdict"] == "unknown"
    ponk.run("experiment", "cancel", first)


def test_cancel_leaves_the_queue(gpus, ponk):
    gpus.set([{"name": "Only"}])
    ponk.write("wait.py", "import time; time.sleep(60)\n")
    first = ponk.run("submit", "--async", "wait.py").stdout.decode().strip()
    waiting = subprocess.Popen([ponk.program, "submit", "wait.py"], cwd=ponk.project, env=ponk.environment,
                               stdout=subprocess.PIPE, stderr=subprocess.PIPE)
    for _ in range(100):
        queued = [record for record in ponk.json("history", "list") if record["status"] == "Queued"]
        if queued:
            break
        time.sleep(0.1)
    ponk.run("experiment", "cancel", queued[0]["run_id"])
    waiting.communicate(timeout=30)
    assert ponk.json("history", "info", queued[0]["run_id"])["status"] == "Canceled"
    ponk.run("experiment", "cancel", first)
    assert wait_for(ponk, first, "Canceled")
    ponk.write("a.py", "print('ran')\n")
    assert ponk.run("submit", "--no-wait", "a.py", timeout=30).stdout == b"ran\n"


def take_only_card(gpus, ponk, script):
    """The run that has it; `a.py` is there to ask for it, too."""
    gpus.set([{"name": "Only"}])
    ponk.write("work.py", script)
    ponk.write("a.py", "print('ran')\n")
    run = ponk.run("submit", "--async", "work.py").stdout.decode().strip()
    wait_for(ponk, run, "Running")
    return run


def test_the_card_is_kept_while_any_process_of_the_run_lives(gpus, ponk):
    run = take_only_card(gpus, ponk, "import time; time.sleep(60)\n")
    pids = pids_of(ponk, run)
    for role in ("stub", "guard"):
        os.kill(pids[role], signal.SIGKILL)
        assert b"busy" in ponk.run("submit", "--no-wait", "a.py", code=None).stderr
    os.kill(pids["main"], signal.SIGKILL)
    wait_for(ponk, run, "Failed", "Lost")
    assert ponk.run("submit", "--no-wait", "a.py").stdout == b"ran\n"


def test_a_script_that_closes_what_it_inherited_keeps_its_card(gpus, ponk):
    run = take_only_card(gpus, ponk, "import os, time; os.closerange(3, 4096); time.sleep(60)\n")
    time.sleep(1)
    pids = pids_of(ponk, run)
    for role in ("guard", "stub"):
        os.kill(pids[role], signal.SIGKILL)
    for _ in range(5):
        assert b"busy" in ponk.run("submit", "--no-wait", "a.py", code=None).stderr
        time.sleep(0.2)
    os.kill(pids["main"], signal.SIGKILL)
    wait_for(ponk, run, "Failed", "Lost")
    for _ in range(50):
        if ponk.run("submit", "--no-wait", "a.py", code=None).stdout == b"ran\n":
            return
    raise AssertionError("the card was not given back")


def test_a_run_that_is_lost_before_it_began_never_begins(gpus, ponk):
    gpus.set([{"name": "Only"}])
    ponk.write("hold.py", "import time; time.sleep(60)\n")
    holder = ponk.run("submit", "--async", "hold.py").stdout.decode().strip()
    wait_for(ponk, holder, "Running")
    marker = gpus.file.parent / "began"
    ponk.write("late.py", f"open({str(marker)!r}, 'w').close()\n")
    late = subprocess.Popen([ponk.program, "submit", "late.py"], cwd=ponk.project, env=ponk.environment, stdout=subprocess.DEVNULL,
                            stderr=subprocess.PIPE, text=True)
    run = next(line.split()[-1] for line in late.stderr if "RunId:" in line)
    wait_for(ponk, run, "Queued")
    slow_supervisor(ponk, 4)
    ponk.run("experiment", "cancel", holder)
    for _ in range(200):
        if subprocess.run(["pgrep", "-f", "ponk-stub-.*" + run], capture_output=True).stdout:
            break
        time.sleep(0.05)
    os.kill(sides_of(run)[0], signal.SIGKILL)
    wait_for(ponk, run, "Lost")
    time.sleep(5)
    assert not marker.exists()
    late.communicate(timeout=30)


def write_nested(ponk):
    ponk.write("inner.py", "import os; print('inner sees', repr(os.environ.get('CUDA_VISIBLE_DEVICES')))\n")
    ponk.write("outer.py", f"""import subprocess, sys
sys.exit(subprocess.run([{str(ponk.program)!r}, 'submit', *sys.argv[1:], 'inner.py']).returncode)
""")


def test_a_run_inside_a_run_does_not_wait_for_its_own_parent(gpus, ponk):
    gpus.set([{"name": "Only"}])
    write_nested(ponk)
    done = ponk.run("submit", "outer.py", timeout=60)
    assert b"inner sees ''" in done.stdout, "the card is not its own"
    done = ponk.run("submit", "outer.py", "--gpus", "1", code=None, timeout=60)
    assert done.returncode != 0 and b"which submits this run, holds the GPUs itself" in done.stdout, done.stdout


def test_a_run_inside_a_run_waits_for_cards_that_its_parent_does_not_have(gpus, ponk):
    write_nested(ponk)
    ponk.write("hold.py", "import time; time.sleep(60)\n")
    holder = ponk.run("submit", "--async", "--gpus", "GPU-1", "hold.py").stdout.decode().strip()
    wait_for(ponk, holder, "Running")
    outer = ponk.run("submit", "--async", "--gpus", "GPU-0", "outer.py", "--gpus", "1").stdout.decode().strip()
    for _ in range(100):
        if any(record["status"] == "Queued" for record in ponk.json("history", "list")):
            break
        assert ponk.json("history", "info", outer)["status"] != "Failed", ponk.text("logs", outer)
        time.sleep(0.1)
    ponk.run("experiment", "cancel", holder)
    wait_for(ponk, outer, "Completed")
    assert "inner sees 'GPU-1'" in ponk.text("logs", outer)


def test_a_run_that_its_parent_does_not_follow_waits_for_the_parents_end(gpus, ponk):
    gpus.set([{"name": "Only"}])
    write_nested(ponk)
    for words in ([], ["--gpus", "1"]):
        inner = ponk.run("submit", "outer.py", "--async", *words).stdout.decode().split()[-1]
        wait_for(ponk, inner, "Completed")
        assert "inner sees 'GPU-0'" in ponk.text("logs", inner)


def test_who_waits_survives_a_disturbed_folder_and_does_not_flood(gpus, ponk):
    stranger = subprocess.Popen(["sleep", "4321"])
    try:
        gpus.set([{"name": "Only", "processes": [{"pid": stranger.pid, "memory": 3 << 30}]}])
        ponk.write("a.py", "print('ran')\n")
        waiting = subprocess.Popen([ponk.program, "submit", "a.py"], cwd=ponk.project, env=ponk.environment,
                                   stdout=subprocess.PIPE, stderr=subprocess.PIPE)
        for number in range(30):
            gpus.set([{"name": "Only", "processes": [{"pid": stranger.pid, "memory": (3 << 30) + (number << 27)}]}])
            time.sleep(0.1)
        locks = gpus.file.parent / "locks"
        locks.chmod(0o755)
        time.sleep(0.6)
        locks.chmod(0o1777)
        gpus.set([{"name": "Only"}])
        out, said = waiting.communicate(timeout=60)
        assert out == b"ran\n", said
        assert said.count(b"waiting for GPUs") <= 3, said
    finally:
        stranger.kill()
        stranger.wait()


def test_a_driver_that_does_not_say_who_is_on_the_card_is_waited_for(gpus, ponk):
    ponk.write("a.py", "print('ran')\n")
    gpus.set([{"name": "Only"}], sample_fails="driver busy")
    refused = ponk.run("submit", "--no-wait", "--gpus", "1", "a.py", code=None)
    assert refused.returncode != 0 and b"driver busy" in refused.stderr, refused.stderr


def test_a_foreign_process_counts_as_busy(gpus, ponk):
    stranger = subprocess.Popen(["sleep", "4321"])
    try:
        gpus.set([{"name": "Only", "processes": [{"pid": stranger.pid, "memory": 3 << 30}]}])
        ponk.write("a.py", "print('ran')\n")
        said = ponk.run("submit", "--no-wait", "a.py", code=None).stderr.decode()
        assert f"process {stranger.pid} (sleep)" in said and "3.0 GiB" in said, said
    finally:
        stranger.kill()
        stranger.wait()


def test_a_screen_keeps_nobody_waiting(gpus, ponk):
    screen = subprocess.Popen(["sleep", "4321"])
    try:
        gpus.set([{"name": "Only", "processes": [{"pid": screen.pid, "memory": 400 << 20, "draws_only": True}]}])
        ponk.write("a.py", "print('ran')\n")
        assert ponk.run("submit", "--no-wait", "a.py").stdout == b"ran\n"
    finally:
        screen.kill()
        screen.wait()


def test_a_queued_run_shows_its_place_to_everybody_and_leaves_a_true_record(gpus, ponk):
    gpus.set([{"name": "Only"}])
    ponk.write("wait.py", "import time; time.sleep(60)\n")
    first = ponk.run("submit", "--async", "wait.py").stdout.decode().strip()
    wait_for(ponk, first, "Running")
    assert ponk.json("history", "info", first)["gpu_verdict"] is None
    second = ponk.run("submit", "--async", "wait.py").stdout.decode().strip()
    record = wait_for(ponk, second, "Queued")
    for _ in range(100):
        record = ponk.json("history", "info", second)
        if record["gpu_evidence"]:
            break
        time.sleep(0.1)
    assert record["gpu_evidence"]["phase"] == "queued" and record["gpu_evidence"]["position"] == 1, record
    assert first in json.dumps(record["gpu_evidence"]["waiting"]) and record["gpu_verdict"] is None
    assert b"queued (1)" in ponk.run("history", "list", "-o", "table").stdout
    follow = subprocess.Popen([ponk.program, "logs", "--follow", second], cwd=ponk.project, env=ponk.environment,
                              stdout=subprocess.PIPE, stderr=subprocess.PIPE)
    assert b"queued, position 1" in follow.stderr.readline()
    ponk.run("experiment", "cancel", second)
    said = follow.communicate(timeout=30)[1]
    assert b"ended before its script started: Canceled" in said, said
    record = wait_for(ponk, second, "Canceled")
    assert record["start_time_utc"] is None and record["exit_code"] is None and record["duration_ms"] is None
    assert record["timings"]["queue"] > 0, record["timings"]
    for words in (["logs", second], ["logs", "--follow", second]):
        assert b"ended before its script started: Canceled" in ponk.run(*words).stderr
    assert not {"position", "waiting"} & record["gpu_evidence"].keys(), record["gpu_evidence"]
    ponk.run("experiment", "cancel", first)
    wait_for(ponk, first, "Canceled")


def test_a_lost_card_is_named_and_not_called_free(gpus, ponk):
    gpus.set([{"name": "Only", "sample": {"utilisation": 0.0, "lost": "fallen off the bus"}}])
    ponk.write("a.py", "print('ran')\n")
    said = ponk.run("submit", "--no-wait", "a.py", code=None).stderr.decode()
    assert "GPU 0 (GPU-0) is lost (fallen off the bus)" in said, said


def test_a_card_that_was_away_is_taken_when_it_is_back(gpus, ponk):
    stranger = subprocess.Popen(["sleep", "4321"])
    try:
        gpus.set([{"name": "A", "processes": [{"pid": stranger.pid, "memory": 3 << 30}]}, {"name": "B"}])
        ponk.write("a.py", "import os; print(os.environ['CUDA_VISIBLE_DEVICES'])\n")
        run = ponk.run("submit", "--async", "--gpus", "GPU-0", "a.py").stdout.decode().strip()
        wait_for(ponk, run, "Queued")
        gpus.set([{"name": "A", "absent": True}, {"name": "B"}])
        time.sleep(3)
        gpus.set([{"name": "A"}, {"name": "B"}])
        wait_for(ponk, run, "Completed")
        assert ponk.text("logs", run) == "GPU-0\n"
    finally:
        stranger.kill()
        stranger.wait()


def test_a_driver_is_asked_seldom_while_a_stranger_stays(gpus, ponk):
    asked, probe = gpus.file.parent / "asked", gpus.file.parent / "probe"
    probe.write_text(f"#!/bin/sh\ntee -a {asked} | {ponk.environment['PONK_GPU_PROBE']}\n")
    probe.chmod(0o700)
    ponk.environment["PONK_GPU_PROBE"] = str(probe)
    stranger = subprocess.Popen(["sleep", "4321"])
    try:
        gpus.set([{"name": "A", "processes": [{"pid": stranger.pid, "memory": 3 << 30}]}, {"name": "B"}])
        ponk.write("a.py", "print('ran')\n")
        run = ponk.run("submit", "--async", "--gpus", "all", "a.py").stdout.decode().strip()
        wait_for(ponk, run, "Queued")
        time.sleep(6)
        # Ten in a second would be some sixty; with a quarter of the time waited between them it is a third of that.
        assert asked.read_text().count("sample") < 30
        ponk.run("experiment", "cancel", run)
    finally:
        stranger.kill()
        stranger.wait()


def test_a_lock_that_cannot_be_looked_at_is_told_while_the_run_lasts(gpus, ponk):
    ponk.write("wait.py", "import time; time.sleep(60)\n")
    run = ponk.run("submit", "--async", "--gpus", "1", "wait.py").stdout.decode().strip()
    wait_for(ponk, run, "Running")
    locks = gpus.file.parent / "locks"
    locks.chmod(0o755)
    told = ponk.task(run) / "gpu"
    for _ in range(100):
        if "the lock file of 'GPU-0' cannot be checked" in told.read_text():
            break
        time.sleep(0.1)
    assert "the lock file of 'GPU-0' cannot be checked" in told.read_text()
    locks.chmod(0o1777)
    ponk.run("experiment", "cancel", run)


def test_who_waits_ends_with_its_folder(gpus, ponk):
    gpus.set([{"name": "Only"}])
    ponk.write("wait.py", "import time; time.sleep(60)\n")
    first = ponk.run("submit", "--async", "wait.py").stdout.decode().strip()
    wait_for(ponk, first, "Running")
    second = ponk.run("submit", "--async", "wait.py").stdout.decode().strip()
    wait_for(ponk, second, "Queued")
    ponk.run("daemon", "stop")
    (ponk.home / "runs" / second).rename(ponk.home / "gone")
    for _ in range(100):
        if not sides_of(second):
            break
        time.sleep(0.1)
    assert not sides_of(second)
    ponk.run("experiment", "cancel", first)
