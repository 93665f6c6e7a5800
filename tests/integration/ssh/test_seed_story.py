# SPDX-License-Identifier: Apache-2.0
"""The whole way of the 2017 page: attach a machine with a password, submit to it, get everything back."""
import importlib.util
import os
import pathlib
import shutil
import tempfile

import host as hosts
import pytest
import yaml

HERE = pathlib.Path(__file__).resolve()
specification = importlib.util.spec_from_file_location("engine", HERE.parents[1] / "docker/engine.py")
engines = importlib.util.module_from_spec(specification)
specification.loader.exec_module(engines)

TRAIN = """import os, sys, six
from azureml.logging import get_azureml_logger
logger = get_azureml_logger()
print("six", six.__version__, sys.argv[1:], flush=True)
for step, loss in enumerate([0.9, 0.5, 0.2]):
    logger.log("loss", loss)
logger.log("Accuracy", 0.93)
os.makedirs("outputs", exist_ok=True)
open("outputs/model.bin", "wb").write(bytes(range(256)) * 4096)
sys.exit(3)
"""
# What the machine that builds has in force: here its way to the package index.
OWN = [name for name in os.environ if name.startswith("PIP_") or name in ("SSL_CERT_FILE", "REQUESTS_CA_BUNDLE")]


@pytest.fixture
def gpu_host(ground, host_user):
    """A machine with sshd and Docker, whose user may use both."""
    if engines.missing():
        pytest.skip(engines.missing())
    folder = pathlib.Path(tempfile.mkdtemp(prefix="pd", dir="/tmp"))
    folder.chmod(0o711)
    engine = engines.Engine(folder, ["--live-restore"])
    server = None
    try:
        engine.start()
        engine.load_base()
        shutil.chown(engine.socket, host_user.name)
        words = {"DOCKER_HOST": f"unix://{engine.socket}", **{name: os.environ[name] for name in OWN}}
        host_user.empty()
        server = hosts.Sshd(["SetEnv " + " ".join(f"{name}={value}" for name, value in words.items())]).start()
        server.engine = engine
        yield server
    finally:
        if server:
            server.remove()
        engine.stop()
        engine.remove()


@pytest.mark.parametrize("grammar", ["december", pytest.param("september", marks=pytest.mark.full)])
def test_from_attach_to_outputs(ponk, gpu_host, host_user, grammar, tmp_path_factory):
    machine = ["--address", f"127.0.0.1:{gpu_host.port}", "--username", host_user.name, "--password", hosts.PASSWORD,
               "--fingerprint", gpu_host.fingerprint()]
    words = ["remotedocker", "--name", "my_dsvm", *machine] if grammar == "december" else \
        ["--name", "my_dsvm", *machine, "--type", "remotedocker"]
    attached = ponk.run("computetarget", "attach", *words)
    assert b"next: ponk" in attached.stderr, attached.stderr
    compute = ponk.project / "aml_config/my_dsvm.compute"
    meant = yaml.safe_load(compute.read_text())
    meant.update(baseDockerImage=engines.IMAGE, buildNetwork="host")  # as the page says: edit the file
    compute.write_text(yaml.safe_dump(meant))
    ponk.run("allow", "docker-argument", "--network=host")
    ponk.write("aml_config/conda_dependencies.yml",
               "name: project_environment\ndependencies:\n  - python=3.11\n  - pip:\n    - six==1.16.0\n")
    ponk.write("train.py", TRAIN)

    first = ponk.run("experiment", "submit", "-c", "my_dsvm", "train.py", "--epochs", "3", code=3, timeout=300)
    second = ponk.run("experiment", "submit", "-c", "my_dsvm", "train.py", "--epochs", "3", code=3)

    assert first.stdout == second.stdout == b"six 1.16.0 ['--epochs', '3']\n"
    assert b"the environment was built" in first.stderr and b"was built" not in second.stderr
    run = ponk.json("history", "last")
    assert (run["status"], run["exit_code"], run["target"]) == ("Failed", 3, "my_dsvm")
    assert run["Accuracy"] == 0.93 and run["environment"]["image"].startswith("sha256:")
    results = ponk.user.home / f"results-{grammar}"
    ponk.run("history", "download", "last", "-d", results)
    assert (results / "outputs/model.bin").read_bytes() == bytes(range(256)) * 4096
    assert ponk.run("logs", "last").stdout == first.stdout
    checked = ponk.json("computetarget", "check", "my_dsvm")
    assert checked["facts"]["engine"]["name"] == "Docker" and checked["facts"]["engine"]["live_restore"] is True
    # The password is nowhere that ponk writes.
    for place in [*ponk.user.home.rglob("*"), *host_user.home.rglob("*")]:
        if place.is_file() and not place.is_symlink():
            assert hosts.PASSWORD.encode() not in place.read_bytes(), place
