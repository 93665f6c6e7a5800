# SPDX-License-Identifier: Apache-2.0
"""Runs on another machine, over a real SSH connection, with and without containers, as a user meets them."""
import http.client
import json
import os
import pathlib
import shutil
import signal
import socket
import subprocess
import time

import host as hosts
import engine as engines
import points
import pytest
from test_programs import find_program

COUNT = """
import sys, time
for i in range({lines}):
    sys.stdout.write('%06d\\n' % i)
    if i % 50 == 0: sys.stdout.flush(); time.sleep(0.05)
sys.exit(7)
"""


def counted(lines):
    return "".join(f"{i:06d}\n" for i in range(lines))


@pytest.mark.parametrize("engine_too", [False, True])
def test_contract_of_executors(engine, engine_too):
    program = find_program("src/agent/ponk_remote_test")
    environment = dict(os.environ)
    if engine_too:
        environment.update(PONK_TEST_DOCKER=str(engine.socket), PONK_TEST_IMAGE=engines.IMAGE)
    wanted = "*remotedocker*" if engine_too else "*"
    done = subprocess.run([program, "--gtest_brief=1", f"--gtest_filter={wanted}"], capture_output=True, timeout=300, env=environment)
    assert done.returncode == 0, done.stdout.decode()[-4000:]


@pytest.mark.parametrize("target", ["plain", "docker"])
def test_submit_brings_log_metrics_outputs_and_code_home(away, machine, target, tmp_path):
    away.write("train.py", "import os, ponk, sys\nprint('in', os.getcwd())\nponk.log('loss', 0.5)\nos.makedirs('outputs', exist_ok=True)\n"
                           "open('outputs/m.txt', 'w').write('weights')\nsys.exit(3)\n")

    done = away.run("submit", "-c", target, "train.py", code=3)

    run = away.json("history", "info", "last")
    where = "/azureml-run" if target == "docker" else f"{machine.home}/.ponk/runs/{run['run_id']}/work"
    assert done.stdout == f"in {where}\n".encode()
    assert (run["status"], run["exit_code"], run["target"], run["loss"]) == ("Failed", 3, target, 0.5)
    away.run("history", "download", "last", "-d", tmp_path / "got")
    assert (tmp_path / "got/outputs/m.txt").read_text() == "weights"


def test_second_submit_sends_nothing_and_changed_file_alone_travels(away, machine):
    away.write("data.bin", os.urandom(3 << 20).hex())
    away.write("a.py", "print(len(open('data.bin').read()))\n")
    away.run("submit", "-c", "plain", "a.py")
    objects = set((machine.home / ".ponk/store/objects").glob("*/*"))

    assert away.text("submit", "-c", "plain", "a.py") == f"{6 << 20}\n"
    assert set((machine.home / ".ponk/store/objects").glob("*/*")) == objects

    away.write("a.py", "print('changed')\n")
    assert away.text("submit", "-c", "plain", "a.py") == "changed\n"
    new = set((machine.home / ".ponk/store/objects").glob("*/*")) - objects
    assert len(new) == 2, "the file and the manifest"


def test_very_many_files_travel_both_ways(away, machine):
    """Trees whose lists of files have more than 8 MiB, which is one object."""
    long = "n" * 240
    (away.project / "data").mkdir()
    for number in range(28_000):
        (away.project / "data" / f"{long}{number}").touch()
    away.write("a.py", f"import os\nnames = os.listdir('data')\nprint(len(names))\nos.makedirs('outputs', exist_ok=True)\n"
                       "for name in names: open('outputs/' + name, 'w').close()\n")

    assert away.text("submit", "-c", "plain", "a.py", timeout=300) == "28000\n"

    run = away.json("history", "info", "last")
    assert run["status"] == "Completed" and run["attachments"].count("outputs/") == 28_000


def test_environment_is_that_of_the_machine_and_secrets_arrive_hidden(away, machine):
    away.run("secret", "set", "TOKEN", input=b"tok-4711-xyzzy\n")
    away.write("aml_config/plain.runconfig", (away.project / "aml_config/plain.runconfig").read_text() +
               "EnvironmentVariables:\n  KEY: secret:TOKEN\n")
    away.write("a.py", "import os; print(os.environ['KEY'], len(os.environ['KEY']), os.environ['HOME'],"
                       " os.environ['AZUREML_NATIVE_SHARE_DIRECTORY'].startswith(os.environ['HOME'] + '/.azureml/share/'))\n")

    assert away.text("submit", "-c", "plain", "a.py") == f"*** 14 {machine.home} True\n"

    for place in (machine.home / ".ponk").rglob("*"):
        if place.is_file() and "work" not in place.parts and place.name != "log":
            assert b"tok-4711" not in place.read_bytes(), place


def test_the_python_and_the_packages_there_are_recorded_compared_and_checked(away, machine):
    # An environment of this machine is not one of the other.
    away.write(".venv/pyvenv.cfg", "home = /usr/bin\n")
    away.write(".venv/bin/python", "#!/bin/sh\necho from .venv\n")
    (away.project / ".venv/bin/python").chmod(0o755)
    away.write("aml_config/plain.compute", machine.compute("remote"))
    away.write("a.py", "import sys\nprint(sys.executable, sys.prefix)\n")

    for target, choice in (("docker", "those of the image"), ("plain", "the Python on PATH of the host")):
        done = away.run("submit", "-c", target, "a.py")
        run = away.json("history", "info", "last")
        had = run["environment"]
        assert done.stdout.decode().split() == [had["interpreter"], had["prefix"]], target
        assert f"packages: {choice} (Python {had['version']}, {had['packages']} packages)" in done.stderr.decode()
        assert had["choice"] == run["configuration"]["environment"]["choice"] == choice

    site = machine.home / ".local/lib" / f"python{had['version'].rpartition('.')[0]}" / "site-packages"
    (site / "tinytool-1.0.dist-info").mkdir(parents=True)
    try:
        again = away.run("experiment", "rerun", "2").stderr.decode()
    finally:
        shutil.rmtree(machine.home / ".local")
    assert "the packages are not those of the repeated run: tinytool 1.0 added" in again
    found = {field["field"]: field["values"] for field in away.json("history", "compare", "2", "3")["fields"]}
    assert found["packages.tinytool"] == [None, "1.0"]


def test_a_run_that_asks_for_no_gpu_sees_none_there(away, machine):
    away.write("show.py", "import os\nfor name in ('CUDA', 'HIP', 'ROCR'): print(name, repr(os.environ.get(name + '_VISIBLE_DEVICES')))\n")
    shown = away.run("submit", "-c", "plain", "--gpus", "none", "--env", "CUDA_VISIBLE_DEVICES=0", "show.py").stdout
    assert shown == b"CUDA ''\nHIP '-1'\nROCR '-1'\n"


@pytest.mark.parametrize("target", ["plain", "docker"])
def test_cancel_ends_it_there(away, machine, target):
    away.write("wait.py", "import time\nprint('up', flush=True)\ntime.sleep(600)\n")
    away.run("submit", "-c", target, "--async", "wait.py")
    run = wait_for(away, "Running")

    away.run("cancel", run["run_id"])

    assert wait_for(away, "Canceled")["exit_code"] is not None


def test_machine_that_is_away_is_a_flag_and_cancel_waits_for_it(away, machine):
    away.write("wait.py", "import time\nprint('up', flush=True)\ntime.sleep(600)\n")
    away.run("submit", "-c", "plain", "--async", "wait.py")
    run = wait_for(away, "Running")
    machine.network.cut()
    try:
        for pid in ssh_processes(away):
            hosts.signal_process(pid, signal.SIGKILL)
        flag = wait_until(lambda: away.json("history", "info", "last").get("unreachable"))
        assert flag["since"] and machine.address in flag["reason"]
        assert away.json("history", "info", "last")["status"] == "Running"
        assert "unreachable" in away.text("experiment", "status", run["run_id"], "-o", "table")
        assert "Running (unreachable)" in away.text("runs", "-o", "table")
        told = away.text("cancel", run["run_id"], "-o", "table")
        assert "is not canceled yet" in told and machine.address in told
        assert "(unreachable, cancel requested)" in away.text("runs", "-o", "table")
        assert away.json("history", "info", "last")["status"] == "Running"
    finally:
        machine.network.repair()

    ended = wait_for(away, "Canceled", seconds=90)
    assert "unreachable" not in ended


def test_run_that_ends_while_the_machine_is_away_is_collected_later(away, machine, tmp_path):
    away.write("a.py", "import time, os\nprint('begin', flush=True)\ntime.sleep(2)\nos.makedirs('outputs', exist_ok=True)\n"
                       "open('outputs/late', 'w').write('x' * 100000)\nprint('end')\n")
    away.run("submit", "-c", "docker", "--async", "a.py")
    run = wait_for(away, "Running")
    machine.network.cut()
    try:
        for pid in ssh_processes(away):
            hosts.signal_process(pid, signal.SIGKILL)
        os.kill(away.json("daemon", "status")["pid"], signal.SIGKILL)
        time.sleep(3)
    finally:
        machine.network.repair()

    assert wait_for(away, "Completed", seconds=90)["exit_code"] == 0
    assert away.text("logs", run["run_id"]) == "begin\nend\n"
    away.run("history", "download", run["run_id"], "-d", tmp_path / "got")
    assert (tmp_path / "got/outputs/late").read_text() == "x" * 100000


def test_everything_on_the_way_is_killed_and_nothing_is_lost(away, machine):
    away.write("count.py", COUNT.format(lines=3000))
    away.run("submit", "-c", "docker", "--async", "count.py")
    wait_for(away, "Running")
    for victims in (lambda: ssh_processes(away), machine.sessions, machine.helpers,
                    lambda: [away.json("daemon", "status")["pid"]]):
        for pid in victims():
            hosts.signal_process(pid, signal.SIGKILL)
        time.sleep(0.3)

    assert wait_for(away, "Failed", seconds=90)["exit_code"] == 7
    assert away.text("logs", "last") == counted(3000)


def test_engine_killed_there_with_live_restore(away, machine, engine):
    away.write("count.py", COUNT.format(lines=4000))
    away.run("submit", "-c", "docker", "--async", "count.py")
    wait_for(away, "Running")
    engine.stop(signal.SIGKILL)
    time.sleep(0.5)
    engine.start()

    assert wait_for(away, "Failed", seconds=90)["exit_code"] == 7
    assert away.text("logs", "last") == counted(4000)


def test_a_reboot_of_the_machine_is_told_as_such(ponk, tmp_path_factory):  # noqa: F811
    network = hosts.Network()
    network.start()
    ours = hosts.Host(tmp_path_factory.mktemp("m"), {}, network)
    ours.boot = "11111111-1111-4111-8111-111111111111"
    ours.start()
    try:
        ours.trust(ponk)
        ponk.environment["PATH"] = os.environ["PATH"]
        ponk.write("aml_config/plain.compute", ours.compute("remote", "pythonLocation: python3"))
        ponk.write("aml_config/plain.runconfig", "Target: plain\nFramework: Python\nPrepareEnvironment: false\n")
        ponk.write("slow.py", "import time\nfor i in range(3000): print(i, flush=True); time.sleep(0.1)\n")
        ponk.run("submit", "-c", "plain", "--async", "slow.py")
        deadline = time.monotonic() + 180
        while b"5\n" not in ponk.run("logs", "last").stdout:
            assert time.monotonic() < deadline
            time.sleep(0.2)

        ours.reboot("22222222-2222-4222-8222-222222222222")

        while (run := ponk.json("history", "info", "last"))["status"] in ("Running", "Finalizing"):
            assert time.monotonic() < deadline, run
            time.sleep(0.2)
        assert run["status"] == "Lost" and "reboot" in json.dumps(run["error"]), run
        assert ponk.run("logs", "last").stdout.startswith(b"0\n1\n2\n3\n4\n5\n")
        ponk.write("again.py", "print('again')\n")
        assert ponk.run("submit", "-c", "plain", "again.py").stdout == b"again\n"
    finally:
        ours.stop()
        network.stop()


def test_clean_takes_everything_of_the_run_away_there(away, machine):
    away.write("a.py", "print(1)\n")
    away.run("submit", "-c", "plain", "a.py")
    run = away.json("history", "info", "last")
    assert (machine.home / ".ponk/runs" / run["run_id"]).is_dir()

    away.run("experiment", "clean", run["run_id"], "--yes")

    assert not (machine.home / ".ponk/runs" / run["run_id"]).exists()
    assert away.text("logs", run["run_id"]) == "1\n"


@pytest.mark.parametrize("configuration", ["plain", "docker"])
def test_return_brings_files_that_are_no_outputs(away, machine, configuration):
    away.write("kept.txt", "as it was\n")
    away.write("a.py", "import os\nos.makedirs('made')\nopen('made/new.txt', 'w').write('new')\nopen('kept.txt', 'a').write('and more')\n")
    away.run("submit", "-c", configuration, "a.py")

    done = away.json("experiment", "return", "last")

    assert done["copied"] == ["made/new.txt"] and done["skipped"] == ["kept.txt"], done
    assert (away.project / "made/new.txt").read_text() == "new"
    away.run("experiment", "return", "last", "--overwrite")
    assert (away.project / "kept.txt").read_text() == "as it was\nand more"
    run = away.json("history", "info", "last")
    assert not list((away.home / "runs" / run["run_id"]).glob("returned-*"))
    away.run("experiment", "clean", run["run_id"], "--yes")
    assert b"no longer exists" in away.run("experiment", "return", run["run_id"], code=66).stderr


def test_check_tells_what_the_machine_is_and_has(away, machine, engine):
    away.run("history", "last", code=None)  # starts the daemon

    found = check(away, "docker")

    assert (found["type"], found["address"], found["reachable"]) == ("remotedocker", machine.address, True)
    facts = found["facts"]
    assert facts["architecture"] == os.uname().machine and facts["home"] == f"{machine.home}/.ponk" and facts["free_disk"] > 0
    assert facts["engine"]["live_restore"] is True and facts["engine"]["socket"] == str(engine.socket)
    assert [one for one in found["problems"] if one["severity"] == "error"] == []

    away.write("aml_config/plain.compute", machine.compute("remote", port=1))
    unknown = check(away, "plain")
    assert unknown["reachable"] is False and "never attached" in unknown["problems"][0]["what"]
    assert unknown["problems"][0]["hint"].endswith("ponk attach --from aml_config/plain.compute")
    machine.trust(away, port=1)
    gone = check(away, "plain")
    assert (gone["reachable"], gone["facts"]) == (False, None) and machine.address in gone["problems"][0]["what"]


def test_machine_that_does_not_answer_is_an_error_with_the_name(away, machine):
    away.write("aml_config/plain.compute", machine.compute("remote", port=1))
    machine.trust(away, port=1)
    away.write("a.py", "print(1)\n")

    done = away.run("submit", "-c", "plain", "a.py", code=None, timeout=120)

    assert done.returncode == 72
    assert f"{machine.address}".encode() in done.stderr


def test_home_where_nothing_may_be_executed_gets_advice(away, machine, tmp_path):
    place = tmp_path / "noexec"
    place.mkdir()
    # Its sshd sees mounts of its own.
    inside = ("nsenter", "-t", machine.process.pid, "-m")
    hosts.run(*inside, "mount", "-t", "tmpfs", "-o", "noexec,mode=700", "tmpfs", place)
    try:
        away.write("aml_config/plain.compute", machine.compute("remote", f"scratch: {place}"))
        away.write("a.py", "print(1)\n")
        done = away.run("submit", "-c", "plain", "a.py", code=None, timeout=120)
        assert done.returncode == 72 and b"noexec" in done.stderr and b"scratch:" in done.stderr, done.stderr
    finally:
        hosts.run(*inside, "umount", "-l", place)


def test_scratch_holds_everything_where_it_is_named(away, machine, tmp_path):
    away.write("aml_config/plain.compute", machine.compute("remote", "pythonLocation: python3", f"scratch: {tmp_path}/s p"))
    away.write("a.py", "import os; print(os.getcwd())\n")

    assert away.text("submit", "-c", "plain", "a.py").startswith(f"{tmp_path}/s p/ponk-0/runs/")


def test_old_program_that_was_damaged_there_is_replaced(away, machine):
    away.write("a.py", "print(1)\n")
    away.run("submit", "-c", "plain", "a.py")
    away.run("daemon", "stop")
    for program in (machine.home / ".ponk/bin").iterdir():
        program.unlink()
        program.write_bytes(b"#!/bin/sh\nexit 3\n")
        program.chmod(0o700)

    assert away.text("submit", "-c", "plain", "a.py") == "1\n"


def check(ponk, target):
    connection = http.client.HTTPConnection("daemon", timeout=90)
    connection.sock = socket.socket(socket.AF_UNIX)
    connection.sock.settimeout(90)
    connection.sock.connect(str(ponk.home / "daemon.sock"))
    connection.request("POST", "/api/v1/targets/check", json.dumps({"project": str(ponk.project), "target": target}),
                       {"Content-Type": "application/json"})
    answer = connection.getresponse()
    assert answer.status == 200, answer.read()
    return json.loads(answer.read())


def ssh_processes(ponk):
    """The ssh clients of this ponk: those that work in its folder."""
    found = []
    for entry in pathlib.Path("/proc").iterdir():
        if entry.name.isdigit():
            try:
                if os.readlink(entry / "cwd").startswith(str(ponk.home / "ssh")):
                    found.append(int(entry.name))
            except OSError:
                pass
    return found


def wait_until(question, seconds=60):
    for _ in range(seconds * 10):
        answer = question()
        if answer:
            return answer
        time.sleep(0.1)
    raise AssertionError("in vain")


def wait_for(ponk, *states, seconds=60):
    for _ in range(seconds * 10):
        run = ponk.json("history", "info", "last")
        if run["status"] in states:
            return run
        assert run["status"] not in ("Completed", "Failed", "Canceled", "Lost"), run
        time.sleep(0.1)
    raise AssertionError(f"still {run['status']}")


@pytest.mark.parametrize("target", ["plain", "docker"])
def test_numbers_of_event_files_become_metrics_while_the_run_goes_on(away, target):
    support = pathlib.Path(__file__).resolve().parents[2] / "support"
    away.write("event_writer.py", (support / "event_writer.py").read_text())
    away.write("train.py", "import time\nfrom event_writer import EventWriter\nwriter = EventWriter('logs/tb')\n"
                           "for i in range(20): writer.scalar('loss', i, i)\ntime.sleep(5)\nwriter.scalar('loss', 20, 20)\n")
    run = away.text("submit", "--async", "-c", target, "--tensorboard", "logs/tb", "train.py").strip()
    points.wait_for_points(away, run, "loss", 20)
    os.kill(away.json("daemon", "status")["pid"], signal.SIGKILL)
    away.run("logs", "--follow", run)
    found = points.wait_for_points(away, run, "loss", 21)
    assert [(point[0], point[2]) for point in found] == [(i, i) for i in range(21)]
