# SPDX-License-Identifier: Apache-2.0
"""What the supervisor promises, checked on the binary itself: for this processor, and for the
foreign one under qemu. PONK_BUILD names the build folder."""
import hashlib
import json
import os
import platform
import random
import shutil
import signal
import subprocess
import sys
import time
import zlib

import pytest

from stub_driver import StubRun, alive, is_locked

BUILD = os.environ.get("PONK_BUILD", "build/dev")
PYTHON = sys.executable


def stub_command(processor):
    binary = os.path.abspath(os.path.join(BUILD, "src/stub/ponk-stub-" + processor))
    if not os.path.exists(binary) or os.path.getsize(binary) == 0:
        pytest.skip("no supervisor for %s in %s" % (processor, BUILD))
    if processor == platform.machine():
        return [binary]
    emulator = shutil.which("qemu-%s-static" % processor)
    if not emulator:
        pytest.skip("no qemu for %s" % processor)
    return [emulator, binary]


@pytest.fixture(params=["x86_64", "aarch64"])
def stub(request, tmp_path):
    return StubRun(stub_command(request.param), tmp_path)


@pytest.fixture
def reaping_stub(stub):
    if len(stub.command) > 1:
        pytest.skip("qemu-user 7.2 has no PR_SET_CHILD_SUBREAPER")
    return stub


def sh(text):
    return ["/bin/sh", "-c", text]


@pytest.mark.parametrize("script, code, signal_", [
    ("exit 0", "0", "0"), ("exit 3", "3", "0"), ("exit 127", "127", "0"), ("exit 255", "255", "0"),
    ("kill -SEGV $$", "0", "11"), ("kill -9 $$", "0", "9")])
def test_true_end(stub, script, code, signal_):
    record = stub.run(sh(script))
    assert (record["code"], record["signal"], record["cause"]) == (code, signal_, "script")


def test_a_lock_is_shared_only_when_it_is_noted_for_this_run(stub, tmp_path):
    lock = tmp_path / "GPU-0.lock"
    lock.write_text('{"user":"ann","run":"another","pid":1,"since":1}\n')
    stub.write_spec(sh("exit 0"), hold=lock)
    pid, said = stub.start()
    os.waitpid(pid, 0)
    assert said == "error another run has the GPU by now\n" and not is_locked(lock)
    os.rmdir(stub.path("claim"))
    lock.write_text('{"user":"ann","run":"run%d","pid":1,"since":1}\n' % os.getpid())
    stub.write_spec(sh("read line <" + stub.path("go")), hold=lock)
    os.mkfifo(stub.path("go"))
    pid, said = stub.start()
    assert said == "started\n" and is_locked(lock)
    with open(stub.path("go"), "w") as go:
        go.write("on\n")
    stub.wait(pid)
    assert not is_locked(lock)


def test_missing_program_is_told_apart_from_exit_127(stub):
    record = stub.run(["/no/such/program"])
    assert record["cause"] == "start-failure" and record["code"] == "127"
    assert record["message"] == "cannot execute '/no/such/program': No such file or directory"


def test_program_that_may_not_be_executed(stub):
    path = os.path.join(stub.work, "plain")
    with open(path, "w") as out:
        out.write("text")
    record = stub.run([path])
    assert record["cause"] == "start-failure" and record["code"] == "126"
    assert "Permission denied" in record["message"]


def test_missing_folder(stub):
    os.rmdir(stub.work)
    record = stub.run(sh("exit 0"))
    assert record["cause"] == "start-failure" and "cannot enter the folder" in record["message"]


@pytest.mark.parametrize("size", [0, 1, 55, 56, 63, 64, 65, 1 << 20, 5_000_001])
def test_log_is_exact_and_its_checksum_true(stub, size):
    data = random.Random(size).randbytes(size)
    with open(os.path.join(stub.work, "data"), "wb") as out:
        out.write(data)
    record = stub.run(sh("cat data"))
    assert stub.log() == data
    assert record["log-length"] == str(size)
    assert record["log-sha256"] == hashlib.sha256(data).hexdigest()


def test_both_streams_keep_their_order(stub):
    stub.run(sh("for i in 1 2 3; do echo out$i; echo err$i >&2; done; printf end"))
    assert stub.log() == b"out1\nerr1\nout2\nerr2\nout3\nerr3\nend"


def test_hundred_megabytes_without_newline(stub):
    started = time.monotonic()
    record = stub.run(sh("head -c 104857600 /dev/zero"))
    assert record["log-length"] == str(100 << 20)
    assert record["log-sha256"] == hashlib.sha256(bytes(100 << 20)).hexdigest()
    assert time.monotonic() - started < 60
    # What was reserved behind the end is given back.
    assert os.stat(stub.path("log")).st_blocks * 512 < (100 << 20) + (1 << 20)


def test_environment_is_any_bytes_and_nowhere_on_disk(stub):
    env = {b"PATH": b"/usr/bin:/bin", b"A": b"two\nlines", b"B": b"\xff\xfe'\"$x", b"C": b"",
           b"SECRET": b"hidden-value-4711"}
    stub.run(["/usr/bin/env", "-0"], env=env)
    words = set(stub.log().split(b"\0")[:-1])
    assert {b"A=two\nlines", b"B=\xff\xfe'\"$x", b"C=", b"SECRET=hidden-value-4711"} <= words
    os.unlink(stub.path("log"))
    for folder, _, names in os.walk(stub.directory):
        for name in names:
            with open(os.path.join(folder, name), "rb") as found:
                assert b"hidden-value" not in found.read()


def test_ten_thousand_arguments_of_any_bytes(stub):
    words = ["%d %s" % (i, os.fsdecode(b"\xff\n'\" ")) for i in range(10000)]
    stub.run(["/bin/sh", "-c", "printf '%s\\0' \"$@\"", "sh"] + words)
    assert stub.log().split(b"\0")[:-1] == [os.fsencode(word) for word in words]


def test_standard_input_folder_umask_and_descriptors(stub):
    stub.run(sh("cat; pwd; umask; ls -l /proc/self/fd | wc -l; readlink /proc/$$/fd/0"), umask="27")
    lines = stub.log().decode().split("\n")
    assert lines[0] == stub.work and lines[1] in ("0027", "027") and lines[3] == "/dev/null"
    # "total", 0-2, the folder that ls reads, and the lock: nothing else leaks into the script.
    assert int(lines[2]) <= 6


def test_second_launch_is_refused(stub):
    stub.write_spec(sh("sleep 0.3; echo once"))
    pid, said = stub.start()
    assert said == "started\n"
    assert is_locked(stub.path("lock"))
    second, answer = stub.start()
    assert answer == "claimed\n"
    assert os.waitstatus_to_exitcode(os.waitpid(second, 0)[1]) == 75
    stub.wait(pid)
    third, answer = stub.start()  # also after the end
    assert answer == "claimed\n"
    os.waitpid(third, 0)
    assert stub.log() == b"once\n"
    assert not is_locked(stub.path("lock"))


def test_time_limit(stub):
    record = stub.run(sh("echo begun; sleep 100"), time_limit_ms=300, grace_ms=5000)
    assert record["cause"] == "time-limit" and record["signal"] == "15"
    assert stub.log() == b"begun\n"


def test_cancel_kills_what_ignores_the_request(stub):
    stub.write_spec(sh("trap '' TERM; echo ready; (trap '' TERM; while :; do sleep 0.05; done) & "
                       "while :; do sleep 0.05; done"), grace_ms=300)
    pid, _ = stub.start()
    while stub.log() != b"ready\n":
        time.sleep(0.01)
    with open(stub.path("cancel"), "w") as out:
        out.write("300")
    os.kill(stub.pids()["stub"], signal.SIGTERM)
    record = stub.wait(pid)
    assert (record["cause"], record["signal"]) == ("cancel", "9")


def test_signal_that_nobody_of_ours_sent_is_no_cancel_and_leaves_time_to_say_goodbye(stub):
    stub.write_spec([PYTHON, "-c", """if True:
        import signal, sys, time
        signal.signal(signal.SIGTERM, lambda *_: (print("bye"), sys.exit(7)))
        print("ready", flush=True)
        time.sleep(100)"""])
    pid, _ = stub.start()
    while stub.log() != b"ready\n":
        time.sleep(0.01)
    os.kill(pid, signal.SIGTERM)  # the outer process passes it on
    record = stub.wait(pid)
    assert (record["cause"], record["code"]) == ("terminated", "7")
    assert stub.log() == b"ready\nbye\n"


def test_cancel_before_the_start(stub):
    with open(stub.path("cancel"), "w") as out:
        out.write("1000")
    record = stub.run(sh("echo never"))
    assert record["cause"] == "cancel" and stub.log() == b""


def test_other_signals_are_passed_on(stub):
    stub.write_spec(sh("trap 'echo usr1; exit 0' USR1; echo ready; while :; do sleep 0.02; done"))
    pid, _ = stub.start()
    while stub.log() != b"ready\n":
        time.sleep(0.01)
    os.kill(stub.pids()["stub"], signal.SIGHUP)  # ignored
    os.kill(stub.pids()["stub"], signal.SIGUSR1)
    stub.wait(pid)
    assert stub.log() == b"ready\nusr1\n"


def test_orphans_end_with_the_run(reaping_stub):
    stub = reaping_stub
    record = stub.run(sh("setsid sh -c 'sleep 100 & echo $! >p1; wait' & sleep 0.1; "
                         "(trap '' TERM; exec sleep 101) & echo $! >p2; sleep 0.2; exit 5"),
                      grace_ms=300)
    assert record["code"] == "5"
    assert int(record["survivors"]) >= 3 and record["unkillable"] == "0"
    for name in ("p1", "p2"):
        with open(os.path.join(stub.work, name)) as text:
            assert not alive(int(text.read()))


@pytest.mark.parametrize("victims", [["stub"], ["guard"]])
def test_one_of_the_two_supervisors_killed(reaping_stub, victims):
    stub = reaping_stub
    stub.write_spec(sh("echo a; sleep 0.4; echo b; exit 9"), time_limit_ms=60000)
    pid, _ = stub.start()
    for victim in victims:
        os.kill(stub.pids()[victim], signal.SIGKILL)
    record = stub.wait(0)
    assert (record["code"], record["signal"], record["cause"]) == ("9", "0", "script")
    assert stub.log() == b"a\nb\n"
    assert record["log-sha256"] == hashlib.sha256(b"a\nb\n").hexdigest()
    os.waitpid(pid, 0)


def test_killed_at_random_moments(reaping_stub, tmp_path):
    stub = reaping_stub
    chance = random.Random(7)
    for turn in range(25):
        run = StubRun(stub.command, tmp_path / ("turn%d" % turn))
        run.write_spec(sh("echo a; sleep 0.02; echo b; exit 9"))
        pid = os.fork()
        if pid == 0:  # the launcher may die with the supervisor: keep it apart
            run.start()
            os._exit(0)
        time.sleep(chance.random() * 0.06)
        try:
            os.kill(run.pids()["stub"], signal.SIGKILL)
        except (OSError, KeyError):
            pass
        record = run.wait(0)
        assert record["code"] == "9" and run.log() == b"a\nb\n", turn
        os.waitpid(pid, 0)


def test_evidence(stub):
    record = stub.run([PYTHON, "-c", "x = bytearray(80 << 20); import time; "
                                     "t = time.process_time()\nwhile time.process_time() < t + .2: pass"])
    assert int(record["user-ms"]) + int(record["system-ms"]) >= 200
    assert int(record["max-rss-kib"]) > 80 << 10
    assert int(record["duration-ms"]) >= 200
    assert " before, " in record["oom-evidence"]


@pytest.mark.skipif(os.getuid() != 0, reason="mounts a file system")
@pytest.mark.parametrize("kind", ["full while running", "full at once"])
def test_full_disk_still_gets_its_record(stub, tmp_path, kind):
    disk = tmp_path / "disk"
    disk.mkdir()
    subprocess.check_call(["mount", "-t", "tmpfs", "-o", "size=8m", "tmpfs", str(disk)])
    try:
        run = StubRun(stub.command, disk / "run")
        if kind == "full while running":
            script = "echo first; sleep 0.3; cat /dev/zero >../fill; echo last words; exit 4"
        else:
            script = "cat /dev/zero >../fill; exit 4"
        run.write_spec(sh(script))
        pid, said = run.start()
        assert said == "started\n"
        record = run.wait(pid)
        assert record["code"] == "4"
        if kind == "full while running":
            assert run.log().endswith(b"last words\n")
        assert record["log-sha256"] == hashlib.sha256(run.log()).hexdigest()
    finally:
        subprocess.check_call(["umount", "-l", str(disk)])


@pytest.mark.skipif(os.getuid() != 0, reason="mounts a file system")
@pytest.mark.parametrize("size, script, full", [
    ("3m", "echo fine", "0"),
    ("3m", "cat /dev/zero >../fill; echo 'still in the reserve'", "0"),
    ("3m", "cat /dev/zero >../fill; head -c 6000000 /dev/zero", "1"),
    ("8m", "head -c 20000000 /dev/zero", "1"),
])
def test_a_log_that_used_up_all_room_is_noted_and_no_other(stub, tmp_path, size, script, full):
    disk = tmp_path / "disk"
    disk.mkdir()
    subprocess.check_call(["mount", "-t", "tmpfs", "-o", "size=" + size, "tmpfs", str(disk)])
    try:
        run = StubRun(stub.command, disk / "run")
        run.write_spec(sh(script))
        pid, said = run.start()
        assert said == "started\n"
        assert run.wait(pid)["disk-full"] == full
    finally:
        subprocess.check_call(["umount", "-l", str(disk)])


def test_use_is_measured_every_few_seconds(reaping_stub):
    stub = reaping_stub
    stub.write_spec(sh("i=0; end=$(($(date +%s) + 7)); while [ $(date +%s) -lt $end ]; do i=$((i+1)); done"))
    pid, _ = stub.start()
    stub.wait(pid)
    found = [name for name in os.listdir(stub.path("journal")) if name.startswith("use-")]
    assert len(found) == 1
    with open(os.path.join(stub.path("journal"), found[0]), "rb") as journal:
        records = journal.read().split(b"\x1e")[1:]
    for record in records:
        assert int(record[:8], 16) == zlib.crc32(record[9:-1]) and record.endswith(b"\n")
    points = json.loads(records[1][9:])["points"]
    assert [point[0] for point in points] == ["system/run.cpu_utilization_percentage", "system/run.memory_usage_megabytes"]
    assert points[0][1] > 0 and points[1][1] > 0 and points[0][2] >= 5


def test_a_journal_folder_that_the_script_replaced_is_not_followed(reaping_stub, tmp_path):
    stub = reaping_stub
    there = tmp_path / "elsewhere"
    there.mkdir()
    stub.write_spec(sh(f"ln -s {there} ../journal; exec sleep 6"))
    pid, _ = stub.start()
    stub.wait(pid)
    assert os.listdir(there) == []
