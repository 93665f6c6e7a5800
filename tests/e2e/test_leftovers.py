# SPDX-License-Identifier: Apache-2.0
"""What a run leaves in its copy of the project: new and changed files stay and are named, the rest goes."""
import os
import pathlib
import time


def copy_of(ponk, run="last"):
    return ponk.home / "runs" / ponk.json("history", "info", run)["run_id"] / "work"


def files_in(folder):
    """Once nothing in it changes any more: what is removed goes right after the end."""
    seen = None
    for _ in range(100):
        now = sorted(str(path.relative_to(folder)) for path in pathlib.Path(folder).rglob("*"))
        if now == seen:
            return now
        seen = now
        time.sleep(0.1)
    raise AssertionError(seen)


def test_new_and_changed_files_stay_and_are_named(ponk):
    ponk.write("lib/tool.py", "VALUE = 1\n")
    ponk.write("lib/data.txt", "old")
    ponk.write("same.txt", "same")
    ponk.write("train.py", "import os, sys\nsys.path.insert(0, 'lib')\nimport tool\n"
                           "os.makedirs('saved/1')\nopen('saved/1/w.ckpt', 'wb').write(b'x' * 5000)\n"
                           "open('lib/data.txt', 'w').write('new')\nopen('outputs/m', 'w').write('1')\n"
                           "open('same.txt', 'w').write('same')\n")

    done = ponk.run("submit", "train.py")

    brief = ponk.json("history", "last")["run_id"][-8:]
    assert b"2 files outside of outputs/ (lib/data.txt, saved/1/w.ckpt; 4.9 KiB) are kept in the run's copy" in done.stderr
    assert f"'ponk experiment return {brief}'".encode() in done.stderr
    assert files_in(copy_of(ponk)) == ["lib", "lib/data.txt", "outputs", "outputs/m", "saved", "saved/1", "saved/1/w.ckpt"]
    ponk.run("experiment", "return", "last", "--overwrite")
    assert (ponk.project / "saved/1/w.ckpt").stat().st_size == 5000
    assert (ponk.project / "lib/data.txt").read_text() == "new"


def test_a_run_that_writes_nothing_leaves_nothing_and_says_nothing(ponk):
    ponk.write("a/b/c.py", "pass\n")
    ponk.write("train.py", "print('x')\n")
    os.symlink("a", ponk.project / "link")

    done = ponk.run("submit", "train.py")

    assert b"outside of outputs" not in done.stderr
    assert files_in(copy_of(ponk)) == ["outputs"]
    assert ponk.json("history", "last")["warnings"] == []
    assert ponk.run("experiment", "rerun", "last").stdout == b"x\n"


def test_a_failed_run_keeps_its_files_too(ponk):
    ponk.write("train.py", "open('core.txt', 'w').write('1')\nraise SystemExit(3)\n")

    said = ponk.run("submit", "train.py", code=3).stderr
    assert b"1 file outside of outputs/ (core.txt; 1 bytes) is kept in the run's copy" in said and b"copies it into" in said
    assert files_in(copy_of(ponk)) == ["core.txt", "outputs"]


def test_an_input_is_not_touched(ponk):
    ponk.write(".gitignore", "data/\n")
    ponk.write("data/x", "1")
    ponk.write("train.py", "open('data/x').read()\n")

    ponk.run("submit", "--input", "data", "train.py")

    assert "data" in files_in(copy_of(ponk)) and (ponk.project / "data/x").exists()


def test_a_link_that_the_script_made_leads_nothing_out(ponk, tmp_path):
    (tmp_path / "precious").write_text("1")
    ponk.write("lib/precious", "1")
    ponk.write("train.py", f"import os, shutil\nshutil.rmtree('lib')\nos.symlink({str(tmp_path)!r}, 'lib')\n")

    ponk.run("submit", "train.py")

    files_in(copy_of(ponk))
    assert (tmp_path / "precious").read_text() == "1"


def test_a_copy_that_a_killed_daemon_left_whole_is_trimmed_by_the_next(ponk):
    ponk.write("lib/tool.py", "VALUE = 1\n")
    ponk.write("train.py", "open('new.txt', 'w').write('1')\n")
    ponk.run("submit", "train.py")
    work = copy_of(ponk)
    assert files_in(work) == ["new.txt", "outputs"]
    # As if it had been killed right after it recorded the end.
    ponk.run("daemon", "stop")
    (work / "lib").mkdir()
    for name in ("lib/tool.py", "train.py"):
        (work / name).write_bytes((ponk.project / name).read_bytes())
    (work.parent / "staged").touch()

    ponk.run("runs")

    end = time.monotonic() + 60
    while (work.parent / "staged").exists() and time.monotonic() < end:
        time.sleep(0.05)
    assert not (work.parent / "staged").exists() and files_in(work) == ["new.txt", "outputs"]
