# SPDX-License-Identifier: Apache-2.0
"""The same checks in containers of a real engine without any NVIDIA toolkit, in an image with its own root: of this machine
it sees the driver files that ponk chose, and the framework's folder as data."""
import glob
import os
import pathlib
import subprocess
import sys
import time

IMAGE = "ponk-gpu-check:1"


def start_engine(pack, folder):
    engine = folder / "engine"
    (engine / "bin").mkdir(parents=True)
    subprocess.run(["tar", "-C", str(engine / "bin"), "-xJf", pack], check=True)
    environment = dict(os.environ, PATH=f"{engine}/bin:{os.environ['PATH']}", LD_LIBRARY_PATH=f"{engine}/bin/lib",
                       DOCKER_HOST=f"unix://{engine}/docker.sock")
    log = open(engine / "log", "ab")
    process = subprocess.Popen(
        ["dockerd", "--data-root", f"{engine}/data", "--exec-root", f"{engine}/exec", "-H", environment["DOCKER_HOST"], "-p",
         f"{engine}/pid", "--iptables=false", "--ip6tables=false", "--bridge=none"], env=environment, stdout=log, stderr=log,
        start_new_session=True)
    for _ in range(60):
        if subprocess.run(["docker", "version"], env=environment, capture_output=True).returncode == 0:
            return process, environment
        time.sleep(0.5)
    print((engine / "log").read_text()[-3000:])
    raise SystemExit("the engine did not start")


def make_image(environment):
    """A root of its own with this machine's Python and C library, copied; nothing of the driver."""
    python = os.path.realpath(sys.executable)
    version = f"python{sys.version_info.major}.{sys.version_info.minor}"
    wanted = [f"usr/lib/{version}", python.lstrip("/"), "usr/bin/sh", "usr/bin/dash", "usr/bin/env", "etc/ld.so.conf",
              "etc/ld.so.conf.d", "etc/ld.so.cache", "etc/passwd", "usr/lib64"]
    wanted += [name for name in ("bin", "lib", "lib64") if os.path.islink("/" + name)]
    wanted += [name.lstrip("/") for name in glob.glob("/usr/lib/x86_64-linux-gnu/*.so*")
               if not any(word in name for word in ("nvidia", "libcuda", "libnv", "libLLVM", "vdpau"))]
    wanted = sorted({name for name in wanted if os.path.lexists("/" + name)})
    pack = subprocess.Popen(["tar", "-C", "/", "-c", *wanted], stdout=subprocess.PIPE)
    subprocess.run(["docker", "import", "-", IMAGE], env=environment, stdin=pack.stdout, check=True, stdout=subprocess.DEVNULL)
    pack.wait()


def prepare(checks, pack, folder):
    """An engine with the image, and the run configuration `host` for it."""
    engine, environment = start_engine(pack, folder)
    try:
        make_image(environment)
        checks.environment["DOCKER_HOST"] = environment["DOCKER_HOST"]
        settings = checks.project / "aml_config"
        settings.mkdir(exist_ok=True)
        framework = str(pathlib.Path(sys.prefix))
        (settings / "box.compute").write_text(
            f"type: localdocker\nbaseDockerImage: {IMAGE}\nsharedVolumes: true\nnvidiaDocker: true\n")
        (settings / "box.runconfig").write_text(
            "target: box\nframework: Python\nprepareEnvironment: false\n"
            "environment:\n  python:\n    userManagedDependencies: true\n"
            f"    interpreterPath: {sys.executable}\n"
            f"  docker:\n    enabled: true\n    baseImage: {IMAGE}\n    gpuSupport: true\n    sharedVolumes: true\n"
            f"    arguments: ['--network=host', '-v', '{framework}:{framework}:ro']\n")
        checks.run("allow", "docker-argument", "--network=host", "-v", f"{framework}:{framework}:ro")
    except BaseException:
        engine.terminate()
        raise
    return engine


def check(checks, pack, folder):
    engine = prepare(checks, pack, folder)
    framework = str(pathlib.Path(sys.prefix))
    environment = dict(os.environ, PATH=f"{folder}/engine/bin:{os.environ['PATH']}", DOCKER_HOST=checks.environment["DOCKER_HOST"],
                       LD_LIBRARY_PATH=f"{folder}/engine/bin/lib")
    try:
        outside = subprocess.run(["docker", "run", "--rm", "--network=host", "-v", f"{framework}:{framework}:ro", IMAGE, sys.executable, "-c",
                                  "import torch; print('cuda', torch.cuda.is_available())"], env=environment, capture_output=True, text=True)
        checks.row("container by hand, without devices", "cuda False", outside.stdout.strip().splitlines()[-1] if outside.stdout else outside.stderr[-300:])
        record = checks.verdict("container: PyTorch training", "confirmed", "-c", "box", "train.py", "8")
        if record:
            print("way:", (record["gpu_evidence"] or {}).get("container"))
            print(checks.run("logs", record["run_id"]).stdout[-500:])
        checks.verdict("container: sleep", "cpu-fallback", "-c", "box", "sleep.py")
        checks.verdict("container: allocate and idle", "idle", "-c", "box", "idle.py")
        checks.verdict("container: hidden by a variable", "cpu-fallback", "-c", "box", "--env", "CUDA_VISIBLE_DEVICES=-1", "hidden.py",
                       reason=["CUDA_VISIBLE_DEVICES", "hid"])
        run = checks.start("-c", "box", "train.py", "15")
        checks.wait_for(run, "Running")
        time.sleep(2)
        busy, said = checks.holder()
        checks.row("container: card leased while it computes", True, busy, said[-300:])
        checks.wait_for(run, "Completed", "Failed", "Lost")
    finally:
        engine.terminate()
        engine.wait(30)
