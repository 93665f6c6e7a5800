# SPDX-License-Identifier: Apache-2.0
"""Runs in containers beside `docker run`, on an engine of our own."""
import os
import sys
import tempfile

sys.path.insert(0, os.path.join(os.path.dirname(os.path.abspath(__file__)), "..", "tests", "integration", "docker"))
import engine as engines
from bench_place import take_turns

NO_OP = "print('done')\n"
CONDA = "name: x\ndependencies:\n  - python=3.11\n"


def submit_docker(place, report):
    """The same image and command, once by hand and once as a run: snapshot, log, record, outputs and all."""
    what = "submit to docker, prepared : docker run of the same"
    reason = engines.missing()
    if reason:
        report.skip(what, reason)
        return
    ours = engines.Engine(tempfile.mkdtemp(prefix="pb", dir="/tmp"))
    try:
        ours.start()
        ours.load_base()
        measure(place, report, what, ours)
    finally:
        if ours.process:
            ours.stop()
            ours.remove()


def measure(place, report, what, engine):
    extra = {"DOCKER_HOST": "unix://%s" % engine.socket, "PONK_ENV_FREE_SPACE": "0", "PONK_BUILD_NETWORK": "none"}
    os.makedirs(os.path.join(place.folder, "container", "aml_config"), exist_ok=True)
    project = place.project("container", {
        "noop.py": NO_OP,
        "aml_config/docker.compute": "type: localdocker\nbaseDockerImage: %s\n" % engines.IMAGE,
        "aml_config/docker.runconfig": "Target: docker\nFramework: Python\nPrepareEnvironment: true\n",
        "aml_config/conda_dependencies.yml": CONDA})
    place.run([place.ponk, "experiment", "prepare", "-c", "docker"], project, extra)
    image = engine.docker("images", "-q", "ponk-env").split()[0]
    by_hand = ["docker", "run", "--network", "none", "-v", project + ":/azureml-run", "-w", "/azureml-run", image,
               "/opt/ponk/env/bin/python", "noop.py"]
    run, hand = take_turns(place.options.repeat, lambda: place.time([place.ponk, "submit", "-c", "docker", "noop.py"], project, extra),
                           lambda: place.time(by_hand, project, extra))
    report.ratio(what, run, hand, 1.1)
    print("    phases of the last one, ms: %s" % place.ask("history", "info", "last", cwd=project).get("timings"))
