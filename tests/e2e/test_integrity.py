# SPDX-License-Identifier: Apache-2.0
"""Stored things that were damaged: healed where the bytes are still there, told where they are not."""
import hashlib
import os
import random
import time

import pytest


def object_of(ponk, digest):
    return ponk.home / "store/objects" / digest[:2] / digest[2:]


def spoil(path, at=10):
    """Changes one byte of a stored file, which is read-only."""
    path.chmod(0o600)
    data = bytearray(path.read_bytes())
    data[at] ^= 0xFF
    path.write_bytes(bytes(data))


@pytest.mark.parametrize("command", [["submit", "a.py"], ["experiment", "rerun", "last"]])
def test_a_damaged_object_is_stored_again_from_the_project(ponk, command):
    ponk.write("a.py", "print(open('data.bin', 'rb').read()[:3])\n")
    data = b"abc" + os.urandom(20000)
    (ponk.project / "data.bin").write_bytes(data)
    ponk.run("submit", "a.py")
    spoil(object_of(ponk, hashlib.sha256(data).hexdigest()))

    done = ponk.run(*command)

    assert done.stdout == b"b'abc'\n"
    assert b"'data.bin' were damaged or missing and have been stored again" in done.stderr
    assert "data.bin" in ponk.json("history", "last")["warnings"][0]
    assert ponk.run("submit", "a.py").stderr.count(b"damaged") == 0


def test_a_damaged_list_of_files_is_stored_again(ponk):
    ponk.write("a.py", "print('kept')\n")
    ponk.run("submit", "a.py")
    spoil(object_of(ponk, ponk.json("history", "last")["snapshot"]))

    done = ponk.run("submit", "a.py")

    assert done.stdout == b"kept\n" and b"stored snapshot was damaged" in done.stderr


def test_every_reader_of_a_damaged_object_hears_the_truth(ponk, tmp_path):
    ponk.write("a.py", "print(1)\n")
    ponk.run("submit", "a.py")
    spoil(object_of(ponk, hashlib.sha256(b"print(1)\n").hexdigest()), at=3)
    ponk.write("a.py", "print(2)\n")

    for folder in ["first", "second"]:
        done = ponk.run("project", "restore", "last", "-d", tmp_path / folder, code=74)
        assert b"damaged" in done.stderr and b"hint:" in done.stderr


DAMAGES = {
    "first page": lambda f: noise(f, 0),
    "schema": lambda f: noise(f, 0, 100, 4000),
    "second page": lambda f: noise(f, 1),
    "middle": lambda f: noise(f, 7),
    "last page": lambda f: noise(f, f.stat().st_size // 4096 - 1),
    "cut": lambda f: os.truncate(f, 8192),
    "cut inside a page": lambda f: os.truncate(f, 5000),
    "empty": lambda f: os.truncate(f, 0),
    "gone": lambda f: f.unlink(),
    "folder": lambda f: (f.unlink(), f.mkdir()),
}


def noise(file, page, start=0, size=4096):
    with open(file, "r+b") as out:
        out.seek(page * 4096 + start)
        out.write(random.Random(page).randbytes(size))


@pytest.mark.parametrize("damage", DAMAGES)
def test_one_start_brings_history_back(ponk, damage, tmp_path):
    ponk.write("a.py", "import os, ponk\nponk.log('loss', 0.5)\nos.makedirs('outputs', exist_ok=True)\nopen('outputs/m', 'w').write('model')\nprint('kept')\n")
    ponk.run("submit", "--name", "first", "--tag", "k=v", "a.py")
    before = ponk.json("history", "last")
    ponk.run("daemon", "stop")
    DAMAGES[damage](ponk.home / "history/history.db")

    # The very first answer after the start.
    done = ponk.run("history", "download", "last", "-d", tmp_path / "got")

    assert b"was damaged" in done.stderr
    assert (tmp_path / "got/outputs/m").read_text() == "model"
    after = ponk.json("history", "last")
    for field in ["run_id", "run_number", "status", "name", "tags", "loss", "outputs", "snapshot", "duration_ms", "exit_code", "created_utc"]:
        assert after[field] == before[field], field
    assert list((ponk.home / "history").glob("*.damaged-*")) or damage == "gone"


def test_ended_runs_are_shown_as_ended_from_the_first_answer(ponk):
    ponk.write("a.py", "print(1)\n")
    for _ in range(5):
        ponk.run("submit", "a.py")
    ponk.run("daemon", "stop")
    (ponk.home / "history/history.db").unlink()
    for note in ponk.home.glob("runs/*/end.json"):
        note.unlink()  # as after a power cut

    assert [run["status"] for run in ponk.json("history", "list")] == ["Completed"] * 5


def test_damage_met_while_the_daemon_runs_is_mended_by_the_same_command(ponk):
    ponk.write("a.py", "print('kept')\n")
    for number in range(30):
        ponk.run("submit", "--async", "--tag", f"k={'x' * 900}{number}", "a.py")
    ponk.run("daemon", "stop")
    ponk.run("daemon", "status", code=69)
    ponk.json("history", "list", "--query", "[0].run_id")
    database = ponk.home / "history/history.db"
    for page in range(1, database.stat().st_size // 4096):
        noise(database, page)

    runs = ponk.json("history", "list")

    assert len(runs) == 30


def test_doctor_reads_all_of_the_database_and_tells_damage(ponk):
    ponk.write("a.py", "print('kept')\n")
    for number in range(8):
        ponk.run("submit", "--tag", f"k={'x' * 900}{number}", "a.py")
    ponk.run("daemon", "stop")
    ponk.json("history", "list", "--query", "[0].run_id")
    database = ponk.home / "history/history.db"
    for page in range(database.stat().st_size // 8192, database.stat().st_size // 4096):
        noise(database, page)

    found = {check["name"]: check for check in ponk.json("doctor", "--full", code=None)}

    # It may have met the damage just before it looked for it, and come back without.
    assert found["database"]["status"] != "ok" and "damaged" in found["database"]["message"]
    assert len(ponk.json("history", "list")) == 8


def test_odd_things_among_the_outputs_are_told_by_name(ponk, tmp_path):
    ponk.write("odd.py", """import os, socket
os.makedirs('outputs/d')
open('outputs/d/m', 'w').write('model')
os.mkfifo('outputs/pipe')
socket.socket(socket.AF_UNIX).bind('outputs/sock')
os.symlink('d/m', 'outputs/inside')
os.symlink('d', 'outputs/folder')
os.symlink('/etc/passwd', 'outputs/outside')
os.symlink('nowhere', 'outputs/dangling')
""")

    done = ponk.run("submit", "odd.py")

    warnings = ponk.json("history", "last")["warnings"]
    for name in ["pipe", "sock", "outside"]:
        assert done.stderr.decode().count(f"'{name}'") == 1
        assert sum(f"'{name}'" in text for text in warnings) == 1
    ponk.run("history", "download", "last", "-d", tmp_path / "got")
    got = tmp_path / "got/outputs"
    assert (got / "inside").is_symlink() and (got / "inside").read_text() == "model"
    assert os.readlink(got / "folder") == "d"
    assert os.readlink(got / "dangling") == "nowhere"
    assert not (got / "outside").is_symlink() and not (got / "outside").exists()


def test_outputs_that_are_a_link_are_told(ponk, tmp_path):
    ponk.write("a.py", f"import os\nos.rmdir('outputs')\nos.symlink({str(tmp_path)!r}, 'outputs')\n")

    done = ponk.run("submit", "a.py")

    assert b"'outputs' is a link, which is not followed: nothing was collected" in done.stderr


def test_a_damaged_list_of_outputs_hides_nothing_else(ponk, tmp_path):
    ponk.write("a.py", "import os\nos.makedirs('outputs', exist_ok=True)\nopen('outputs/m', 'w').write('model')\nprint('kept')\n")
    ponk.run("submit", "a.py")
    spoil(object_of(ponk, ponk.json("history", "last")["outputs"]))

    done = ponk.run("history", "download", "last", "-d", tmp_path / "got", code=74)

    assert (tmp_path / "got/driver_log").read_text() == "kept\n"
    assert b"outputs" in done.stderr and b"damaged" in done.stderr
    info = ponk.json("history", "info", "last")
    assert info["attachments"] == "driver_log"
    assert any("outputs" in text and "damaged" in text for text in info["warnings"])
    ponk.run("history", "info", "last")
    assert ponk.text("logs", "last") == "kept\n"
    ponk.run("experiment", "diagnostics", "last", "-d", tmp_path / "d.zip")


def test_one_damaged_output_hides_none_of_the_others(ponk, tmp_path):
    ponk.write("a.py", "import os\nos.makedirs('outputs', exist_ok=True)\nfor n in 'abc': open('outputs/' + n, 'w').write('this is ' + n)\n")
    ponk.run("submit", "a.py")
    spoil(object_of(ponk, hashlib.sha256(b"this is b").hexdigest()), at=3)

    done = ponk.run("history", "download", "last", "-d", tmp_path / "got", code=74)

    assert sorted(os.listdir(tmp_path / "got/outputs")) == ["a", "c"]
    assert b"outputs/b" in done.stderr and b"damaged" in done.stderr


def test_diagnostics_of_a_damaged_snapshot_hold_the_rest_and_name_the_damage(ponk, tmp_path):
    import zipfile
    ponk.write("a.py", "print('kept')\n")
    ponk.write("b.py", "print('other')\n")
    ponk.run("submit", "a.py")
    spoil(object_of(ponk, hashlib.sha256(b"print('other')\n").hexdigest()), at=3)

    done = ponk.run("experiment", "diagnostics", "last", "-d", tmp_path / "d.zip")

    archive = zipfile.ZipFile(tmp_path / "d.zip")
    assert {"run.json", "driver_log.txt", "control_log.txt", "project/a.py", "problems.txt"} <= set(archive.namelist())
    assert "b.py" in archive.read("problems.txt").decode()
    assert b"b.py" in done.stderr


def in_place_of(make):
    def put(path):
        path.unlink()
        make(path)
    return put


NO_OBJECTS = {
    "pipe": in_place_of(os.mkfifo),
    "folder": in_place_of(lambda path: path.mkdir()),
    "link": in_place_of(lambda path: path.symlink_to(path.name)),
}


@pytest.mark.parametrize("kind", NO_OBJECTS)
@pytest.mark.parametrize("command", [["submit", "a.py"], ["experiment", "rerun", "last"]])
def test_what_is_no_file_among_the_objects_is_put_aside_and_stored_again(ponk, kind, command):
    ponk.write("a.py", "print('ran')\n")
    time.sleep(0.2)  # a file that changed a moment ago is read again, which heals without a word
    ponk.run("submit", "a.py")
    NO_OBJECTS[kind](object_of(ponk, hashlib.sha256(b"print('ran')\n").hexdigest()))

    done = ponk.run(*command, timeout=30)

    assert done.stdout == b"ran\n" and b"'a.py' were damaged or missing and have been stored again" in done.stderr
    assert len(list((ponk.home / "store/quarantine").iterdir())) == 1
    assert ponk.run(*command).stderr.count(b"damaged") == 0


@pytest.mark.parametrize("kind", NO_OBJECTS)
def test_a_file_that_is_read_anew_replaces_what_is_no_file_among_the_objects(ponk, kind):
    ponk.write("a.py", "print('ran')\n")
    os.utime(ponk.project / "a.py", (time.time() + 3600,) * 2)  # never old enough to be believed unread
    ponk.run("submit", "a.py")
    NO_OBJECTS[kind](object_of(ponk, hashlib.sha256(b"print('ran')\n").hexdigest()))

    assert ponk.run("submit", "a.py", timeout=30).stdout == b"ran\n"
    assert len(list((ponk.home / "store/quarantine").iterdir())) == 1


@pytest.mark.parametrize("kind", NO_OBJECTS)
def test_what_is_no_file_among_the_objects_ends_a_rerun_that_cannot_heal(ponk, kind):
    ponk.write("a.py", "print('ran')\n")
    ponk.run("submit", "a.py")
    NO_OBJECTS[kind](object_of(ponk, hashlib.sha256(b"print('ran')\n").hexdigest()))
    ponk.write("a.py", "print('other')\n")

    done = ponk.run("experiment", "rerun", "last", code=72, timeout=30)

    assert b"not a regular file" in done.stderr and b"hint:" in done.stderr
