# SPDX-License-Identifier: Apache-2.0
"""What stays on another machine when its last target is detached: nothing, if that was requested."""
import json
import os
import shutil

import engine as engines
import pytest

from wheels import write_wheel

CONDA = "name: x\ndependencies:\n  - python=3.11\n  - pip:\n    - ./{0}\n"


def images(engine):
    return [line for line in engine.docker("images", "--format", "{{.Repository}}:{{.Tag}}").split() if line.startswith("ponk-env:")]


def containers(engine):
    return engine.docker("ps", "-a", "--format", "{{.Names}}").split()


@pytest.fixture(autouse=True)
def nobody_else(machine):
    """Runs of other tests are runs of other machines to these."""
    shutil.rmtree(machine.home / ".ponk", ignore_errors=True)


def run_with_image(away, machine):
    """A run in an image with a package of its own; its id. Its container stays: it has the copy of the project."""
    wheel = os.path.basename(write_wheel(away.project, "tinytool", "1.0"))
    away.write("aml_config/docker.compute", machine.compute("remotedocker", f"baseDockerImage: {engines.IMAGE}", "buildNetwork: none", "sharedVolumes: false"))
    away.write("aml_config/docker.runconfig", "Target: docker\nFramework: Python\nPrepareEnvironment: true\n")
    away.write("aml_config/conda_dependencies.yml", CONDA.format(wheel))
    away.write("show.py", "import tinytool; print(tinytool.__version__)\n")
    assert away.run("submit", "-c", "docker", "show.py", timeout=300).stdout == b"1.0\n"
    return away.json("history", "last")["run_id"]


def test_detach_with_files_takes_containers_and_images_too(away, machine, engine):
    before = images(engine)
    run = run_with_image(away, machine)
    assert run in containers(engine) and len(images(engine)) == len(before) + 1

    done = away.run("computetarget", "detach", "docker", "--remove-files", "--yes", "-o", "json")

    assert json.loads(done.stdout)["files_removed"] is True, done.stderr
    assert run not in containers(engine) and images(engine) == before
    assert engines.IMAGE.split(":")[0] in engine.docker("images", "--format", "{{.Repository}}")
    assert not (machine.home / ".ponk").exists()


def test_detach_names_the_container_that_keeps_an_image(away, machine, engine):
    before = images(engine)
    run_with_image(away, machine)
    image, = set(images(engine)) - set(before)
    engine.docker("run", "--name", "keeper", image, "true")
    try:
        done = away.run("computetarget", "detach", "docker", "--remove-files", "--yes", "-o", "json")
    finally:
        engine.docker("rm", "-f", "keeper")

    assert json.loads(done.stdout)["files_removed"] is False, done.stderr
    assert b": image" in done.stderr and b"container 'keeper' keeps its layers" in done.stderr, done.stderr


def test_detach_names_the_container_that_stays(away, machine, engine):
    away.write("aml_config/docker.compute", machine.compute("remotedocker", f"baseDockerImage: {engines.IMAGE}", "sharedVolumes: false"))
    away.write("a.py", "print(1)\n")
    away.run("submit", "-c", "docker", "a.py")
    run = away.json("history", "last")["run_id"]
    engine.docker("stop", "-t", "0", run)
    machine_socket = engine.socket.rename(engine.socket.with_suffix(".aside"))
    try:
        done = away.run("computetarget", "detach", "docker", "--remove-files", "--yes", "-o", "json", timeout=150)
    finally:
        machine_socket.rename(engine.socket)

    assert json.loads(done.stdout)["files_removed"] is False
    assert f"container '{run}'".encode() in done.stderr and b"docker rm -f" in done.stderr
    engine.docker("rm", "-f", run)
