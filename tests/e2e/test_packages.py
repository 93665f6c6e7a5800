# SPDX-License-Identifier: Apache-2.0
"""Which Python and which packages a run gets, what is recorded of them, and what comes of it later.

All offline: wheels lie in a folder, virtual environments are made of the system's Python."""
import json
import pathlib
import subprocess
import sys

import pytest

from wheels import write_wheel

WHO = "import sys; print(sys.prefix)\n"
SHOW = "import sys, tinytool; print(tinytool.__version__, sys.prefix)\n"
LOCK = """version = 1
requires-python = ">=3.8"

[[package]]
name = "app"
version = "0.1.0"
source = { virtual = "." }
dependencies = [{ name = "tinytool" }, { name = "winonly", marker = "sys_platform == 'win32'" }]

[[package]]
name = "tinytool"
version = "%s"
source = { registry = "https://index.example/simple" }

[[package]]
name = "winonly"
version = "1.0"
source = { registry = "https://index.example/simple" }
"""


@pytest.fixture
def offline(ponk, tmp_path):
    for version in ("1.0", "2.0"):
        write_wheel(tmp_path, "tinytool", version)
    ponk.environment.update(PIP_NO_INDEX="1", PIP_FIND_LINKS=str(tmp_path), PONK_ENV_FREE_SPACE="1000000")
    for name in ("VIRTUAL_ENV", "CONDA_PREFIX"):
        ponk.environment.pop(name, None)
    ponk.write("show.py", SHOW)
    ponk.write("who.py", WHO)
    return ponk


def make_environment(folder, *packages):
    """A virtual environment as its owner would have filled it."""
    subprocess.run([sys.executable, "-m", "venv", "--without-pip", str(folder)], check=True)
    site = next(pathlib.Path(folder).glob("lib/python3*/site-packages"))
    for name, version in packages:
        install(site, name, version)
    return site


def install(site, name, version):
    for old in site.glob(f"{name}-*.dist-info"):
        (old / "METADATA").unlink()
        old.rmdir()
    info = site / f"{name}-{version}.dist-info"
    info.mkdir()
    (info / "METADATA").write_text(f"Metadata-Version: 2.1\nName: {name}\nVersion: {version}\n")
    (site / f"{name}.py").write_text(f"__version__ = {version!r}\n")


def submit(ponk, *words, code=0):
    done = ponk.run("submit", *words, code=code)
    return done.stdout.decode(), done.stderr.decode()


def environment_of(ponk, run="last"):
    return ponk.json("history", "info", run)["environment"]


def test_a_plain_run_records_its_python_and_packages(offline):
    _, told = submit(offline, "who.py")
    had = environment_of(offline)
    assert f"packages: the Python on PATH (Python {had['version']}, {had['packages']} packages)" in told
    assert had["version"].count(".") == 2 and had["interpreter"].startswith("/") and had["prefix"].startswith("/")
    assert had["packages"] > 0 and len(had["lock_digest"]) == 64


def test_the_projects_own_environment_is_used_and_never_copied(offline):
    make_environment(offline.project / ".venv", ("tinytool", "1.5"))
    out, told = submit(offline, "show.py")
    assert out.split() == ["1.5", str(offline.project / ".venv")]
    assert "packages: '.venv' of the project" in told and "left out: .venv/" in told
    # Programs of the environment are found, too.
    tool = offline.project / ".venv" / "bin" / "mytool"
    tool.write_text("#!/bin/sh\necho from the environment $VIRTUAL_ENV\n")
    tool.chmod(0o755)
    assert submit(offline, "--", "mytool")[0] == f"from the environment {offline.project / '.venv'}\n"


def test_an_environment_that_differs_from_the_lock_is_a_warning(offline):
    site = make_environment(offline.project / ".venv", ("tinytool", "1.0"))
    offline.write("uv.lock", LOCK % "2.0")
    for _ in range(2):
        assert "'.venv' differs from uv.lock: tinytool 1.0 (locked: 2.0); 'uv sync'" in submit(offline, "show.py")[1]
    install(site, "tinytool", "2.0")
    assert "differs" not in submit(offline, "show.py")[1]


def test_a_lock_with_a_version_for_each_python_accepts_each(offline):
    site = make_environment(offline.project / ".venv", ("tinytool", "1.0"))
    first, package = (LOCK % "1.0").split('[[package]]\nname = "tinytool"')
    fork = '[[package]]\nname = "tinytool"' + package
    offline.write("uv.lock", first + fork + fork.replace('"1.0"', '"2.0"'))
    assert "differs" not in submit(offline, "show.py")[1]
    install(site, "tinytool", "3.0")
    assert "tinytool 3.0 (locked: 1.0 or 2.0)" in submit(offline, "show.py")[1]


def test_the_active_environment_is_used_unless_the_project_has_one(offline, tmp_path):
    make_environment(tmp_path / "mine", ("tinytool", "7"))
    offline.environment["VIRTUAL_ENV"] = str(tmp_path / "mine")
    out, told = submit(offline, "show.py")
    assert out.split()[0] == "7" and "packages: the active environment" in told
    make_environment(offline.project / ".venv", ("tinytool", "8"))
    out, told = submit(offline, "show.py")
    assert out.split()[0] == "8" and "mine' is not used: the project has '.venv'" in told
    out, told = submit(offline, "--python", str(tmp_path / "mine" / "bin" / "python"), "show.py")
    assert out.split()[0] == "7" and "packages: the option '--python'" in told


@pytest.mark.parametrize("name, text", [
    ("uv.lock", LOCK % "1.0"),
    ("pyproject.toml", "[project]\nname = 'app'\nversion = '1'\ndependencies = ['tinytool==1.0']\n"),
    ("requirements.txt", "\ufeff# what it needs\r\ntinytool==1.0\r\n-e .\r\n"),
])
def test_files_of_the_project_name_the_packages(offline, name, text):
    (offline.project / name).write_bytes(text.encode())
    out, told = submit(offline, "show.py")
    assert out.split()[0] == "1.0" and out.split()[1].startswith(str(offline.home / "envs"))
    assert f"packages: the project has {name}" in told
    (offline.project / name).write_bytes(text.replace("1.0\"", "2.0\"").replace("==1.0", "==2.0").encode())
    assert submit(offline, "show.py")[0].split()[0] == "2.0"


def test_a_file_that_an_old_configuration_leaves_to_the_user_is_told(offline):
    offline.write("requirements.txt", "tinytool==1.0\n")
    offline.write("aml_config/local.runconfig", "Target: local\nFramework: Python\n")
    _, told = submit(offline, "who.py")
    assert told.count("'requirements.txt' is not used: on target 'local'") == 1, told
    assert submit(offline, "-d", "requirements.txt", "show.py")[0].startswith("1.0 ")
    offline.write("aml_config/local.runconfig", "Target: local\nFramework: Python\nManagedEnvironment: true\n")
    out, told = submit(offline, "show.py")
    assert out.startswith("1.0 ") and "is not used" not in told and "packages: the project has requirements.txt" in told


def test_a_script_names_its_own_packages(offline):
    offline.write("requirements.txt", "tinytool==1.0\n")
    offline.write("inline.py", "# /// script\n# dependencies = ['tinytool==2.0']\n# ///\n" + SHOW)
    out, told = submit(offline, "inline.py")
    assert out.split()[0] == "2.0" and "packages: the script names its packages" in told
    assert submit(offline, "show.py")[0].split()[0] == "1.0"
    # The command line comes before all of them.
    assert submit(offline, "-d", "requirements.txt", "inline.py")[0].split()[0] == "1.0"


def test_mistakes_in_these_files_have_their_place(offline):
    offline.write("pyproject.toml", "[project]\nname = 'app'\ndependencies = ['tinytool==1.0',\n")
    _, told = submit(offline, "show.py", code=65)
    assert "pyproject.toml:3:" in told and "RunId" not in told, told
    offline.write("pyproject.toml", "[project]\nname = 'app'\ndependencies = ['no-such-tool-at-all']\n")
    _, told = submit(offline, "show.py", code=None)
    assert "no-such-tool-at-all" in told


def test_a_package_imports_itself_from_the_runs_copy(offline):
    """An editable installation points at the project's folder, whose files may have changed since."""
    offline.write("pyproject.toml", "[build-system]\nrequires = []\n[project]\nname = 'app'\nversion = '1'\n")
    offline.write("src/app/__init__.py", "import os\nplace = os.path.dirname(__file__)\n")
    offline.write("scripts/go.py", "import app, os; print(app.place == os.path.join(os.getcwd(), 'src', 'app'))\n")
    site = make_environment(offline.project / ".venv")
    (site / "__editable__.app.pth").write_text(str(offline.project / "src") + "\n")
    assert submit(offline, "scripts/go.py")[0] == "True\n"
    offline.write("src/app/__main__.py", "from app import place; print('main of', place[-7:])\n")
    assert submit(offline, "-m", "app")[0] == "main of src/app\n"


def test_compare_and_rerun_know_the_packages(offline):
    site = make_environment(offline.project / ".venv", ("tinytool", "1.0"), ("other", "3"))
    submit(offline, "show.py")
    install(site, "tinytool", "2.0")
    submit(offline, "show.py")
    found = offline.json("history", "compare", "1", "2")
    fields = {field["field"]: field["values"] for field in found["fields"]}
    assert fields["packages.tinytool"] == ["1.0", "2.0"], sorted(fields)
    assert [field for field in fields if field.startswith("packages.") and fields[field][0] != fields[field][1]] == [
        "packages.tinytool"]

    again = offline.run("experiment", "rerun", "1")
    assert b"the packages are not those of the repeated run: tinytool 2.0 (before: 1.0)" in again.stderr
    same = offline.run("experiment", "rerun", "2")
    assert b"are not those" not in same.stderr

    (offline.project / ".venv").rename(offline.project / ".venv-gone")
    refused = offline.run("experiment", "rerun", "2", code=None)
    assert refused.returncode != 0 and b".venv/bin/python', no longer exists" in refused.stderr


def test_a_rerun_takes_the_python_of_that_run(offline, tmp_path):
    make_environment(tmp_path / "one", ("tinytool", "1.0"))
    make_environment(tmp_path / "two", ("tinytool", "2.0"))
    offline.environment["VIRTUAL_ENV"] = str(tmp_path / "one")
    submit(offline, "show.py")
    offline.environment["VIRTUAL_ENV"] = str(tmp_path / "two")
    assert offline.run("experiment", "rerun", "1").stdout.split()[0] == b"1.0"


def test_prepare_builds_from_a_file_of_packages_without_a_configuration(offline):
    offline.write("requirements.txt", "tinytool==1.0\n")
    done = offline.json("experiment", "prepare")
    assert done["ready"] and len(done["made"]) == 1, done
    again = offline.json("experiment", "prepare")
    assert again["ready"] and again["made"] == [], again
    assert submit(offline, "show.py")[0].startswith("1.0 ")
