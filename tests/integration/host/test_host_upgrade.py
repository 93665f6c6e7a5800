# SPDX-License-Identifier: Apache-2.0
"""The folder of a host as an earlier version left it."""
import os

import pytest

from golden_homes import GOLDEN, lock, unpack


@pytest.fixture
def there(away, machine, tmp_path):
    """ponk's folder on the other machine."""
    away.write("aml_config/plain.compute", machine.compute("remote", "pythonLocation: python3", f"scratch: {tmp_path}/scratch"))
    away.write("a.py", "print('new')\n")
    (tmp_path / "scratch").mkdir()
    return tmp_path / "scratch" / "ponk-0"


@pytest.mark.parametrize("archive", sorted(GOLDEN.glob("host-v*.tar.gz")), ids=lambda path: path.name.split(".")[0])
def test_a_folder_of_each_version_is_converted(away, there, archive):
    runs = unpack(archive, there)

    assert away.text("submit", "-c", "plain", "a.py") == "new\n"

    assert (there / "format").read_text() == "ponk-home 2\n"
    for run in runs:
        folder = there / "runs" / run
        assert sorted(place.name for place in folder.iterdir()) == ["attempts", "work"]
        assert {"claim", "exit", "journal", "log", "pid"} <= {place.name for place in (folder / "attempts/1/tasks/0").iterdir()}


def test_a_folder_with_a_living_run_of_the_first_version_is_refused_until_it_ends(away, there):
    runs = unpack(GOLDEN / "host-v1.tar.gz", there)
    (there / "runs" / runs[-1] / "exit").rename(there / "exit")
    held = lock(there / "runs" / runs[-1] / "lock")

    said = away.run("submit", "-c", "plain", "a.py", code=None).stderr.decode()

    assert f"a run of an earlier version of ponk is still running: {runs[-1]}" in said
    assert not (there / "format").exists()
    os.close(held)
    (there / "exit").rename(there / "runs" / runs[-1] / "exit")
    assert away.text("submit", "-c", "plain", "a.py") == "new\n"


def test_a_folder_of_a_newer_version_is_refused(away, there):
    there.mkdir(mode=0o700)
    (there / "format").write_text("ponk-home 99\n")

    said = away.run("submit", "-c", "plain", "a.py", code=None).stderr.decode()

    assert "was written by a newer ponk (format 99, this one knows 2)" in said
