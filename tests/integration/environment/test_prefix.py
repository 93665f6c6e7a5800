# SPDX-License-Identifier: Apache-2.0
"""Prefixes on this machine, made by uv and by venv with pip."""
import glob
import json
import os
import signal
import subprocess
import time

import pytest

from conftest import versions
from wheels import write_wheel


@pytest.fixture
def offline(bench):
    """Only what lies in a folder of wheels can be installed."""
    wheels = os.path.join(bench.root, "wheels")
    os.makedirs(wheels)
    for version in ("1.0", "2.0"):
        write_wheel(wheels, "tinytool", version)
    bench.variables.update(PIP_NO_INDEX="1", PIP_FIND_LINKS=wheels)
    return bench


@pytest.mark.parametrize("way", ["parent", "link", "wheel behind a link"])
def test_nothing_outside_the_project_is_installed_or_copied(offline, tmp_path, way):
    thesis = tmp_path / "thesis"
    thesis.mkdir()
    wheel = os.path.basename(str(write_wheel(str(thesis), "stranger", "1.0")))
    folder = {"parent": "../thesis", "link": "papers", "wheel behind a link": "wheelhouse"}[way]
    if way == "link":
        os.symlink("../thesis", os.path.join(offline.root, "papers"))
    if way == "wheel behind a link":
        os.makedirs(os.path.join(offline.root, folder))
        os.symlink(str(thesis / wheel), os.path.join(offline.root, folder, wheel))
    offline.pip("--find-links %s" % folder, "stranger")

    refused = offline.call()

    assert "conda_dependencies.yml:4:7" in refused["error"] and "outside the project" in refused["error"], refused


def test_uv_builds_from_pypi_and_the_lock_repeats_it(bench, uv, pypi):
    bench.path = uv + ":" + bench.path
    bench.pip("six==1.16.0", "iniconfig")
    first = bench.prepare()
    assert first["built"] and first["record"]["builder"] == "uv"
    assert versions(first)["six"] == "1.16.0"
    assert all(len(digest) == 64 for package in first["lock"]["packages"] for digest in package["sha256"])
    assert all(package["sha256"] and package["source"] for package in first["lock"]["packages"])
    assert bench.python(first, "import six, iniconfig; print(six.__version__)") == "1.16.0"
    again = bench.prepare()
    assert not again["built"] and again["record"]["id"] == first["record"]["id"]
    # The lock of an environment that is there needs no second one; elsewhere it gives the same.
    assert bench.prepare(lock=first["lock"])["record"]["id"] == first["record"]["id"]
    bench.home += "-other"
    os.makedirs(bench.home)
    repeated = bench.prepare(lock=first["lock"])
    assert repeated["record"]["lock_digest"] == first["record"]["lock_digest"]


def test_venv_and_pip_build_from_pypi_and_the_lock_repeats_it(bench, pypi):
    bench.pip("six==1.16.0")
    first = bench.prepare()
    assert first["record"]["builder"] == "venv" and "uv is not installed" in first["record"]["choice"]
    assert first["lock"]["packages"][0]["source"].startswith("https://")
    bench.home += "-other"
    os.makedirs(bench.home)
    repeated = bench.prepare(lock=first["lock"])
    assert repeated["record"]["lock_digest"] == first["record"]["lock_digest"]
    wrong = json.loads(json.dumps(first["lock"]))
    wrong["packages"][0]["sha256"] = ["0" * 64]
    refused = bench.call(lock=wrong)
    assert "error" in refused and "hash" in refused["error"].lower()


def test_a_rebuild_says_what_changed_and_returning_rebuilds_nothing(offline):
    offline.pip("tinytool==1.0")
    first = offline.prepare()
    assert first["reason"] == "built because it is the first environment of this project on 't'"
    offline.pip("tinytool==2.0")
    assert offline.prepare()["reason"] == "built because the pip list changed: added 'tinytool==2.0', removed 'tinytool==1.0'"
    offline.pip("tinytool==1.0")
    assert not offline.prepare()["built"]


def test_local_wheels_and_options_of_the_list_work(bench):
    write_wheel(bench.root, "ownmodule", "0.1", "answer = 42\n")
    os.makedirs(os.path.join(bench.root, "wheels"))
    write_wheel(os.path.join(bench.root, "wheels"), "tinytool", "1.0")
    bench.pip("--no-index", "-f wheels", "./ownmodule-0.1-py3-none-any.whl", "tinytool")
    answer = bench.prepare()
    assert bench.python(answer, "import ownmodule, tinytool; print(ownmodule.answer)") == "42"
    own = [package for package in answer["lock"]["packages"] if package["name"] == "ownmodule"][0]
    assert own["source"] == "file:ownmodule-0.1-py3-none-any.whl" and own["direct"]
    write_wheel(bench.root, "ownmodule", "0.1", "answer = 43\n")
    changed = bench.prepare()
    assert changed["built"] and bench.python(changed, "import ownmodule; print(ownmodule.answer)") == "43"


def test_the_same_with_uv(bench, uv):
    bench.path = uv + ":" + bench.path
    write_wheel(bench.root, "ownmodule", "0.1", "answer = 42\n")
    os.makedirs(os.path.join(bench.root, "wheels"))
    write_wheel(os.path.join(bench.root, "wheels"), "tinytool", "1.0")
    bench.pip("--no-index", "-f wheels", "./ownmodule-0.1-py3-none-any.whl", "tinytool")
    answer = bench.prepare()
    assert answer["record"]["builder"] == "uv"
    assert versions(answer) == {"ownmodule": "0.1", "tinytool": "1.0"}
    bench.home += "-other"
    os.makedirs(bench.home)
    assert bench.prepare(lock=answer["lock"])["record"]["lock_digest"] == answer["record"]["lock_digest"]


def test_a_failed_install_leaves_nothing_and_says_why(offline):
    offline.pip("no-such-package-of-ours")
    answer = offline.call()
    assert "No matching distribution" in answer["error"] and "name and version" in answer["hint"]
    assert glob.glob(offline.home + "/envs/*") == []


def test_secrets_in_addresses_stay_out_of_everything(bench):
    bench.pip("--index-url https://ann:marker-login@127.0.0.1:9/t/marker-token/simple", "--retries 0", "tinytool",
              "https://127.0.0.1:9/own-1.0-py3-none-any.whl?sig=marker-signature-0123456789")
    answer = bench.call()
    assert "error" in answer
    assert "marker" not in json.dumps(answer) and "marker" not in bench.progress
    for path in glob.glob(bench.home + "/**", recursive=True):
        if os.path.isfile(path) and "/tools/" not in path:
            with open(path, "rb") as stream:
                assert b"marker" not in stream.read(), path


def runs(pid):
    """Whether the process does something; one that ended may still wait for its new parent."""
    try:
        with open("/proc/%s/stat" % pid) as stream:
            return stream.read().rsplit(")", 1)[1].split()[0] != "Z"
    except OSError:
        return False


def test_cancelling_ends_all_that_was_started(bench, tmp_path):
    stand_in = tmp_path / "bin"
    stand_in.mkdir()
    pid_file = tmp_path / "pid"
    (stand_in / "uv").write_text("#!/bin/sh\nsleep 1000 &\necho $! > %s\necho at work\nwait\n" % pid_file)
    (stand_in / "uv").chmod(0o755)
    bench.path = "%s:%s" % (stand_in, bench.path)
    bench.pip("six")
    process = bench.start()
    while not pid_file.exists() or not pid_file.read_text().strip():
        time.sleep(0.02)
    process.send_signal(signal.SIGTERM)
    answer = bench.finish(process)
    assert answer["kind"] == "cancelled"
    # It is killed, which on a busy machine takes a moment to be seen; by itself it would take 1000 s.
    for _ in range(200):
        if not runs(pid_file.read_text().strip()):
            break
        time.sleep(0.1)
    else:
        pytest.fail("what the tool had started still runs")
    assert glob.glob(bench.home + "/envs/*") == []


def test_a_killed_build_is_cleaned_by_the_next_and_two_share_one(offline):
    offline.pip("tinytool==1.0")
    process = offline.start()
    while not glob.glob(offline.home + "/envs/*/prefix/pyvenv.cfg"):
        time.sleep(0.01)
    process.kill()
    process.communicate()
    both = [offline.start(), offline.start()]
    answers = [offline.finish(process) for process in both]
    assert sorted(answer["built"] for answer in answers) == [False, True]
    assert offline.python(answers[0], "import tinytool; print(tinytool.__version__)") == "1.0"


def test_garbage_collection_spares_what_is_in_use(offline):
    offline.pip("tinytool==1.0")
    first = offline.prepare()["record"]["id"]
    offline.pip("tinytool==2.0")
    second = offline.start(hold_ms=60000)
    for line in second.stderr:
        if line.strip() == "holding":
            break
    listed = {entry["record"]["id"]: entry for entry in offline.call(action="list")}
    assert len(listed) == 2 and not listed[first]["in_use"]
    held = [key for key, entry in listed.items() if entry["in_use"]]
    assert len(held) == 1 and held[0] != first
    assert offline.call(action="remove", name=held[0])["kind"] == "conflict"
    assert offline.call(action="gc", bytes=1)["removed"] == [first]
    second.kill()
    second.communicate()
    assert offline.call(action="gc", bytes=1)["removed"] == held
    assert offline.call(action="list") == []


def test_too_little_space_is_said_before_a_build(offline):
    offline.pip("tinytool")
    offline.variables["PONK_ENV_FREE_SPACE"] = str(1 << 60)
    assert "free in" in offline.call()["error"]
    assert "free in" in offline.call(action="check")["missing"]
    assert glob.glob(offline.home + "/envs/*") == []


def test_check_tells_without_building(offline):
    offline.pip("tinytool==1.0")
    before = offline.call(action="check")
    assert not before["ready"] and before["builder"] == "venv" and before["missing"] is None
    built = offline.prepare()
    after = offline.call(action="check")
    assert after["ready"] and after["key"] == before["key"] == built["record"]["key"]


def test_what_died_is_replaced_when_asked(offline):
    offline.conda("dependencies:\n  - python=3.5.2\n  - pip:\n    - json\n    - tinytool=1.0\n")
    answer = offline.prepare(substitute=True)
    assert [item["from"] for item in answer["substitutions"]] == ["python=3.5.2", "json", "tinytool=1.0"]
    assert versions(answer) == {"tinytool": "1.0"}


def test_an_environment_whose_interpreter_went_is_built_anew(offline):
    offline.pip("tinytool==1.0")
    answer = offline.prepare()
    os.unlink(answer["record"]["interpreter"])
    again = offline.prepare()
    assert again["built"] and "is missing" in again["reason"]
    assert subprocess.run([again["record"]["interpreter"], "-c", "import tinytool"]).returncode == 0
