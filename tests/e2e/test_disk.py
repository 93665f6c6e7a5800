# SPDX-License-Identifier: Apache-2.0
"""What ponk's data takes on the disk, and how it is freed."""
import sqlite3
import time

import pytest

DAY_MS = 24 * 3600 * 1000


def part(report, name):
    return next(each["bytes"] for each in report["parts"] if each["part"].startswith(name))



def find_copy(ponk, run):
    """The run's copy of the project, wherever the layout has it."""
    return next((path for path in (ponk.home / "runs" / run).rglob("work") if path.is_dir()), None)


def age(ponk, run, days):
    """Makes the run's end that long ago. The daemon is not running meanwhile."""
    ponk.run("daemon", "stop")
    database = sqlite3.connect(ponk.home / "history" / "history.db")
    with database:
        database.execute("UPDATE run SET ended = ? WHERE id = ?", (int(time.time() * 1000) - days * DAY_MS, run))
    database.close()


@pytest.fixture
def left(ponk):
    """A run that left a file of 3 MB outside of outputs."""
    ponk.write("x.py", "open('big.bin', 'wb').write(bytes(3_000_000)); open('outputs/o', 'w').write('kept')\n")
    ponk.run("submit", "x.py")
    return ponk.json("history", "info", "last")["run_id"]


def test_disk_tells_what_takes_space_and_where(ponk, left):
    report = ponk.json("disk")
    assert part(report, "working copies") >= 3_000_000
    assert part(report, "history") > 0 and part(report, "snapshots") > 0
    assert report["bytes"] == sum(each["bytes"] for each in report["parts"])
    assert report["free_bytes"] > 0 and report["home"] == str(ponk.home)
    (project,) = [each for each in report["projects"] if each["runs"]]
    assert project["path"] == str(ponk.project) and project["copies_bytes"] >= 3_000_000


def test_prune_goes_by_age_shows_first_and_asks(ponk, left):
    young = ponk.json("prune", "--dry-run")
    assert young["copies"] == []
    age(ponk, left, 15)
    plan = ponk.json("prune", "--dry-run")
    (copy,) = plan["copies"]
    assert copy["run_id"] == left and copy["files"] == 1 and copy["bytes"] >= 3_000_000
    assert find_copy(ponk, left) is not None, "a dry run removes nothing"
    refused = ponk.run("prune", code=None)
    assert refused.returncode != 0 and b"1 file" in refused.stderr and find_copy(ponk, left) is not None
    done = ponk.json("prune", "--yes")
    assert [each["run_id"] for each in done["copies"]] == [left]
    assert find_copy(ponk, left) is None
    # All else of the run is there.
    assert ponk.json("history", "info", left)["status"] == "Completed"
    ponk.run("history", "download", left, "-d", ponk.project / "back", code=None)
    assert ponk.json("prune", "--yes")["copies"] == []


def test_prune_leaves_other_projects_and_runs_alone(ponk, left, tmp_path):
    other = tmp_path / "other"
    other.mkdir()
    (other / "y.py").write_text("import time; open('z', 'w').write('1')\n")
    ponk.run("submit", "y.py", cwd=other)
    theirs = ponk.json("history", "info", "last", cwd=other)["run_id"]
    age(ponk, left, 40)
    age(ponk, theirs, 40)
    done = ponk.json("prune", "--yes", "--this-project", cwd=other)
    assert [each["run_id"] for each in done["copies"]] == [theirs]
    assert find_copy(ponk, left) is not None


def test_prune_frees_the_store_of_deleted_runs_at_once(ponk):
    ponk.write("x.py", "import random; open('outputs/o', 'wb').write(random.Random(1).randbytes(4_000_000))\n")
    ponk.run("submit", "x.py")
    run = ponk.json("history", "info", "last")["run_id"]
    before = part(ponk.json("disk"), "snapshots")
    ponk.run("history", "delete", run, "--yes")
    freed = ponk.json("prune", "--yes")["store_bytes"]
    assert freed >= 4_000_000
    assert part(ponk.json("disk"), "snapshots") <= before - 4_000_000


def test_the_daemon_removes_old_copies_by_itself_and_says_so(ponk):
    ponk.write("x.py", "open('big.bin', 'wb').write(bytes(3_000_000)); open('outputs/o', 'w').write('kept')\n")
    runs = []
    for _ in range(3):
        done = ponk.run("submit", "x.py")
        assert b"is cleaned, at most 30 days: " in done.stderr
        runs.append(ponk.json("history", "info", "last")["run_id"])
    first, aged, newest = runs
    age(ponk, aged, 31)

    ponk.environment.update(PONK_COPY_KEEP_SIZE="4000000", PONK_JANITOR_SECONDS="1")
    ponk.run("runs")  # starts it

    log, end = ponk.home / "daemon.log", time.monotonic() + 60
    while "janitor: copies: " not in log.read_text() and time.monotonic() < end:
        time.sleep(0.05)
    line, = [line for line in log.read_text().splitlines() if "janitor: copies: " in line]
    assert "removed what 2 runs left outside of outputs, 2 files, " in line and line.endswith(f": {aged[-8:]}, {first[-8:]}"), line
    assert [find_copy(ponk, run) is None for run in runs] == [True, True, False]
    for run in (first, aged):
        ponk.run("history", "download", run, "-d", ponk.project.parent / run)
        assert (ponk.project.parent / run / "outputs/o").read_text() == "kept"
    ponk.environment["PONK_COPY_KEEP_DAYS"] = "0"
    ponk.run("daemon", "stop")
    assert b"copies it into the project\n" in ponk.run("submit", "x.py").stderr


@pytest.mark.parametrize("age_text", ["soon", "-3d", "3y"])
def test_a_wrong_age_is_a_wrong_word(ponk, age_text):
    done = ponk.run("prune", f"--copies={age_text}", code=64)
    assert b"ponk: error:" in done.stderr


def test_many_files_are_cleaned_without_a_time_out(ponk):
    ponk.write("x.py", "import os\nfor i in range(200):\n    os.makedirs(f'd{i}')\n"
                       "    for j in range(100): open(f'd{i}/{j}', 'w').close()\n")
    ponk.run("submit", "x.py")
    run = ponk.json("history", "info", "last")["run_id"]
    ponk.run("experiment", "clean", run, "--yes")
    assert find_copy(ponk, run) is None


def test_an_age_of_seconds_means_seconds(ponk, left):
    time.sleep(1.1)
    assert [each["run_id"] for each in ponk.json("prune", "--yes", "--copies", "1s")["copies"]] == [left]
    assert find_copy(ponk, left) is None


def test_ages_of_environments_are_whole_hours(ponk):
    assert b"'--environments' takes whole hours" in ponk.run("prune", "--yes", "--environments=30m", code=64).stderr
