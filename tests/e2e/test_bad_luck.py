# SPDX-License-Identifier: Apache-2.0
"""What a script or a disk can do to us: nothing hangs, nothing is lost, every state is true."""
import os
import subprocess

import pytest
from workbench import own_metrics


def test_odd_entries_among_the_journals_stop_nothing(ponk):
    ponk.write("odd.py", """import os
folder = os.path.join(os.environ["PONK_RUN_DIRECTORY"], "journal")
os.makedirs(folder, exist_ok=True)
os.mkfifo(folder + "/f.journal")
os.symlink("/etc/passwd", folder + "/x.journal")
os.symlink("/dev/zero", folder + "/z.journal")
os.mkdir(folder + "/d.journal")
import ponk
ponk.log("loss", 0.5)
""")

    ponk.run("submit", "odd.py")

    assert own_metrics(ponk.json("history", "last")) == {"loss": 0.5}


def test_a_fifo_in_place_of_the_ignore_file_is_named(ponk):
    ponk.write("a.py", "pass\n")
    os.mkfifo(ponk.project / ".amlignore")

    done = ponk.run("submit", "a.py", code=65)

    assert b".amlignore' is not a regular file" in done.stderr
    ponk.run("daemon", "stop")


def test_a_run_whose_folder_vanished_is_lost(ponk):
    ponk.write("rm.py", "import os, shutil, sys\nshutil.rmtree(os.environ['PONK_RUN_DIRECTORY'])\nsys.exit(9)\n")

    done = ponk.run("submit", "rm.py", code=76)

    assert b"folder was removed" in done.stderr
    assert ponk.json("history", "last")["status"] == "Lost"


def test_outputs_of_any_name_come_back(ponk, tmp_path):
    names = ["back\\slash", "a%2Fb", "100%", "q?x#y&z", "two\nlines", "späß"]
    ponk.write("make.py", "import os\nos.makedirs('outputs', exist_ok=True)\nfor n in %r: open('outputs/' + n, 'w').write(n)\n" % names)
    ponk.run("submit", "make.py")

    ponk.run("history", "download", "last", "-d", tmp_path / "got")

    assert sorted(os.listdir(tmp_path / "got/outputs")) == sorted(names)


@pytest.mark.parametrize("damage", ["removed", "emptied", "torn"])
def test_runs_come_back_from_their_folders_when_the_database_is_gone(ponk, damage):
    ponk.write("a.py", "print('kept')\n")
    ponk.run("submit", "a.py")
    ponk.run("daemon", "stop")
    database = ponk.home / "history/history.db"
    if damage == "removed":
        database.unlink()
    elif damage == "emptied":
        database.write_bytes(b"")
    else:
        database.write_bytes(database.read_bytes()[:5000])

    assert ponk.text("logs", "last") == "kept\n"


def test_a_log_that_became_a_link_is_not_followed(ponk):
    ponk.write("link.py", "import os\nlog = os.path.join(os.environ['PONK_RUN_DIRECTORY'], 'log')\nos.unlink(log)\nos.symlink('/etc/passwd', log)\n")
    ponk.run("submit", "link.py", code=None)

    done = ponk.run("logs", "last", code=None)

    assert b"root:" not in done.stdout


@pytest.mark.skipif(os.getuid() != 0, reason="mounting a small disk needs root")
def test_a_log_that_fills_the_disk_hides_no_end(ponk, tmp_path):
    disk = tmp_path / "disk"
    disk.mkdir()
    subprocess.run(["mount", "-t", "tmpfs", "-o", "size=8m", "tmpfs", str(disk)], check=True)
    try:
        environment = {"PONK_HOME": str(disk / "home")}
        ponk.write("fill.py", "import sys\nfor i in range(12288): sys.stdout.write('x' * 1023 + '\\n')\n")

        ponk.run("submit", "fill.py", code=1, env=environment)

        assert b'"Failed"' in ponk.run("history", "last", "-o", "json", "--query", "status", env=environment).stdout
        ponk.run("daemon", "stop", env=environment)
    finally:
        subprocess.run(["umount", "-l", str(disk)], check=False)


def test_a_huge_hole_among_the_outputs_is_left_out_by_name(ponk):
    ponk.write("holes.py", "import os, sys\n"
                           "folder = os.environ['PONK_OUTPUTS_DIRECTORY']\n"
                           "os.makedirs(folder, exist_ok=True)\n"
                           "open(folder + '/model', 'w').write('model')\n"
                           "for name, size in (('some', 1 << 36), ('huge', 1 << 42)):\n"
                           "    with open(folder + '/' + name, 'wb') as file:\n"
                           "        try: file.truncate(size)\n"
                           "        except OSError: sys.exit(0)\n"
                           "print('made')\n")
    done = ponk.run("submit", "holes.py")
    if b"made" not in done.stdout:
        pytest.skip("the file system has no files of 4 TiB")
    record = ponk.json("history", "last")
    assert record["status"] == "Completed"
    assert any("'huge' has" in one and "left out" in one for one in record["warnings"]), record["warnings"]
    listed = ponk.json("history", "info", "last")["attachments"]
    assert "outputs/some" in listed and "outputs/model" in listed and "outputs/huge" not in listed, listed


def test_nothing_is_written_through_a_link_out_of_the_project(ponk, tmp_path):
    outside = tmp_path / "outside"
    outside.mkdir()
    (outside / "mine.compute").write_text("type: local\n")
    (outside / "mine.runconfig").write_text("Target: mine\n")
    (ponk.project / "aml_config").symlink_to(outside)
    for words in (("computetarget", "attach", "local", "--name", "other"), ("runconfig", "create", "--name", "other", "--target", "local"),
                  ("computetarget", "detach", "mine"), ("runconfig", "delete", "mine")):
        said = ponk.run(*words, code=None)
        assert said.returncode != 0 and b"outside the project" in said.stderr, (words, said.stderr)
    assert sorted(one.name for one in outside.iterdir()) == ["mine.compute", "mine.runconfig"]
