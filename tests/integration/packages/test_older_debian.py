# SPDX-License-Identifier: Apache-2.0
"""Each package in Debians of several ages: installed, a first run, removed."""
import shutil
import subprocess

import pytest

import trees

pytestmark = pytest.mark.full

FIRST_RUN = """
mkdir -p project && cd project
printf 'import ponk\\nponk.log("loss", 0.25)\\nprint("first")\\n' >first.py
{ponk} submit -c local first.py
{ponk} history last --query loss
"""
# Processes of a program that is gone, and files that a removal forgot.
LEFT = """
cd /srv
programs() { for exe in /proc/[0-9]*/exe; do readlink $exe || true; done | grep ponk; }
for i in $(seq 600); do programs >/dev/null || break; sleep 0.1; done
programs && exit 3
true
"""


@pytest.fixture(params=["bullseye", "bookworm", "trixie"])
def tree(request, tmp_path):
    reason = trees.missing()
    if reason:
        pytest.skip(reason)
    try:
        yield trees.Tree(request.param, tmp_path)
    except subprocess.CalledProcessError as problem:
        pytest.skip(f"Debian '{request.param}' cannot be had, is there a network? ({problem})")


def bring(tree, packages, pattern):
    package, = packages.glob(pattern)
    shutil.copy(package, tree.root / "srv" / package.name)
    return package.name


def test_the_wheel_installs_runs_and_goes(tree, packages):
    name = bring(tree, packages, "*.whl")

    said = tree.run(f"python3 -m venv env\nenv/bin/pip install -q --no-index ./{name}\n" + FIRST_RUN.format(ponk="/srv/env/bin/ponk")
                    + "cd /srv\nenv/bin/pip uninstall -q -y ponk-workbench\n" + LEFT + "find env -name '*ponk*'\n")

    assert said.splitlines() == ["first", "0.25"]


def test_the_package_of_debian_installs_runs_and_goes(tree, packages):
    name = bring(tree, packages, "*.deb")

    said = tree.run(f"dpkg -i ./{name} >/dev/null 2>&1\n" + FIRST_RUN.format(ponk="ponk")
                    + "dpkg -r ponk-workbench\n" + LEFT + "find /usr /lib -path '*ponk*' -not -path '*/python*'\n")

    lines = said.splitlines()
    assert lines[:2] == ["first", "0.25"]
    assert any(line.startswith("Ending the daemon of ponk (process ") for line in lines)
    assert not [line for line in lines if line.startswith("/")]


def test_the_tarball_runs_from_where_it_lies(tree, packages):
    name = bring(tree, packages, "*.tar.gz")

    said = tree.run(f"mkdir there && tar -C there --strip-components=1 -xf {name}\n" + FIRST_RUN.format(ponk="/srv/there/bin/ponk")
                    + "ls /srv/there /srv/there/share/man/man1/ponk.1\n")

    assert said.splitlines() == ["first", "0.25", "/srv/there/share/man/man1/ponk.1", "", "/srv/there:", "LICENSE", "bin", "share"]
