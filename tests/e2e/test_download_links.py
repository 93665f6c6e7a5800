# SPDX-License-Identifier: Apache-2.0
"""Nothing that comes back leaves the folder it was asked into, whatever links a script or the folder holds."""
import os

import pytest

ESCAPE = """
import os
os.makedirs('outputs/a/b/c/d/e/f'); os.chdir('outputs')
os.symlink('../../../../../..', 'a/b/c/d/e/f/s')
os.symlink('a/b/c/d/e/f/s/../../victim', 't')
os.symlink('a/b/c/d/e/f/s/ok', 'inside')
open('ok', 'w').write('1')
"""


def test_a_link_that_leaves_through_another_link_is_not_downloaded(ponk, tmp_path):
    ponk.write("a.py", ESCAPE)
    submitted = ponk.run("submit", "a.py")
    assert b"'t' is a link to 'a/b/c/d/e/f/s/../../victim', outside the folder" in submitted.stderr

    done = ponk.run("history", "download", "last", "-d", tmp_path / "x")

    assert b"'outputs/t' is a link to 'a/b/c/d/e/f/s/../../victim', outside the outputs" in done.stderr
    outputs = tmp_path / "x/outputs"
    assert not os.path.lexists(outputs / "t")
    assert (outputs / "inside").read_text() == "1" and (outputs / "inside").is_symlink()
    ponk.run("history", "promote", "last", "--artifact-path", "outputs/inside", "-n", "i")
    ponk.run("asset", "download", "i", "-d", tmp_path / "assets")


@pytest.mark.parametrize("overwrite", [[], ["--overwrite"]])
def test_nothing_is_written_through_a_link_in_the_destination(ponk, tmp_path, overwrite):
    ponk.write("a.py", "import os\nos.makedirs('outputs/t')\nopen('outputs/t/pwned', 'w').write('evil')\n")
    ponk.run("submit", "a.py")
    victim = tmp_path / "victim"
    victim.mkdir()
    for place in ["outputs", "outputs/t"]:
        folder = tmp_path / place.replace("/", "-")
        (folder / place).parent.mkdir(parents=True)
        (folder / place).symlink_to(victim)

        done = ponk.run("history", "download", "last", "-d", folder, *overwrite, code=73)

        assert b"is a symbolic link; ponk does not write through links" in done.stderr
        assert list(victim.iterdir()) == []


def test_the_folder_itself_may_be_a_link_of_the_user(ponk, tmp_path):
    ponk.write("a.py", "print(1)\n")
    ponk.run("submit", "a.py")
    (tmp_path / "real").mkdir()
    (tmp_path / "mine").symlink_to("real")

    ponk.run("history", "download", "last", "-d", tmp_path / "mine")

    assert (tmp_path / "real/driver_log").read_bytes() == b"1\n"


def test_an_asset_replaces_a_link_and_never_what_it_points_to(ponk, tmp_path):
    ponk.write("a.py", "import os\nos.makedirs('outputs', exist_ok=True)\nopen('outputs/m', 'w').write('model')\n")
    ponk.run("submit", "a.py")
    ponk.run("history", "promote", "last", "--artifact-path", "outputs/m", "-n", "m")
    victim = tmp_path / "victim"
    victim.write_text("mine")
    folder = tmp_path / "d"
    folder.mkdir()
    (folder / "m").symlink_to(victim)

    ponk.run("asset", "download", "m", "-d", folder, code=73)
    ponk.run("asset", "download", "m", "-d", folder, "--overwrite")

    assert victim.read_text() == "mine" and (folder / "m").read_text() == "model" and not (folder / "m").is_symlink()


def test_a_snapshot_is_restored_neither_through_a_link_nor_beside_one(ponk, tmp_path):
    ponk.write("sub/a.py", "print(1)\n")
    ponk.run("submit", "sub/a.py")
    victim = tmp_path / "victim"
    victim.mkdir()
    (tmp_path / "link").symlink_to(victim)
    (tmp_path / "full").mkdir()
    (tmp_path / "full/sub").symlink_to(victim)

    for name in ["link", "full"]:
        done = ponk.run("project", "restore", "last", "-d", tmp_path / name, code=None)
        assert done.returncode in (65, 73), done
        assert b"ponk: error: " in done.stderr
    assert list(victim.iterdir()) == []
