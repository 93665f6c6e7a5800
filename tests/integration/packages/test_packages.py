# SPDX-License-Identifier: Apache-2.0
"""What make_packages.py makes, and the wheel on this machine."""
import os
import platform
import re
import subprocess
import tarfile
import time
import zipfile

import pytest

from conftest import pip


def programs_of(folder):
    """Processes whose program is or was below the folder."""
    found = []
    for pid in filter(str.isdigit, os.listdir("/proc")):
        try:
            if os.readlink(f"/proc/{pid}/exe").startswith(str(folder)):
                found.append(int(pid))
        except OSError:
            pass
    return found


def test_the_program_asks_for_an_old_glibc(program):
    if platform.machine() != "x86_64":
        pytest.skip("the versions of x86-64 only")
    said = subprocess.run(["objdump", "-T", program], capture_output=True, check=True).stdout.decode()

    versions = {tuple(map(int, version)) for version in re.findall(r"GLIBC_(\d+)\.(\d+)", said)}

    assert max(versions) <= (2, 17)


def test_the_wheel_tells_what_it_needs(wheel):
    with zipfile.ZipFile(wheel) as archive:
        names = archive.namelist()
        script, = [entry for entry in archive.infolist() if entry.filename.endswith(".data/scripts/ponk")]
        text = archive.read(next(name for name in names if name.endswith("/WHEEL"))).decode()
        metadata = archive.read(next(name for name in names if name.endswith("/METADATA"))).decode()

    assert script.external_attr >> 16 == 0o100755
    assert "ponk/__init__.py" in names and "ponk/py.typed" in names
    assert "Root-Is-Purelib: false\n" in text
    assert "Requires-Dist" not in metadata and "Name: ponk-workbench\n" in metadata
    assert re.search(r"-py3-none-manylinux_2_\d+_", wheel.name)


@pytest.mark.full
def test_packages_are_the_same_each_time(program, packages, tmp_path):
    tool = os.path.join(os.path.dirname(__file__), "../../../tools/make_packages.py")
    subprocess.run(["/usr/bin/python3", tool, program, tmp_path], check=True, capture_output=True)

    names = sorted(path.name for path in packages.iterdir())
    assert names == sorted(path.name for path in tmp_path.iterdir())
    for name in names:
        assert (packages / name).read_bytes() == (tmp_path / name).read_bytes(), name


def test_the_tarball_has_the_program_and_its_manual(packages):
    found, = packages.glob("*.tar.gz")
    with tarfile.open(found) as archive:
        names = ["/".join(name.split("/")[1:]) for name in archive.getnames()]

    assert {"bin/ponk", "share/man/man1/ponk.1", "share/man/man1/ponk-experiment.1", "LICENSE"} <= set(names)


def test_a_first_run_with_the_wheel_and_nothing_left_after_it(make_environment, ponk, program):
    environment = make_environment()
    ponk.program = str(environment / "bin/ponk")
    ponk.write("first.py", "import ponk\nponk.log('loss', 0.25)\nprint('first')\n")
    assert ponk.text("submit", "first.py") == "first\n"
    assert ponk.json("history", "last")["loss"] == 0.25
    assert programs_of(environment), "its daemon"

    pip(environment, "uninstall", "-y", "ponk-workbench")
    ponk.program = str(program)

    for _ in range(600):
        if not programs_of(environment):
            break
        time.sleep(0.1)
    assert not programs_of(environment)
    assert not list(environment.rglob("*ponk*"))
