# SPDX-License-Identifier: Apache-2.0
"""What can go wrong between a run and its engine: each ends in a true state, with an error that says what to do."""
import hashlib
import http.server
import json
import os
import pathlib
import shutil
import socketserver
import subprocess
import threading

import engine as engines
import pytest

from wheels import write_wheel


def submit(docker, code=72, **options):
    """stderr of a submission that must not succeed; its run is recorded with the same words."""
    done = docker.run("submit", "-c", "docker", "a.py", code=code, timeout=300, **options)
    run = docker.json("history", "info", "last")
    assert run["status"] == "Failed", run
    return done.stderr.decode()


@pytest.fixture
def bad(docker):
    docker.write("a.py", "print('it ran')\n")
    docker.environment["PONK_ENV_FREE_SPACE"] = "1000000"
    return docker


def use_image(docker, image, more=""):
    docker.write("aml_config/docker.compute", f"type: localdocker\nbaseDockerImage: {image}\n{more}")


def want(docker, *pip):
    docker.write("aml_config/docker.runconfig", "Target: docker\nFramework: Python\nPrepareEnvironment: true\n")
    docker.write("aml_config/conda_dependencies.yml",
                 "name: x\ndependencies:\n  - python=3.11\n  - pip:\n" + "".join(f"    - {line}\n" for line in pip))


def test_image_that_no_registry_has(bad):
    use_image(bad, "localhost:1/team/none:7")
    said = submit(bad)
    assert "pull 'localhost:1/team/none:7'" in said


def foreign_image(folder, architecture):
    """An archive for `docker load`: one empty layer, made for another processor."""
    layer = folder / "layer.tar"
    subprocess.run(["tar", "-cf", str(layer), "--files-from", "/dev/null"], check=True)
    digest = hashlib.sha256(layer.read_bytes()).hexdigest()
    (folder / "config.json").write_text(json.dumps(
        {"architecture": architecture, "os": "linux", "config": {}, "rootfs": {"type": "layers", "diff_ids": [f"sha256:{digest}"]}}))
    (folder / "manifest.json").write_text(json.dumps(
        [{"Config": "config.json", "RepoTags": ["foreign:1"], "Layers": ["layer.tar"]}]))
    archive = folder / "foreign.tar"
    subprocess.run(["tar", "-C", str(folder), "-cf", str(archive), "manifest.json", "config.json", "layer.tar"], check=True)
    return archive


def test_image_for_another_processor(bad, engine, tmp_path):
    other = "arm64" if os.uname().machine == "x86_64" else "amd64"
    engine.docker("load", "-i", foreign_image(tmp_path, other))
    use_image(bad, "foreign:1")
    said = submit(bad)
    assert f"image 'foreign:1' is for {other}" in said and "baseDockerImage" in said
    assert bad.run("experiment", "prepare", "-c", "docker", "--check", code=66).stderr.decode().count(f"is for {other}")
    want(bad, "tinytool")
    assert f"image 'foreign:1' is for {other}" in submit(bad)


def test_image_without_a_shell_or_python(bad, engine, tmp_path):
    (tmp_path / "etc").mkdir()
    (tmp_path / "etc/hostname").write_text("bare\n")
    subprocess.run(["tar", "-C", str(tmp_path), "-cf", str(tmp_path / "x.tar"), "etc"], check=True)
    with open(tmp_path / "x.tar", "rb") as archive:
        engine.docker("import", "-", "bare:1", input=archive)
    use_image(bad, "bare:1")
    said = submit(bad)
    assert "python" in said and ("not be started" in said or "no such file" in said.lower()), said


def test_read_only_root_runs_and_says_what_cannot_be_written(bad):
    bad.write("aml_config/docker.runconfig",
              "target: docker\nframework: Python\nenvironment:\n  python:\n    userManagedDependencies: true\n  docker:\n"
              "    enabled: true\n    arguments: ['--read-only']\n")
    bad.write("a.py", "import os\nos.makedirs('outputs', exist_ok=True); open('outputs/x', 'w').write('1')\n"
                      "print(os.access('/etc', os.W_OK))\n"
                      "try: open('/new', 'w')\nexcept OSError as problem: print(problem.strerror)\n")
    assert bad.text("submit", "-c", "docker", "a.py").splitlines()[-1] in ("Read-only file system", "Permission denied")
    assert "outputs/x" in bad.json("history", "info", "last")["attachments"]


class OldEngine(socketserver.UnixStreamServer):
    class Handler(http.server.BaseHTTPRequestHandler):
        def do_GET(self):
            body = json.dumps({"Version": "1.13.1", "ApiVersion": "1.26", "Os": "linux", "Arch": "amd64"}).encode()
            self.send_response(200)
            self.send_header("Content-Length", str(len(body)))
            self.end_headers()
            self.wfile.write(body)

        def log_message(self, *_):
            pass

        def address_string(self):
            return "socket"


def test_engine_that_is_too_old(bad, tmp_path_factory):
    socket = tmp_path_factory.mktemp("o") / "s"
    with OldEngine(str(socket), OldEngine.Handler) as server:
        threading.Thread(target=server.serve_forever, daemon=True).start()
        said = submit(bad, env={"DOCKER_HOST": f"unix://{socket}"})
        server.shutdown()
    assert "too old" in said and "1.13.1" in said and "20.10" in said


def test_user_who_may_not_use_the_engine(bad, engine, tmp_path_factory):
    """The daemon and the command run as a user outside of the engine's group."""
    folder = tmp_path_factory.mktemp("u")
    copy = folder / "ponk"
    shutil.copy(bad.program, copy)
    shutil.copytree(bad.project, folder / "project")
    for place in (folder, *folder.parents):
        if str(place).startswith("/tmp/"):
            os.chmod(place, 0o755)
    (folder / "home").mkdir()
    subprocess.run(["chown", "-R", "65534:65534", str(folder)], check=True)
    folder_of_engine = os.stat(engine.folder).st_mode
    os.chmod(engine.folder, 0o755)
    environment = {**bad.environment, "HOME": str(folder / "home"), "PONK_HOME": str(folder / "home/p")}
    try:
        def as_nobody(*words):
            return subprocess.run([str(copy), *words], cwd=folder / "project", env=environment, user=65534, group=65534,
                                  extra_groups=[], capture_output=True, timeout=120)
        done = as_nobody("submit", "-c", "docker", "a.py")
        as_nobody("daemon", "stop")
    finally:
        os.chmod(engine.folder, folder_of_engine)
    said = done.stderr.decode()
    assert done.returncode == 72 and "this user has no access to the Docker engine" in said, said
    assert "usermod -aG docker" in said


@pytest.mark.full
def test_no_space_for_the_image(ponk, tmp_path_factory):
    """The engine's data lies on a small file system."""
    reason = engines.missing()
    if reason:
        pytest.skip(reason)
    folder = pathlib.Path(tmp_path_factory.mktemp("n"))
    data = folder / "data"
    data.mkdir()
    if subprocess.run(["mount", "-t", "tmpfs", "-o", "size=700m", "none", str(data)], capture_output=True).returncode != 0:
        pytest.skip("nothing can be mounted here")
    ours = engines.Engine(folder, ["--storage-driver=vfs"])
    try:
        ours.start()
        ours.load_base()
        filled = data / "fill"
        free = shutil.disk_usage(data).free
        with open(filled, "wb") as stream:
            os.posix_fallocate(stream.fileno(), 0, max(free - 20_000_000, 0))
        ponk.environment.update(DOCKER_HOST=f"unix://{ours.socket}", PATH=os.environ["PATH"], PIP_NO_INDEX="1",
                                PIP_FIND_LINKS=str(folder), PONK_BUILD_NETWORK="none")
        write_wheel(str(folder), "tinytool", "1.0")
        ponk.write("a.py", "print(1)\n")
        use_image(ponk, engines.IMAGE)
        want(ponk, "tinytool")
        # By the check before the build, and, when that is switched off, by the engine itself.
        for space in ("1000000000", "0"):
            ponk.environment["PONK_ENV_FREE_SPACE"] = space
            said = submit(ponk)
            assert "space" in said.lower() or "free" in said, said
            assert ponk.json("environment", "list") == []
    finally:
        if ours.process:
            ours.stop()
            ours.remove()
        subprocess.run(["umount", "-l", str(data)], capture_output=True)


@pytest.mark.full
def test_pip_cannot_find_a_package(bad, tmp_path):
    bad.environment.update(PIP_NO_INDEX="1", PIP_FIND_LINKS=str(tmp_path), PONK_BUILD_NETWORK="none")
    want(bad, "nothing-of-this-name==9.9")
    said = submit(bad)
    assert "nothing-of-this-name==9.9" in said and "No matching distribution" in said
    assert bad.json("environment", "list") == []


@pytest.mark.full
def test_pip_cannot_compile_a_package(bad, tmp_path):
    package = tmp_path / "broken-1.0"
    package.mkdir()
    (package / "setup.py").write_text("raise SystemExit('error: command gcc failed: No such file or directory')\n")
    subprocess.run(["tar", "-C", str(tmp_path), "-czf", str(bad.project / "broken-1.0.tar.gz"), "broken-1.0"], check=True)
    bad.environment.update(PIP_NO_INDEX="1", PIP_FIND_LINKS=str(tmp_path), PONK_BUILD_NETWORK="none")
    want(bad, "./broken-1.0.tar.gz")
    said = submit(bad)
    assert "broken" in said and "ponk: error:" in said, said


def test_container_without_memory_is_told_as_that(bad):
    bad.write("aml_config/docker.runconfig",
              "target: docker\nframework: Python\nenvironment:\n  python:\n    userManagedDependencies: true\n  docker:\n"
              "    enabled: true\n    arguments: ['--memory', '32m', '--memory-swap', '32m']\n")
    bad.write("a.py", "print('begins', flush=True)\nx = bytearray(400_000_000)\nfor i in range(0, len(x), 4096): x[i] = 1\nprint('no')\n")
    done = bad.run("submit", "-c", "docker", "a.py", code=None, timeout=120)
    run = bad.json("history", "info", "last")
    assert done.stdout == b"begins\n" and run["status"] in ("Failed", "Lost"), run
    assert run["exit_code"] == 137 and "memory" in run["error"]["message"], run
