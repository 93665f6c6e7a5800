# SPDX-License-Identifier: Apache-2.0
"""Runs in containers of a real engine, as a user meets them."""
import os
import pathlib
import signal
import subprocess
import time

import engine as engines
import points
import pytest
from test_programs import find_program

LOG = """
import sys, time
for i in range({lines}):
    sys.stdout.write('%06d\\n' % i)
    if i % 50 == 0: sys.stdout.flush(); time.sleep(0.02)
sys.exit(7)
"""


def test_contract_of_executors(engine):
    program = find_program("src/executor/ponk_executor_docker_test")
    done = subprocess.run([program, "--gtest_brief=1"], capture_output=True, timeout=500,
                          env={**os.environ, "PONK_TEST_DOCKER": str(engine.socket), "PONK_TEST_IMAGE": engines.IMAGE})
    assert done.returncode == 0, done.stdout.decode()[-4000:]


def test_submit_brings_log_metrics_outputs_and_code_home(docker, tmp_path):
    docker.write("train.py", "import os, ponk, sys\nprint('in', os.getcwd())\nponk.log('loss', 0.5)\nos.makedirs('outputs', exist_ok=True)\n"
                             "open('outputs/m.txt', 'w').write('weights')\nsys.exit(3)\n")

    done = docker.run("submit", "-c", "docker", "train.py", code=3)

    assert done.stdout == b"in /azureml-run\n"
    run = docker.json("history", "info", "last")
    assert (run["status"], run["exit_code"], run["target"], run["loss"]) == ("Failed", 3, "docker", 0.5)
    docker.run("history", "download", "last", "-d", tmp_path / "got")
    assert (tmp_path / "got/outputs/m.txt").read_text() == "weights"


@pytest.mark.parametrize("shared", ["true", "false"])
def test_inputs_are_mounted_and_cannot_be_written(docker, tmp_path, shared):
    docker.write("aml_config/docker.compute", f"type: localdocker\nbaseDockerImage: {engines.IMAGE}\nsharedVolumes: {shared}\n")
    docker.write(".gitignore", "data/\n")
    docker.write("data/x.csv", "12345")
    (tmp_path / "w.bin").write_text("weights")
    docker.write("a.py", "print(open('data/x.csv').read(), open('models/w.bin').read())\n"
                         "try:\n    open('data/new', 'w')\nexcept OSError as error:\n    print(error.strerror)\n")

    done = docker.run("submit", "-c", "docker", "--input", "data", "--input", f"models/w.bin={tmp_path}/w.bin", "a.py")

    assert done.stdout == b"12345 weights\nRead-only file system\n"
    assert os.listdir(docker.project / "data") == ["x.csv"]


def test_mounts_of_the_target_are_in_the_container_once_they_are_allowed(docker, tmp_path):
    for name in ("fixed", "open"):
        (tmp_path / name).mkdir()
        (tmp_path / name / "x").write_text(name)
    docker.write("aml_config/docker.compute", f"type: localdocker\nbaseDockerImage: {engines.IMAGE}\nmounts:\n"
                                              f"  - {tmp_path}/fixed:/fixed:ro\n  - {tmp_path}/open:/open\n")
    docker.write("a.py", "print(open('/fixed/x').read(), open('/open/x').read())\nopen('/open/new', 'w').close()\n"
                         "try:\n    open('/fixed/new', 'w')\nexcept OSError as error:\n    print(error.strerror)\n")

    refused = docker.run("submit", "-c", "docker", "a.py", code=73).stderr.decode()

    assert "(aml_config/docker.compute:4)" in refused and "(aml_config/docker.compute:5)" in refused, refused
    docker.run("allow", "docker-argument", f"--volume={tmp_path}/fixed:/fixed:ro", f"--volume={tmp_path}/open:/open")
    assert docker.run("submit", "-c", "docker", "a.py").stdout == b"fixed open\nRead-only file system\n"
    assert os.listdir(tmp_path / "fixed") == ["x"] and sorted(os.listdir(tmp_path / "open")) == ["new", "x"]


def test_the_container_of_an_mlproject_has_its_image_folders_and_variables(docker, tmp_path):
    (tmp_path / "data").mkdir()
    (tmp_path / "data" / "x").write_text("from there")
    docker.write("a.py", "import os, sys\nprint(open(sys.argv[1]).read(), os.environ['MODE'], os.environ['FROM_SHELL'], os.getcwd())\n")
    docker.write("MLproject", f"docker_env:\n  image: {engines.IMAGE}\n  volumes: ['{tmp_path}/data:/data:ro']\n"
                              "  environment: [[MODE, fast], FROM_SHELL]\n"
                              "entry_points:\n  main:\n    parameters: {file: path}\n    command: 'python3 a.py {file}'\n")
    docker.run("allow", "docker-argument", f"--volume={tmp_path}/data:/data:ro")

    done = docker.run("submit", "-P", "file=/data/x", env={"FROM_SHELL": "mine"})

    assert done.stdout == b"from there fast mine /azureml-run\n"
    run = docker.json("history", "last")
    assert run["target_type"] == "localdocker" and run["params"] == {"file": "/data/x"}
    assert "mine" not in docker.text("history", "info", "last", "-o", "json"), "the shell's values are not stored"


def test_a_container_that_has_ended_does_not_stay(docker, engine):
    docker.write("a.py", "import sys\nsys.exit(int(sys.argv[1]))\n")
    for code in (0, 3):
        docker.run("submit", "-c", "docker", "a.py", code, code=code)
        name = docker.json("history", "last")["run_id"]
        assert engine.docker("ps", "-aq", "--no-trunc", "--filter", f"name={name}") == ""
    docker.run("experiment", "clean", "last", "--yes")


def test_the_shared_folder_is_mounted_for_those_who_name_it(docker):
    docker.write("plain.py", "import os\nprint(os.path.exists('/azureml-share'), os.environ.get('AZUREML' + '_NATIVE_SHARE_DIRECTORY'))\n")
    docker.write("uses.py", "import os\nopen(os.environ['AZUREML_NATIVE_SHARE_DIRECTORY'] + 'x', 'w').close()\n")
    docker.run("submit", "-c", "docker", "uses.py")
    assert len(list((docker.home.parent / ".azureml/share").glob("*/x"))) == 1
    (docker.project / "uses.py").unlink()
    assert docker.run("submit", "-c", "docker", "plain.py").stdout == b"True /azureml-share/\n", "once it is there, it is used"


def test_an_ignored_file_that_a_container_lacks_is_named_with_the_option(docker):
    docker.write(".gitignore", "data/\n")
    docker.write("data/x.csv", "1")
    docker.write("a.py", "import os\nopen(os.path.abspath('data/x.csv'))\n")

    assert b"ponk submit -c docker --input data a.py" in docker.run("submit", "-c", "docker", "a.py", code=1).stderr


def test_a_run_that_asks_for_no_gpu_sees_none_whatever_the_image_and_its_variables_say(docker):
    docker.write("show.py", "import os\nfor name in ('CUDA', 'HIP', 'ROCR', 'NVIDIA'): print(name, repr(os.environ.get(name + '_VISIBLE_DEVICES')))\n")
    shown = docker.run("submit", "-c", "docker", "--gpus", "none", "--env", "NVIDIA_VISIBLE_DEVICES=all", "show.py").stdout
    assert shown == b"CUDA ''\nHIP '-1'\nROCR '-1'\nNVIDIA 'void'\n"


@pytest.mark.parametrize("shared", ["true", "false"])
def test_pipes_and_sockets_among_outputs_are_told_and_second_names_of_files_come_home(docker, tmp_path, shared):
    docker.write("aml_config/docker.compute", f"type: localdocker\nbaseDockerImage: {engines.IMAGE}\nsharedVolumes: {shared}\n")
    docker.write("a.py", "import os\nos.makedirs('outputs', exist_ok=True)\nos.mkfifo('outputs/pipe')\nopen('outputs/one', 'w').write('x')\n"
                         "os.link('outputs/one', 'outputs/two')\n"
                         "import socket\nsocket.socket(socket.AF_UNIX).bind('outputs/ear')\n")

    done = docker.run("submit", "-c", "docker", "a.py")

    assert b"pipe' is" in done.stderr and b"left out" in done.stderr, done.stderr
    assert b"ear' is a socket and was left out" in done.stderr, done.stderr
    docker.run("history", "download", "last", "-d", tmp_path / "got")
    assert sorted(path.name for path in (tmp_path / "got/outputs").iterdir()) == ["one", "two"]
    assert (tmp_path / "got/outputs/two").read_text() == "x"


def test_want_of_memory_names_the_limit_and_where_to_set_it(docker):
    docker.write("aml_config/docker.runconfig", "target: docker\nframework: Python\nenvironment:\n  python:\n    userManagedDependencies: true\n"
                                                "  docker:\n    arguments: [--memory=64m, --memory-swap=64m]\n")
    docker.write("a.py", "a = bytearray(100 << 20)\n")

    done = docker.run("submit", "-c", "docker", "a.py", code=None)

    assert done.returncode != 0
    if b"out of memory" not in done.stderr:
        pytest.skip("this engine's kernel does not keep limits of memory")
    assert b"limit is 64.0 MiB" in done.stderr and b"environment.docker.arguments" in done.stderr, done.stderr
    assert docker.json("history", "info", "last")["environment"]["memory_limit"] == 64 << 20


def test_tree_that_is_copied_behaves_the_same(docker, tmp_path):
    docker.write("aml_config/docker.compute", f"type: localdocker\nbaseDockerImage: {engines.IMAGE}\nsharedVolumes: false\n")
    docker.write("data/numbers.txt", "1 2 3")
    docker.write("train.py", "import os\nprint(open('data/numbers.txt').read())\nos.makedirs('outputs/deep')\n"
                             "open('outputs/deep/m.bin', 'wb').write(bytes(range(256)) * 9000)\n")

    assert docker.text("submit", "-c", "docker", "train.py") == "1 2 3\n"

    docker.run("history", "download", "last", "-d", tmp_path / "got")
    assert (tmp_path / "got/outputs/deep/m.bin").read_bytes() == bytes(range(256)) * 9000


def test_files_beside_the_outputs_of_a_copied_tree_are_returned(docker, tmp_path):
    docker.write("aml_config/docker.compute", f"type: localdocker\nbaseDockerImage: {engines.IMAGE}\nsharedVolumes: false\n")
    docker.write(
        "aside.py",
        "import os\nos.makedirs('ckpt')\nos.makedirs('outputs', exist_ok=True)\n"
        "for name in ('extra.txt', 'ckpt/c1', 'outputs/m'):\n    open(name, 'w').write(name)\n",
    )
    docker.run("experiment", "submit", "-c", "docker", "aside.py")
    docker.run("experiment", "return", "last", "-d", tmp_path / "back")
    for name in ("extra.txt", "ckpt/c1", "outputs/m"):
        assert (tmp_path / "back" / name).read_text() == name
    docker.run("experiment", "clean", "last", "--yes")
    done = docker.run("experiment", "return", "last", "-d", tmp_path / "again", code=None)
    assert done.returncode != 0 and b"no longer exists" in done.stderr


def test_the_python_and_the_packages_of_an_image_are_recorded_compared_and_repeated(docker, engine):
    # An environment of this machine is not one of the container.
    docker.write(".venv/pyvenv.cfg", "home = /usr/bin\n")
    docker.write(".venv/bin/python", "#!/bin/sh\necho from .venv\n")
    (docker.project / ".venv/bin/python").chmod(0o755)
    engine.docker("run", "--name", "other", "--network", "none", engines.IMAGE, "mkdir", "/usr/lib/python3/dist-packages/tinytool-2.0.dist-info")
    engine.docker("commit", "other", "ponk-test-other:1")
    engine.docker("rm", "other")
    docker.write("a.py", "import sys\nprint(sys.executable, sys.prefix)\n")

    done = docker.run("submit", "-c", "docker", "a.py")

    run = docker.json("history", "info", "last")
    had = run["environment"]
    assert done.stdout == b"/usr/bin/python3 /usr\n" and (had["interpreter"], had["prefix"]) == ("/usr/bin/python3", "/usr")
    assert f"packages: those of the image (Python {had['version']}, {had['packages']} packages)" in done.stderr.decode()
    assert had["choice"] == run["configuration"]["environment"]["choice"] == "those of the image"

    docker.write("aml_config/docker.compute", "type: localdocker\nbaseDockerImage: ponk-test-other:1\n")
    docker.run("submit", "-c", "docker", "a.py")
    again = docker.run("experiment", "rerun", "1").stderr.decode()
    assert "packages: those of the image" in again and "are not those of the repeated run" not in again

    def packages(*runs):
        found = docker.json("history", "compare", *runs)["fields"]
        return {field["field"]: field["values"] for field in found if field["field"].startswith("packages.") and not field["equal"]}

    assert packages(1, 2) == {"packages.tinytool": [None, "2.0"]}
    assert packages(1, 3) == {}


def test_packages_of_the_conda_file_are_built_into_an_image_once(docker):
    docker.environment.update({name: value for name, value in os.environ.items()
                               if name.startswith("PIP_") or name in ("SSL_CERT_FILE", "REQUESTS_CA_BUNDLE")})
    docker.write("aml_config/docker.compute",
                 f"type: localdocker\nbaseDockerImage: {engines.IMAGE}\nbuildNetwork: host\n")
    docker.write("aml_config/docker.runconfig", "Target: docker\nFramework: Python\nPrepareEnvironment: true\n")
    docker.write("aml_config/conda_dependencies.yml",
                 "name: project_environment\ndependencies:\n  - python=3.11\n  - pip:\n    - six==1.16.0\n")
    docker.write("a.py", "import six, sys; print(six.__version__, sys.prefix != sys.base_prefix)\n")

    docker.run("allow", "docker-argument", "--network=host")  # of the build

    first = docker.run("submit", "-c", "docker", "a.py", timeout=300)
    second = docker.run("submit", "-c", "docker", "a.py")

    assert first.stdout == second.stdout == b"1.16.0 True\n"
    assert docker.json("history", "info", "last")["timings"]["materialise"] < 30000


def test_environment_that_may_not_be_prepared_is_asked_for(docker):
    docker.write("aml_config/docker.runconfig", "Target: docker\nFramework: Python\nPrepareEnvironment: false\n")
    docker.write("aml_config/conda_dependencies.yml", "name: x\ndependencies:\n  - pip:\n    - nothing-like-this==9\n")
    docker.write("a.py", "print(1)\n")

    done = docker.run("submit", "-c", "docker", "a.py", code=None)

    assert done.returncode == 72 and b"is not prepared for target 'docker'" in done.stderr
    assert b"PrepareEnvironment: true" in done.stderr


def test_secret_is_neither_in_the_engine_nor_in_the_served_log(docker, engine):
    docker.run("secret", "set", "TOKEN", input=b"tok-4711-xyzzy\n")
    # A container with a copy of the tree stays, and can be looked at.
    docker.write("aml_config/docker.compute", f"type: localdocker\nbaseDockerImage: {engines.IMAGE}\nsharedVolumes: false\n")
    docker.write("aml_config/docker.runconfig", (docker.project / "aml_config/docker.runconfig").read_text() +
                 "EnvironmentVariables:\n  KEY: secret:TOKEN\n")
    docker.write("a.py", "import os; print(os.environ['KEY'], len(os.environ['KEY']))\n")

    assert docker.text("submit", "-c", "docker", "a.py") == "*** 14\n"

    run = docker.json("history", "info", "last")
    assert "tok-4711" not in engine.docker("inspect", run["run_id"])


def test_cancel_ends_the_container(docker, engine):
    docker.write("wait.py", "import time\nprint('up', flush=True)\ntime.sleep(600)\n")
    docker.run("submit", "-c", "docker", "--async", "wait.py")
    run = wait_for(docker, "Running")

    docker.run("cancel", run["run_id"])

    assert wait_for(docker, "Canceled")["exit_code"] is not None
    assert run["run_id"] not in engine.docker("ps", "--format", "{{.Names}}").split()


def test_daemon_killed_in_the_middle_loses_nothing(docker):
    docker.write("count.py", LOG.format(lines=2000))
    docker.run("submit", "-c", "docker", "--async", "count.py")
    wait_for(docker, "Running")
    for _ in range(3):
        docker.run("history", "last")  # starts it
        os.kill(docker.json("daemon", "status")["pid"], signal.SIGKILL)

    run = wait_for(docker, "Failed")

    assert run["exit_code"] == 7
    assert docker.text("logs", "last") == "".join(f"{i:06d}\n" for i in range(2000))


def test_engine_that_is_not_there_is_an_error_with_advice(docker):
    docker.write("a.py", "print(1)\n")

    done = docker.run("submit", "-c", "docker", "a.py", code=None, env={"DOCKER_HOST": "unix:///nowhere/docker.sock"})

    assert done.returncode == 72
    assert b"/nowhere/docker.sock" in done.stderr and b"DOCKER_HOST" in done.stderr


def test_missing_image_is_named(docker):
    docker.write("aml_config/docker.compute", "type: docker\nbaseDockerImage: localhost:1/none/such:1\n")
    docker.write("a.py", "print(1)\n")

    done = docker.run("submit", "-c", "docker", "a.py", code=None)

    assert done.returncode != 0
    assert b"localhost:1/none/such:1" in done.stderr


@pytest.mark.parametrize("live_restore", [pytest.param(True, marks=pytest.mark.full), False])
def test_engine_killed_in_the_middle(ponk, live_restore, tmp_path_factory):
    """With live-restore the run goes on; without it the engine kills it at its restart, and that is told."""
    reason = engines.missing()
    if reason:
        pytest.skip(reason)
    import tempfile
    own = engines.Engine(tempfile.mkdtemp(prefix="pe", dir="/tmp"), ["--live-restore"] if live_restore else [])
    own.start()
    try:
        own.load_base()
        ponk.environment["DOCKER_HOST"] = f"unix://{own.socket}"
        ponk.environment["PATH"] = os.environ["PATH"]
        ponk.write("aml_config/docker.compute", f"type: localdocker\nbaseDockerImage: {engines.IMAGE}\n")
        ponk.write("aml_config/docker.runconfig", "Target: docker\nFramework: Python\nPrepareEnvironment: false\n")
        ponk.write("count.py", LOG.format(lines=8000))
        ponk.run("submit", "-c", "docker", "--async", "count.py")
        wait_for(ponk, "Running")
        own.stop(signal.SIGKILL)
        time.sleep(0.5)
        own.start()

        run = wait_for(ponk, "Failed", "Lost")

        if live_restore:
            assert (run["status"], run["exit_code"]) == ("Failed", 7)
            assert ponk.text("logs", "last") == "".join(f"{i:06d}\n" for i in range(8000))
        else:
            # Told to end first, killed if that takes too long; either way somebody else's doing.
            assert ("from outside ponk" if run["status"] == "Failed" else "137") in str(run["error"])
            assert "".join(f"{i:06d}\n" for i in range(8000)).startswith(ponk.text("logs", "last"))
    finally:
        ponk.run("daemon", "stop", code=None)
        own.stop()
        own.remove()


def wait_for(ponk, *states, seconds=60):
    for _ in range(seconds * 10):
        run = ponk.json("history", "info", "last")
        if run["status"] in states:
            return run
        assert run["status"] not in ("Completed", "Failed", "Canceled", "Lost"), run
        time.sleep(0.1)
    raise AssertionError(f"still {run['status']}")


def test_attached_engine_runs_a_folder_that_holds_nothing_but_the_script(docker):
    for place in (docker.project / "aml_config").iterdir():
        place.unlink()
    docker.write("a.py", "print('inside')\n")

    docker.run("attach", "localdocker", "--name", "mine")
    compute = docker.project / "aml_config/mine.compute"
    lines = [line for line in compute.read_text().splitlines() if not line.startswith("baseDockerImage")]
    compute.write_text("\n".join([*lines, f"baseDockerImage: {engines.IMAGE}", ""]))

    assert docker.text("submit", "-c", "mine", "a.py") == "inside\n"


@pytest.mark.parametrize("shared", ["true", "false"])
def test_numbers_of_event_files_become_metrics(docker, shared):
    docker.write("aml_config/docker.compute", f"type: localdocker\nbaseDockerImage: {engines.IMAGE}\nsharedVolumes: {shared}\n")
    support = pathlib.Path(__file__).resolve().parents[2] / "support"
    docker.write("event_writer.py", (support / "event_writer.py").read_text())
    docker.write("train.py", "import sys, time\nfrom event_writer import EventWriter\nwriter = EventWriter('outputs/train')\n"
                             "for i in range(20): writer.scalar('loss', i, i)\n"
                             "time.sleep(4 if sys.argv[1] == 'true' else 0)\nwriter.scalar('loss', 20, 20)\n")
    run = docker.text("submit", "--async", "-c", "docker", "train.py", shared).strip()
    if shared == "true":
        points.wait_for_points(docker, run, "train/loss", 20)
    docker.run("logs", "--follow", run)
    docker.run("experiment", "status", run)
    found = points.wait_for_points(docker, run, "train/loss", 21)
    assert [(point[0], point[2]) for point in found] == [(i, i) for i in range(21)]
