# SPDX-License-Identifier: Apache-2.0
"""What a run leaves in its copy of the project on another machine: checkpoints come home, what did not change goes."""
import pytest


@pytest.mark.parametrize("target", ["plain", "docker"])
def test_checkpoints_come_home_and_the_copy_is_trimmed(away, machine, target, tmp_path):
    away.write("lib/tool.py", "VALUE = 1\n")
    away.write("lib/data.txt", "old")
    away.write("train.py", "import os, sys\nsys.path.insert(0, 'lib')\nimport tool\nos.makedirs('checkpoints/1')\n"
                           "open('checkpoints/1/w.ckpt', 'wb').write(b'x' * 5000)\nopen('lib/data.txt', 'w').write('new')\n"
                           "open('outputs/m', 'w').write('1')\n")

    done = away.run("submit", "-c", target, "train.py")

    run = away.json("history", "last")["run_id"]
    assert b"1 file outside of outputs/ (lib/data.txt; 3 bytes) is kept in the run's copy" in done.stderr
    work = machine.home / ".ponk/runs" / run / "work"
    assert sorted(str(path.relative_to(work)) for path in work.rglob("*") if not path.is_dir()) == [
        "checkpoints/1/w.ckpt", "lib/data.txt", "outputs/m"]
    away.run("experiment", "return", "last", "--overwrite")
    assert (away.project / "lib/data.txt").read_text() == "new"
    cleaned = away.run("experiment", "clean", "last", "--yes")
    assert b"1 file outside of outputs, 3 bytes, is in its working copy only" in cleaned.stderr
    away.run("history", "download", "last", "-d", tmp_path / "got")
    assert (tmp_path / "got/outputs/checkpoints/1/w.ckpt").stat().st_size == 5000
    assert (tmp_path / "got/outputs/m").read_text() == "1"


def test_inputs_and_files_without_outputs(away, machine):
    away.write(".gitignore", "data/\n")
    away.write("data/x", "1")
    away.write("train.py", "import os\nos.mkdir('checkpoints')\nopen('checkpoints/a', 'w').write(open('data/x').read())\n")

    away.run("submit", "-c", "plain", "--input", "data", "train.py")

    last = away.json("history", "info", "last")
    assert "outputs/checkpoints/a" in last["attachments"] and last["warnings"] == []
    work = machine.home / ".ponk/runs" / last["run_id"] / "work"
    assert sorted(path.name for path in work.iterdir()) == ["checkpoints", "data", "outputs"]
