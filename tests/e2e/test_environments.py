# SPDX-License-Identifier: Apache-2.0
"""Environments that ponk installs on this machine, as a user meets them. All offline: wheels lie in a folder."""
import json
import os
import pathlib
import shutil
import signal
import subprocess
import time

import pytest

from test_output import on_terminal
from wheels import write_wheel

CONFIGURATION = "Target: local\nFramework: Python\nManagedEnvironment: true\n"
SHOW = "import sys, tinytool; print(tinytool.__version__, sys.prefix)\n"


def conda(*pip, python="python"):
    return f"name: x\ndependencies:\n  - {python}\n  - pip:\n" + "".join(f"    - {line}\n" for line in pip)


@pytest.fixture
def managed(ponk, tmp_path):
    for version in ("1.0", "2.0"):
        write_wheel(tmp_path, "tinytool", version)
    ponk.wheels = tmp_path
    ponk.environment.update(PIP_NO_INDEX="1", PIP_FIND_LINKS=str(tmp_path), PONK_ENV_FREE_SPACE="1000000")
    ponk.write("aml_config/local.runconfig", CONFIGURATION)
    ponk.write("aml_config/local.compute", "type: local\n")
    ponk.write("aml_config/conda_dependencies.yml", conda("tinytool==1.0"))
    ponk.write("show.py", SHOW)
    return ponk


def environments(ponk):
    return ponk.json("environment", "list")


def test_managed_local_environment_is_built_once_and_says_why_it_is_built_anew(managed):
    first = managed.run("submit", "show.py")
    version, prefix = first.stdout.decode().split()
    assert version == "1.0" and prefix.startswith(str(managed.home / "envs"))
    assert b"the environment was built because it is the first environment of this project on 'local'" in first.stderr

    second = managed.run("submit", "show.py")
    assert second.stdout == first.stdout and b"was built" not in second.stderr

    managed.write("aml_config/conda_dependencies.yml", conda("tinytool==2.0"))
    third = managed.run("submit", "show.py")
    assert third.stdout.decode().split()[0] == "2.0"
    assert b"the pip list changed: added 'tinytool==2.0', removed 'tinytool==1.0'" in third.stderr
    assert len(environments(managed)) == 2


def test_a_local_run_is_user_managed_unless_it_says_otherwise(managed):
    managed.write("aml_config/local.runconfig", "Target: local\nFramework: Python\n")
    managed.write("who.py", "import sys; print(sys.prefix)\n")
    assert managed.text("submit", "who.py") == "/usr\n"
    assert environments(managed) == []
    assert managed.json("history", "info", "last")["environment"]["id"] == ""
    managed.write("aml_config/local.runconfig", "target: local\nframework: Python\nenvironment:\n  python:\n"
                                                "    userManagedDependencies: false\n"
                                                "    condaDependenciesFile: aml_config/conda_dependencies.yml\n")
    assert managed.text("submit", "who.py").startswith(str(managed.home / "envs"))


@pytest.mark.parametrize("line", ["--find-links ../../../thesis", "-r notes.txt", "../thesis/tinytool-1.0-py3-none-any.whl"])
def test_dependency_files_do_not_reach_outside_the_project(managed, line):
    thesis = managed.project.parent / "thesis"
    thesis.mkdir()
    (thesis / "notes.txt").write_text("a private line\n")
    (managed.project / "notes.txt").symlink_to(thesis / "notes.txt")
    managed.write("aml_config/conda_dependencies.yml", conda(line, "tinytool==1.0"))

    done = managed.run("submit", "show.py", code=None)

    assert done.returncode != 0 and b"aml_config/conda_dependencies.yml:5:7" in done.stderr, done.stderr
    assert b"is outside the project" in done.stderr and b"a private line" not in done.stderr


def test_conda_file_of_another_folder_is_refused(managed):
    (managed.project.parent / "other.yml").write_text(conda("tinytool==1.0"))
    managed.write("aml_config/local.runconfig", CONFIGURATION + "CondaDependenciesFile: ../other.yml\n")

    done = managed.run("submit", "show.py", code=None)

    assert done.returncode != 0 and b"'../other.yml' is outside" in done.stderr, done.stderr


def test_prepare_builds_is_recorded_and_check_tells(managed):
    managed.write("aml_config/local.runconfig", CONFIGURATION + "PrepareEnvironment: false\n")
    refused = managed.run("submit", "show.py", code=72)
    assert b"is not prepared for target 'local'" in refused.stderr and b"ponk experiment prepare -c local'" in refused.stderr

    before = managed.run("experiment", "prepare", "-c", "local", "--check", "-o", "json", code=66)
    assert json.loads(before.stdout)["ready"] is False and b"first environment of this project" in before.stderr
    assert environments(managed) == []

    made = managed.json("experiment", "prepare", "-c", "local")
    assert made["ready"] and len(made["made"]) == 1 and made["environment"]["builder"] in ("venv and pip", "venv")
    assert managed.json("experiment", "prepare", "-c", "local")["made"] == []
    checked = managed.json("experiment", "prepare", "-c", "local", "--check")
    assert checked["ready"] and checked["id"] == made["made"][0]

    run = managed.json("history", "info", made["run_id"])
    assert (run["status"], run["exit_code"], run["script_name"]) == ("Completed", 0, "(prepare)")
    assert "tinytool" in managed.text("logs", made["run_id"])
    assert not (managed.home / "runs" / made["run_id"] / "work").exists()
    assert managed.text("submit", "show.py").startswith("1.0 ")


def slow_package(ponk, setup):
    """One that is built from source, by pip with what the venv has."""
    folder = ponk.wheels / "slow-1.0"
    folder.mkdir()
    (folder / "setup.py").write_text(setup)
    subprocess.run(["tar", "-C", str(ponk.wheels), "-czf", str(ponk.project / "slow-1.0.tar.gz"), "slow-1.0"], check=True)
    ponk.environment["PIP_NO_BUILD_ISOLATION"] = "0"
    ponk.write("aml_config/conda_dependencies.yml", conda("./slow-1.0.tar.gz", "tinytool==1.0"))


def test_ctrl_c_cancels_a_build_and_leaves_nothing(managed):
    slow_package(managed, f"import os, time\nopen({str(managed.wheels / 'pid')!r}, 'w').write(str(os.getpid()))\ntime.sleep(300)\n")
    process = subprocess.Popen([managed.program, "experiment", "prepare", "-c", "local"], cwd=managed.project,
                               env=managed.environment, stderr=subprocess.PIPE, stdout=subprocess.PIPE)
    deadline = time.monotonic() + 60
    while not (managed.wheels / "pid").exists() and time.monotonic() < deadline and process.poll() is None:
        time.sleep(0.05)
    assert (managed.wheels / "pid").exists(), process.communicate()
    process.send_signal(signal.SIGINT)
    _, said = process.communicate(timeout=60)
    assert process.returncode == 77, said
    assert managed.json("history", "info", "last")["status"] == "Canceled"
    pid = int((managed.wheels / "pid").read_text() or 0)
    assert not pathlib.Path(f"/proc/{pid}").exists()
    assert environments(managed) == [] and not [name for name in os.listdir(managed.home / "envs") if not name.startswith(".")]


def test_async_gives_the_id_while_the_environment_is_built(managed):
    go = managed.wheels / "go"
    slow_package(managed, f"import os, time\nwhile not os.path.exists({str(go)!r}): time.sleep(0.05)\n"
                          "from setuptools import setup\nsetup(name='slow', version='1.0', py_modules=[])\n")
    started = managed.run("submit", "--async", "show.py")
    run = started.stdout.decode().strip()
    # It is being prepared, its files are taken, and the project may be changed.
    record = managed.json("history", "info", run)
    assert (record["status"], record["start_time_utc"]) == ("Preparing", None) and record["snapshot"]
    assert b"has not started yet" in started.stderr and b"ponk logs --follow" in started.stderr
    managed.write("show.py", "print('another')\n")
    go.write_text("")
    assert managed.text("logs", "--follow", run).startswith("1.0 ")
    assert managed.json("history", "info", run)["status"] == "Completed"


def test_record_keeps_the_lock_and_rerun_builds_exactly_it_again(managed):
    managed.write("aml_config/conda_dependencies.yml", conda("tinytool"))
    managed.run("submit", "show.py")
    run = managed.json("history", "info", "last")
    had = run["environment"]
    assert had["id"] and had["key"] and len(had["lock_digest"]) == 64 and had["builder"]
    assert managed.text("submit", "show.py").startswith("2.0 ")

    # A newer version appears, the cache is emptied: only the lock knows what there was.
    write_wheel(managed.wheels, "tinytool", "3.0")
    managed.run("environment", "remove", had["id"])
    again = managed.run("experiment", "rerun", run["run_id"])
    assert again.stdout.decode().startswith("2.0 "), again.stderr
    assert managed.json("history", "info", "last")["environment"]["lock_digest"] == had["lock_digest"]
    assert managed.text("submit", "show.py").startswith("3.0 ")

    # What cannot be had any more is said.
    os.remove(managed.wheels / "tinytool-2.0-py3-none-any.whl")
    for entry in environments(managed):
        managed.run("environment", "remove", entry["id"])
    gone = managed.run("experiment", "rerun", run["run_id"], code=72)
    assert b"tinytool==2.0" in gone.stderr
    # Nor does a list that was changed pass for the one that it was.
    (managed.home / "runs" / run["run_id"] / "lock.json").write_text("{}")
    changed = managed.run("experiment", "rerun", run["run_id"], code=74)
    assert b"was changed" in changed.stderr and b"cannot be built again" in changed.stderr


def test_a_run_holds_its_environment_even_without_a_daemon(managed):
    managed.write("wait.py", "import os, time, tinytool\nprint('up', flush=True)\n"
                             "while not os.path.exists('go'): time.sleep(0.05)\nimport json; print('imported')\n")
    managed.run("submit", "--async", "wait.py")
    wait_until(lambda: managed.json("history", "info", "last")["status"] == "Running", 60)
    run = managed.json("history", "info", "last")
    environment = run["environment"]["id"]
    assert [entry["in_use"] for entry in environments(managed)] == [True]
    os.kill(managed.json("daemon", "status")["pid"], signal.SIGKILL)

    refused = managed.run("environment", "remove", environment, code=73)
    assert b"is in use" in refused.stderr
    # Nor does the garbage collection take it, whatever the rules.
    assert collect(managed, PONK_ENV_KEEP_SIZE="1")["environments"] == []
    (managed.home / "runs" / run["run_id"] / "work" / "go").write_text("")
    managed.run("logs", "--follow", "last")
    assert managed.text("logs", "last") == "up\nimported\n"
    wait_until(lambda: not environments(managed)[0]["in_use"])
    managed.run("environment", "remove", environment)
    assert environments(managed) == []


def collect(ponk, **variables):
    """A pass of the garbage collection under these settings."""
    ponk.run("daemon", "stop", code=None)
    ponk.run("daemon", "status", code=None)
    ponk.run("history", "list", env=variables)  # starts it
    done = subprocess.run(["curl", "-s", "--unix-socket", str(ponk.home / "daemon.sock"), "-X", "POST", "-d", "{}",
                           "http://d/api/v1/maintenance/gc"], capture_output=True, check=True, timeout=60)
    return json.loads(done.stdout)


def wait_until(true, limit=20):
    deadline = time.monotonic() + limit
    while not true():
        assert time.monotonic() < deadline
        time.sleep(0.05)


@pytest.mark.skipif(not shutil.which("curl"), reason="curl is not installed")
def test_garbage_goes_by_age_and_by_space(managed):
    managed.run("submit", "show.py")
    managed.write("aml_config/conda_dependencies.yml", conda("tinytool==2.0"))
    managed.run("submit", "show.py")
    newest, oldest = [entry["id"] for entry in environments(managed)]
    assert collect(managed)["environments"] == []
    sizes = sum(entry["size"] for entry in environments(managed))
    assert collect(managed, PONK_ENV_KEEP_SIZE=str(sizes - 1))["environments"] == [oldest]
    long_ago = time.time() - 61 * 86400
    os.utime(managed.home / "envs" / newest / "used", (long_ago, long_ago))
    assert collect(managed, PONK_ENV_KEEP_DAYS="0")["environments"] == []
    assert collect(managed)["environments"] == [newest]
    assert environments(managed) == []


def test_disk_counts_environments_and_prune_removes_those_unused_for_long(managed):
    def size():
        return next(part["bytes"] for part in managed.json("disk")["parts"] if part["part"] == "environments")

    none = size()
    managed.run("submit", "show.py")
    one = size()
    managed.write("aml_config/conda_dependencies.yml", conda("tinytool==2.0"))
    managed.run("submit", "show.py")
    two = size()
    assert two > one > none and "environments" in managed.text("disk", "-o", "table")
    newest, oldest = [entry["id"] for entry in environments(managed)]
    long_ago = time.time() - 31 * 86400
    os.utime(managed.home / "envs" / oldest / "used", (long_ago, long_ago))

    assert managed.json("prune", "--dry-run", "--environments=32d")["environments"] == []
    assert managed.json("prune", "--yes", "--environments=0")["environments"] == []
    assert [entry["id"] for entry in managed.json("prune", "--dry-run")["environments"]] == [oldest]
    assert len(environments(managed)) == 2
    assert b"1 environment (" in managed.run("prune", "--environments", "30d", code=65).stderr
    assert [entry["id"] for entry in managed.json("prune", "--yes", "--environments=30d")["environments"]] == [oldest]
    assert [entry["id"] for entry in environments(managed)] == [newest] and size() < two


def test_list_and_show(managed):
    managed.run("submit", "show.py")
    entry, = environments(managed)
    assert entry["form"] == "prefix" and entry["packages"] == 1 and entry["size"] > 4096 and entry["target"] == "local"
    table = managed.text("environment", "list", "-o", "table")
    assert entry["id"][:12] in table and "last used" in table and "prefix" in table
    # On a narrow terminal what names it and what it takes stays whole; the rest gives way.
    target = "a_rather_long_name_of_a_target"
    managed.write(f"aml_config/{target}.compute", "type: local\n")
    managed.write("aml_config/conda_dependencies.yml", conda("tinytool==2.0"))
    managed.run("experiment", "prepare", "-c", "local", "-t", target)
    narrow = on_terminal(managed, "environment", "list", width=80)
    assert target in narrow and "iB" in narrow and "…" not in narrow.split("more column")[0], narrow
    managed.run("environment", "remove", environments(managed)[0]["id"])
    shown = managed.json("environment", "show", entry["id"][:6])
    assert [(p["name"], p["version"]) for p in shown["lock"]["packages"]] == [("tinytool", "1.0")]
    assert "tinytool" in managed.text("environment", "show", entry["id"], "-o", "table")
    missing = managed.run("environment", "show", "ffff", code=66)
    assert b"there is no environment 'ffff'" in missing.stderr and b"ponk environment list" in missing.stderr


def test_what_died_is_told_and_replaced_on_request(managed):
    write_wheel(managed.wheels, "scikit_learn", "1.3")
    managed.write("aml_config/conda_dependencies.yml", conda("sklearn", "os", "tinytool==1.0"))
    told = managed.run("experiment", "prepare", "-c", "local", "--check", code=66)
    assert b"'sklearn'" in told.stderr and b"scikit-learn" in told.stderr
    assert b"'os'" in told.stderr
    assert b"ponk experiment prepare -c local' builds it" in told.stderr

    checked = managed.run("experiment", "prepare", "-c", "local", "--check", "--substitute", code=66)
    assert b"'ponk experiment prepare -c local --substitute' builds it" in checked.stderr
    made = managed.run("experiment", "prepare", "-c", "local", "--substitute", "-o", "json")
    replaced = json.loads(made.stdout)["environment"]["substitutions"]
    assert [(one["from"], one["to"]) for one in replaced] == [("sklearn", "scikit-learn"), ("os", None)]
    assert b"'scikit-learn' instead of 'sklearn'" in made.stderr
    assert managed.text("submit", "--substitute", "show.py").startswith("1.0 ")
    assert managed.json("history", "info", "last")["environment"]["built"] is False
    # Without it the file counts as it is, and the failure tells what would help.
    failed = managed.run("submit", "show.py", code=72).stderr
    assert b"'--substitute' replaces 'sklearn', 'os'" in failed
    last = failed.decode().splitlines()[-1]
    assert last.startswith("ponk: error: ") and "sklearn" in last and not last.endswith(":")


def test_too_little_space_is_said_before_anything_is_built(managed):
    managed.environment["PONK_ENV_FREE_SPACE"] = str(10**18)
    for words, code in ((["experiment", "prepare", "-c", "local"], 72), (["experiment", "prepare", "-c", "local", "--check"], 66),
                        (["submit", "show.py"], 72)):
        said = managed.run(*words, code=code).stderr
        assert b"free" in said and b"space" in said.lower(), said
    assert environments(managed) == []


def test_daemon_killed_in_a_build_leaves_it_to_the_next(managed):
    started = managed.wheels / "started"
    slow_package(managed, f"import time\nopen({str(started)!r}, 'a').write('x')\ntime.sleep(2)\n"
                          "from setuptools import setup\nsetup(name='slow', version='1.0', py_modules=[])\n")
    process = subprocess.Popen([managed.program, "submit", "show.py"], cwd=managed.project, env=managed.environment,
                               stdout=subprocess.PIPE, stderr=subprocess.PIPE)
    wait_until(started.exists, 60)
    os.kill(managed.json("daemon", "status")["pid"], signal.SIGKILL)
    out, said = process.communicate(timeout=120)
    assert process.returncode == 0 and out.startswith(b"1.0 "), said
    assert len(environments(managed)) == 1
