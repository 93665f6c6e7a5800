# SPDX-License-Identifier: Apache-2.0
"""Makes home-vN.tar.gz and host-vN.tar.gz of tests/golden: a PONK_HOME and a host's folder as the program leaves them. Not a
test of CI: it is run once for each version of the format, with the last program of that version.

    GOLDEN=tests/golden/home-v2.tar.gz tools/pytest.sh build/release/ponk tests/integration/host/make_golden_home.py
"""
import os
import pathlib
import tarfile
import time

SCRIPT = """import os, sys, time
from azureml.logging import get_azureml_logger
logger = get_azureml_logger()
for step in range(int(sys.argv[1])):
    logger.log("loss", 1 / (step + 1))
    print("step", step, flush=True)
os.makedirs("outputs", exist_ok=True)
with open("outputs/model.txt", "w") as file:
    file.write("weights of " + sys.argv[2] + "\\n")
while sys.argv[2] == "waiting":
    time.sleep(0.1)
sys.exit(3 if sys.argv[2] == "failing" else 0)
"""
# What every start writes again, or what is only true for a daemon that runs.
LEFT_OUT = ("lib", "bin", "daemon.sock", "daemon.lock", "daemon.log", "daemon.start.lock", "cache", "reserve", "audit", "audit.head",
            "loopback.crt", "loopback.key")


def pack(folder, file):
    with tarfile.open(file, "w:gz") as archive:
        for place in sorted(folder.rglob("*")):
            parts = place.relative_to(folder).parts
            if parts[0] not in LEFT_OUT and not place.is_socket():
                archive.add(place, "/".join(parts), recursive=False)


def test_make(away, machine):
    away.write("train.py", SCRIPT)
    away.run("submit", "-c", "local", "train.py", "20", "completed")
    away.run("submit", "-c", "local", "train.py", "3", "failing", code=3)
    away.run("submit", "--async", "-c", "local", "train.py", "1", "waiting")
    while "step 0" not in away.text("logs", "last"):
        time.sleep(0.1)
    away.run("cancel", "last", "--wait")
    away.run("submit", "-c", "plain", "train.py", "5", "remote")
    away.run("submit", "-c", "docker", "train.py", "5", "container")
    away.run("token", "create", "--name", "golden")
    away.run("daemon", "stop")
    home = pathlib.Path(os.environ["GOLDEN"]).absolute()
    pack(away.home, home)
    pack(machine.home / ".ponk", home.with_name(home.name.replace("home-", "host-")))
