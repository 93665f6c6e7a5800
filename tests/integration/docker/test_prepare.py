# SPDX-License-Identifier: Apache-2.0
"""Environments in images of a real engine, from `experiment prepare` to the last container. Offline: wheels lie in a folder."""
import json
import os
import signal
import subprocess
import time

import engine as engines
import pytest

from wheels import write_wheel

SHOW = "import tinytool; print(tinytool.__version__)\n"


def conda(*pip):
    return "name: x\ndependencies:\n  - python=3.11\n  - pip:\n" + "".join(f"    - {line}\n" for line in pip)


@pytest.fixture
def prepared(docker, tmp_path):
    for version in ("1.0", "2.0"):
        write_wheel(tmp_path, "tinytool", version)
    docker.wheels = tmp_path
    docker.environment.update(PIP_NO_INDEX="1", PIP_FIND_LINKS=str(tmp_path), PONK_ENV_FREE_SPACE="1000000",
                              PONK_BUILD_NETWORK="none")
    docker.write("aml_config/docker.runconfig", "Target: docker\nFramework: Python\nPrepareEnvironment: true\n")
    docker.write("aml_config/conda_dependencies.yml", conda("tinytool==1.0"))
    docker.write("show.py", SHOW)
    return docker


def wait_for(ponk, state, limit=60):
    deadline = time.monotonic() + limit
    while True:
        run = ponk.json("history", "info", "last")
        if run["status"] == state:
            return run
        assert time.monotonic() < deadline and run["status"] not in ("Completed", "Failed", "Lost"), run
        time.sleep(0.1)


def build_cache(engine):
    return json.loads(engine.docker("system", "df", "-v", "--format", "{{json .BuildCache}}"))


def test_prepare_check_submit_list_show_remove(prepared, engine):
    # A container with a copy of the tree stays when it has ended.
    prepared.write("aml_config/docker.compute", f"type: localdocker\nbaseDockerImage: {engines.IMAGE}\nsharedVolumes: false\n")
    before = prepared.run("experiment", "prepare", "-c", "docker", "--check", "-o", "json", code=66, timeout=120)
    assert json.loads(before.stdout)["builder"] == "venv in the image"
    made = prepared.json("experiment", "prepare", "-c", "docker", timeout=300)
    assert made["ready"] and made["environment"]["image"].startswith("sha256:")
    assert "tinytool" in prepared.text("logs", made["run_id"])
    assert prepared.json("experiment", "prepare", "-c", "docker", "--check")["ready"]
    assert prepared.json("experiment", "prepare", "-c", "docker")["made"] == []

    done = prepared.run("submit", "-c", "docker", "show.py")
    assert done.stdout == b"1.0\n" and b"was built" not in done.stderr
    run = prepared.json("history", "info", "last")
    had = run["environment"]
    assert had["id"] == made["made"][0] and had["image"] == made["environment"]["image"]
    assert had["base_digest"] == engine.docker("inspect", "-f", "{{.Id}}", engines.IMAGE).strip()
    assert engine.docker("inspect", "-f", "{{.Image}}", run["run_id"]).strip() == had["image"]

    prepared.write("aml_config/conda_dependencies.yml", conda("tinytool==2.0"))
    again = prepared.run("submit", "-c", "docker", "show.py", timeout=300)
    assert again.stdout == b"2.0\n" and b"the pip list changed: added 'tinytool==2.0', removed 'tinytool==1.0'" in again.stderr

    entries = prepared.json("environment", "list")
    assert [entry["form"] for entry in entries] == ["image", "image"] and all(entry["size"] > 1e6 for entry in entries)
    shown = prepared.json("environment", "show", had["id"])
    assert [package["name"] for package in shown["lock"]["packages"]] == ["tinytool"]
    # What it takes is its own: the base is shared and stays when it goes.
    whole, base = (int(engine.docker("inspect", "-f", "{{.Size}}", name)) for name in (had["image"], engines.IMAGE))
    assert next(entry["size"] for entry in entries if entry["id"] == had["id"]) == whole - base
    # Containers of runs that have ended do not keep an image.
    assert any("/ponk-build/" in step["Description"] for step in build_cache(engine))
    removed = prepared.run("environment", "remove", had["id"], "-o", "json")
    assert had["image"] not in engine.docker("images", "-aq", "--no-trunc")
    # Their layers do stay, and nobody claims otherwise.
    assert json.loads(removed.stdout)["freed_bytes"] == 0 and json.loads(removed.stdout)["held_by"] == [run["run_id"]]
    assert b"experiment clean" in removed.stderr
    # Nor does the engine's build cache keep its layers.
    left = [step for step in build_cache(engine)
            if "/ponk-build/" in step["Description"] and step["Shared"] in ("false", False)]
    assert left == [], left

    # Exactly that again, though another is wanted now and the image is gone.
    rerun = prepared.run("experiment", "rerun", run["run_id"], timeout=300)
    assert rerun.stdout == b"1.0\n"
    assert prepared.json("history", "info", "last")["environment"]["lock_digest"] == had["lock_digest"]


@pytest.mark.full
def test_a_container_keeps_its_image_from_removal_even_without_a_daemon(prepared, engine):
    prepared.write("wait.py", "import time, tinytool\nprint('up', flush=True)\ntime.sleep(600)\n")
    prepared.run("submit", "-c", "docker", "--async", "wait.py", timeout=300)
    run = wait_for(prepared, "Running")
    os.kill(prepared.json("daemon", "status")["pid"], signal.SIGKILL)

    refused = prepared.run("environment", "remove", run["environment"]["id"], code=73)

    assert b"is in use" in refused.stderr
    assert [entry["in_use"] for entry in prepared.json("environment", "list")] == [True]
    assert run["environment"]["image"] in engine.docker("images", "-aq", "--no-trunc")
    prepared.run("cancel", run["run_id"])
    wait_for(prepared, "Canceled")
    prepared.run("experiment", "clean", run["run_id"], "--yes")
    removed = prepared.json("environment", "remove", run["environment"]["id"])
    assert removed["freed_bytes"] > 1e6 and removed["held_by"] == []


@pytest.mark.full
def test_ctrl_c_cancels_an_image_build(prepared, engine):
    package = prepared.project / "slow"
    package.mkdir()
    (package / "setup.py").write_text("import time\nprint('slow begins', flush=True)\ntime.sleep(300)\n")
    subprocess.run(["tar", "-C", str(prepared.project), "-czf", str(prepared.project / "slow-1.0.tar.gz"),
                    "--transform", "s,^slow,slow-1.0,", "slow"], check=True)
    prepared.write("aml_config/conda_dependencies.yml", conda("./slow-1.0.tar.gz"))
    process = subprocess.Popen([prepared.program, "experiment", "prepare", "-c", "docker"], cwd=prepared.project,
                               env=prepared.environment, stderr=subprocess.PIPE, stdout=subprocess.PIPE)
    deadline = time.monotonic() + 120
    while "slow-1.0" not in prepared.text("logs", "last", code=None) and time.monotonic() < deadline:
        assert process.poll() is None, process.communicate()
        time.sleep(0.2)
    time.sleep(1)
    process.send_signal(signal.SIGINT)
    _, said = process.communicate(timeout=60)
    assert process.returncode == 77, said
    assert prepared.json("history", "info", "last")["status"] == "Canceled"
    assert prepared.json("environment", "list") == []


def test_rerun_wants_the_very_image_and_says_so_when_it_is_gone(docker, engine):
    docker.write("a.py", "print(open('/etc/which').read().strip())\n")
    for word in ("first", "second"):
        container = engine.docker("run", "-d", "--network", "none", engines.IMAGE, "/bin/sh", "-c", f"echo {word} > /etc/which").strip()
        engine.docker("wait", container)
        engine.docker("commit", container, "moving:1")
        engine.docker("tag", "moving:1", f"kept:{word}")
        engine.docker("rm", container)
        docker.write("aml_config/docker.compute", "type: localdocker\nbaseDockerImage: moving:1\n")
        assert docker.text("submit", "-c", "docker", "a.py") == word + "\n"
    runs = docker.json("history", "list")
    first = min(runs, key=lambda run: run["run_number"])

    assert docker.text("experiment", "rerun", first["run_id"]) == "first\n"

    engine.docker("rm", "-f", *engine.docker("ps", "-aq").split())
    engine.docker("rmi", "-f", "kept:first")
    gone = docker.run("experiment", "rerun", first["run_id"], code=72)
    assert b"which was 'moving:1' in the earlier run, is no longer on this engine" in gone.stderr
    assert b"Submit the script again" in gone.stderr


@pytest.mark.full
def test_disk_space_and_dead_names_are_told_before_a_build(prepared):
    prepared.environment["PONK_ENV_FREE_SPACE"] = str(10**18)
    said = prepared.run("experiment", "prepare", "-c", "docker", code=72, timeout=120).stderr
    assert b"free" in said, said
    prepared.environment["PONK_ENV_FREE_SPACE"] = "1000000"
    prepared.write("aml_config/conda_dependencies.yml", conda("azureml-requirements", "sklearn", "os"))
    told = prepared.run("experiment", "prepare", "-c", "docker", "--check", code=66, timeout=120).stderr
    assert b"'sklearn'" in told and b"'os'" in told
    failed = prepared.run("submit", "-c", "docker", "show.py", code=72, timeout=300)
    assert b"'sklearn'" in failed.stderr and b"scikit-learn" in failed.stderr
