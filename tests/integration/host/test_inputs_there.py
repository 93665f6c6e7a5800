# SPDX-License-Identifier: Apache-2.0
"""Data that does not travel with the project, on another machine: sent once, shared, read-only."""
import os
import random
import signal
import subprocess

import host as hosts
import pytest
from test_host import wait_until

READ = "print(open('data/x.csv').read(), open('data/deep/y.csv').read())\n"


@pytest.fixture
def project(away):
    away.write("train.py", READ)
    away.write(".gitignore", "data/\n")
    away.write("data/x.csv", "12345")
    away.write("data/deep/y.csv", "678")
    os.symlink("deep/y.csv", away.project / "data/link")
    return away


def inputs(ponk):
    return ponk.json("history", "last")["configuration"]["inputs"]


def trees(machine):
    return sorted((machine.home / ".ponk/inputs").iterdir())


def tree_of(ponk, machine):
    return machine.home / ".ponk/inputs" / inputs(ponk)[0]["tree"][:64]


@pytest.mark.parametrize("target", ["plain", "docker"])
def test_an_input_is_sent_once_and_nothing_of_it_is_stored_here(project, machine, target):
    first = project.run("submit", "-c", target, "--input", "data", "train.py")
    assert first.stdout == b"12345 678\n"
    found = inputs(project)[0]
    assert (found["path"], found["files"], found["bytes"], len(found["tree"])) == ("data", 2, 8, 64)
    there = tree_of(project, machine)
    before = {path: os.lstat(path).st_ctime_ns for path in (there / "tree").rglob("*")}
    assert len(before) == 4 and (there / "tree/link").read_text() == "678"

    second = project.run("submit", "-c", target, "--input", "data", "train.py")

    assert second.stdout == b"12345 678\n"
    assert {path: os.lstat(path).st_ctime_ns for path in (there / "tree").rglob("*")} == before
    held = [path.read_bytes() for path in (project.home / "store/objects").rglob("*") if path.is_file()]
    assert b"678" not in held


@pytest.mark.parametrize("target", ["plain", "docker"])
def test_a_single_file_from_elsewhere(project, machine, target, tmp_path):
    (tmp_path / "w.bin").write_text("weights")
    (tmp_path / "other").write_text("not asked for")
    project.write("read.py", "print(open('models/new/w.bin').read())\n")

    assert project.text("submit", "-c", target, "--input", f"models/new/w.bin={tmp_path}/w.bin", "read.py") == "weights\n"

    assert inputs(project)[0]["tree"].endswith("/w.bin")
    assert [path.name for path in (tree_of(project, machine) / "tree").iterdir()] == ["w.bin"]


def test_a_container_cannot_write_there(project, machine):
    project.write("w.py", "open('data/x.csv', 'w').write('1')\n")
    done = project.run("submit", "-c", "docker", "--input", "data", "w.py", code=1)
    assert b"Read-only file system" in done.stdout + done.stderr
    assert project.json("history", "last")["warnings"] == []


def test_a_change_there_is_noticed_and_put_right(project, machine):
    """The user of the tests' machine is root, whom no permission stops."""
    project.write("w.py", "import os\nopen('data/x.csv', 'r+').write('9')\nopen('data/more', 'w').close()\n")

    project.run("submit", "-c", "plain", "--input", "data", "w.py")

    warnings = project.json("history", "last")["warnings"]
    assert len(warnings) == 1 and warnings[0].startswith("input 'data' was changed on the machine where it ran")
    done = project.run("submit", "-c", "plain", "--input", "data", "train.py")
    assert done.stdout == b"12345 678\n"
    assert not (tree_of(project, machine) / "tree/more").exists()
    assert (project.project / "data/x.csv").read_text() == "12345"


def test_a_rerun_reports_other_contents_and_sends_what_is_there_now(project, machine):
    project.run("submit", "-c", "plain", "--input", "data", "train.py")
    same = project.run("experiment", "rerun", "last")
    project.write("data/x.csv", "54321")
    other = project.run("experiment", "rerun", "1")

    assert b"input 'data'" not in same.stderr and same.stdout == b"12345 678\n"
    assert b"input 'data' has other contents" in other.stderr and other.stdout == b"54321 678\n"
    assert "tree" in project.text("history", "compare", "1", "3")


def test_a_transfer_that_was_cut_goes_on_where_it_was(project, machine):
    (project.project / "data/large").write_bytes(random.Random(1).randbytes(4 << 20) * 64)
    project.write("train.py", "import hashlib; print(hashlib.sha256(open('data/large', 'rb').read()).hexdigest())\n")
    want = project.text("submit", "--input", "data", "train.py")
    before = set(trees(machine)) if (machine.home / ".ponk/inputs").exists() else set()
    run = subprocess.Popen([project.program, "submit", "-c", "plain", "--input", "data", "train.py"], cwd=project.project,
                           env=project.environment, stdin=subprocess.DEVNULL, stdout=subprocess.PIPE, stderr=subprocess.PIPE)
    try:
        def arrived():
            for tree in set(trees(machine)) - before:
                if (tree / "arrived").exists() and b"1" in (tree / "arrived").read_bytes().partition(b"\n")[2]:
                    return tree
            return None
        tree = wait_until(lambda: (machine.home / ".ponk/inputs").exists() and arrived())
        for pid in machine.sessions():
            hosts.signal_process(pid, signal.SIGKILL)
        assert not (tree / "whole").exists(), "it was cut in the middle"
        output, _ = run.communicate(timeout=300)
    finally:
        run.kill()

    assert (run.returncode, output.decode()) == (0, want)


def test_a_machine_with_too_little_disk_says_so_before_anything_is_sent(project, machine, tmp_path):
    scratch = tmp_path / "small"
    scratch.mkdir()
    there = ["nsenter", "-t", str(machine.process.pid), "-m"]  # its sshd has mounts of its own
    subprocess.run([*there, "mount", "-t", "tmpfs", "-o", "size=100m", "tmpfs", scratch], check=True)
    try:
        (project.project / "data/large").write_bytes(b"x" * (100 << 20))
        project.write("aml_config/plain.compute", machine.compute("remote", "pythonLocation: python3", f"scratch: {scratch}"))
        done = project.run("submit", "-c", "plain", "--input", "data", "train.py", code=None)
        assert done.returncode != 0
        assert b"input 'data' needs 100.0 MiB more in" in done.stderr and b"MiB free" in done.stderr
        assert b"scratch: FOLDER" in done.stderr
    finally:
        subprocess.run([*there, "umount", "-l", scratch], check=True)
