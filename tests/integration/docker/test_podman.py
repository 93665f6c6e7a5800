# SPDX-License-Identifier: Apache-2.0
"""Runs in containers of Podman's own engine, on request: PONK_TEST_PODMAN=1."""
import os
import pathlib
import shutil
import subprocess
import tempfile
import time

import engine as engines
import pytest
from test_programs import find_program

# What a sandbox may not raise is not asked for.
SETTINGS = '[containers]\ndefault_ulimits = ["nofile=1024:1024", "nproc=4096:4096"]\nnetns = "host"\n'


@pytest.fixture(scope="module")
def podman():
    if os.environ.get("PONK_TEST_PODMAN") != "1":
        pytest.skip("on request: PONK_TEST_PODMAN=1")
    if os.geteuid() != 0 or not shutil.which("podman"):
        pytest.skip("podman is not installed, or we are not root")
    folder = pathlib.Path(tempfile.mkdtemp(prefix="pm", dir="/tmp"))
    (folder / "containers.conf").write_text(SETTINGS)
    socket = folder / "s"
    process = subprocess.Popen(
        ["podman", "--root", folder / "root", "--runroot", folder / "run", "--tmpdir", folder / "tmp", "--cgroup-manager", "cgroupfs",
         "--events-backend", "file", "--storage-driver", "vfs", "system", "service", "--time", "0", f"unix://{socket}"],
        env={**os.environ, "CONTAINERS_CONF": str(folder / "containers.conf")}, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL,
        cwd=folder)  # conmon leaves a file behind when a container runs out of memory
    try:
        for _ in range(100):
            if socket.exists():
                break
            time.sleep(0.1)
        with open(engines.base_archive(), "rb") as archive:
            subprocess.run(["docker", "-H", f"unix://{socket}", "import", "-", engines.IMAGE], stdin=archive, check=True,
                           stdout=subprocess.DEVNULL)
        yield socket
    finally:
        process.terminate()
        process.wait(timeout=30)
        subprocess.run(["umount", "-l", str(folder / "root/vfs")], capture_output=True)
        shutil.rmtree(folder, ignore_errors=True)


def test_contract_of_executors_on_podman(podman):
    program = find_program("src/executor/ponk_executor_docker_test")
    done = subprocess.run([program, "--gtest_brief=1"], capture_output=True, timeout=580,
                          env={**os.environ, "PONK_TEST_DOCKER": str(podman), "PONK_TEST_IMAGE": engines.IMAGE})
    assert done.returncode == 0, done.stdout.decode()[-4000:]
