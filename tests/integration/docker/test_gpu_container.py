# SPDX-License-Identifier: Apache-2.0
"""GPUs given to a container of a real engine directly: device files and a driver that stand in for real ones."""
import json
import os
import shutil
import stat
import subprocess

import engine as engines
import pytest
from test_programs import find_program

LIBRARY = "int cuInit(unsigned flags) { return (int)flags + 42; }\n"

# In the image: the device can be read, the library loads by its name alone, the program is on the path.
SCRIPT = r"""
import ctypes, os, subprocess
with open('/dev/nvidia0', 'rb') as device:
    print('device', device.read(4).hex())
print('library', ctypes.CDLL('libcuda.so.1').cuInit(1), ctypes.CDLL('libcuda.so').cuInit(2))
print('smi', subprocess.run(['nvidia-smi'], capture_output=True, text=True).stdout.strip())
print('visible', os.environ['CUDA_VISIBLE_DEVICES'], os.environ['NVIDIA_VISIBLE_DEVICES'])
print('nodes', sorted(name for name in os.listdir('/dev') if name.startswith('nvidia')))
print('python', subprocess.run(['python3', '-c', 'print(1)'], capture_output=True, text=True).stdout.strip())
try:
    open('/ponk/driver/lib/libcuda.so.1', 'r+b')
except OSError as problem:
    print('written', problem.strerror)
"""


@pytest.fixture(scope="module")
def program():
    return find_program("tests/integration/gpu/gpu_container")


@pytest.fixture(scope="module")
def machine(tmp_path_factory):
    """A root folder with the files of a driver."""
    compiler = shutil.which("cc") or shutil.which("gcc")
    if compiler is None:
        pytest.skip("no C compiler for the stand-in of libcuda")
    root = tmp_path_factory.mktemp("machine")
    (root / "dev").mkdir()
    for name, minor in (("nvidia0", 5), ("nvidia1", 5), ("nvidiactl", 3), ("nvidia-uvm", 3)):
        os.mknod(root / "dev" / name, stat.S_IFCHR | 0o666, os.makedev(1, minor))
        os.chmod(root / "dev" / name, 0o666)
    lib = root / "usr/lib64"
    lib.mkdir(parents=True)
    (root / "cuda.c").write_text(LIBRARY)
    subprocess.run([compiler, "-shared", "-fPIC", "-Wl,-soname,libcuda.so.1", "-o", lib / "libcuda.so.580.65.06", root / "cuda.c"],
                   check=True)
    (lib / "libcuda.so.1").symlink_to("libcuda.so.580.65.06")
    smi = root / "usr/bin/nvidia-smi"
    smi.parent.mkdir(parents=True)
    smi.write_text("#!/bin/sh\necho no real one\n")
    smi.chmod(0o755)
    return root


def call(program, engine, machine, **request):
    request = {"socket": str(engine.socket), "image": engines.IMAGE, "root": str(machine), "driver_version": "580.65.06",
               "devices": [{"uuid": "GPU-0", "index": 0, "vendor": "nvidia", "nodes": ["/dev/nvidia0"]}], **request}
    return subprocess.run([program], input=json.dumps(request), capture_output=True, text=True, timeout=300)


@pytest.mark.parametrize("user", ["", "1234:1234"])
def test_a_container_computes_with_the_drivers_files_alone(program, engine, machine, user):
    done = call(program, engine, machine, command=["python3", "-c", SCRIPT], user=user)

    assert done.returncode == 0, done.stderr
    answer = json.loads(done.stdout)
    assert (answer["way"], answer["exit"]) == ("direct", 0), answer
    assert "no NVIDIA toolkit" in answer["reason"]
    assert answer["log"].split("\n")[:-1] == [
        "device 00000000", "library 43 44", "smi no real one", "visible GPU-0 void",
        "nodes ['nvidia-uvm', 'nvidia0', 'nvidiactl']", "python 1",
        "written " + ("Read-only file system" if not user else "Permission denied")]
    assert any("libnvidia-ml.so.1" in warning for warning in answer["warnings"])


def test_device_files_that_are_closed_are_opened_by_their_group(program, engine, machine):
    os.chmod(machine / "dev/nvidia1", 0o660)
    os.chown(machine / "dev/nvidia1", 0, 4321)

    done = call(program, engine, machine, user="1234:1234", command=["head", "-c", "2", "/dev/nvidia1"],
                devices=[{"uuid": "GPU-1", "index": 1, "vendor": "nvidia", "nodes": ["/dev/nvidia1"]}])

    assert json.loads(done.stdout)["exit"] == 0, done.stdout


def test_a_machine_without_a_driver_says_what_is_missing(program, engine, tmp_path):
    done = call(program, engine, tmp_path, command=["true"])

    assert done.returncode == 1
    assert "no device file '/dev/nvidia0'" in done.stderr and "nvidia-modprobe" in done.stderr
