# SPDX-License-Identifier: Apache-2.0
"""Comparisons with an engine and with another machine, both private to the measurement (root is needed)."""
import contextlib
import json
import os
import pathlib
import re
import shutil
import sys
import tempfile

from bench_place import take_turns

TESTS = pathlib.Path(__file__).resolve().parents[1] / "tests" / "integration"
sys.path[:0] = [str(TESTS / "docker"), str(TESTS / "host")]
import host as hosts  # noqa: E402
import engine as engines  # noqa: E402

RUN_CONFIGURATION = ("Target: %s\nFramework: Python\nPrepareEnvironment: false\nCondaDependenciesFile: null\n"
                     "SparkDependenciesFile: null\n")


@contextlib.contextmanager
def engine_and_machine(place):
    engine = engines.Engine(tempfile.mkdtemp(prefix="pd", dir="/tmp"), ["--live-restore"])
    machine = hosts.Host(tempfile.mkdtemp(prefix="pb", dir="/tmp"), {"DOCKER_HOST": f"unix://{engine.socket}"})
    try:
        engine.start()
        engine.load_base()
        machine.start()

        class Trusting:
            home = pathlib.Path(place.home)
        machine.trust(Trusting)
        yield engine, machine
    finally:
        place.stop_daemon()
        machine.stop()
        machine.remove()
        engine.stop()
        engine.remove()


def project(place, engine, machine):
    place.environment.update(PATH=os.environ["PATH"], DOCKER_HOST=f"unix://{engine.socket}")
    folder = pathlib.Path(place.project("away", {"noop.py": "pass\n"}))
    (folder / "aml_config").mkdir(exist_ok=True)
    files = {"docker": f"type: localdocker\nbaseDockerImage: {engines.IMAGE}\n",
             "away": machine.compute("remotedocker", f"baseDockerImage: {engines.IMAGE}"),
             "plain": machine.compute("remote", "pythonLocation: python3")}
    for name, text in files.items():
        (folder / "aml_config" / f"{name}.compute").write_text(text)
        (folder / "aml_config" / f"{name}.runconfig").write_text(RUN_CONFIGURATION % name)
    return folder


def ssh_words(machine):
    return ["ssh", "-p", str(machine.port), "-i", str(machine.folder / "key"), "-o", "BatchMode=yes", "-o", "LogLevel=ERROR",
            "-o", "StrictHostKeyChecking=no", "-o", "UserKnownHostsFile=/dev/null"]


def containers(place, report):
    """Submit to an engine and to a host, against the same by hand."""
    what = ("submit to docker : docker run of the same", "resubmit to a host, unchanged : ssh and docker run")
    why = hosts.missing() or engines.missing()
    if why:
        for one in what:
            report.skip(one, why)
        return
    with engine_and_machine(place) as (engine, machine):
        folder = project(place, engine, machine)
        by_hand = ["docker", "run", "--network=none", "-v", f"{folder}:/w", "-w", "/w", engines.IMAGE, "python3", "noop.py"]
        ours, theirs = take_turns(place.options.repeat, lambda: place.time([place.ponk, "submit", "-c", "docker", "noop.py"], folder),
                                  lambda: place.time(by_hand, folder))
        report.ratio(what[0], ours, theirs, 1.1)
        over = [*ssh_words(machine), f"{hosts.USER}@{machine.address}", " ".join(by_hand)]
        ours, theirs = take_turns(place.options.repeat, lambda: place.time([place.ponk, "submit", "-c", "away", "noop.py"], folder),
                                  lambda: place.time(over, folder))
        report.ratio(what[1], ours, theirs, 1.3)


def upload(place, report):
    """What has to travel when little changed, against rsync of the same folder."""
    what = ("to a host: a changed file in a large project : rsync", "to a host: a byte in a large file : rsync")
    why = hosts.missing() or engines.missing() or (None if shutil.which("rsync") else "'rsync' is not installed")
    if why:
        for one in what:
            report.skip(one, why)
        return
    size = place.options.megabytes << 20
    with engine_and_machine(place) as (engine, machine):
        folder = project(place, engine, machine)
        (folder / "data").mkdir()
        for number in range(256):
            (folder / f"data/{number}.bin").write_bytes(os.urandom(size // 256))
        rsync = ["rsync", "-a", "-e", " ".join(ssh_words(machine)), f"{folder}/", f"{hosts.USER}@{machine.address}:{machine.home}/copy/"]
        turns = max(3, place.options.repeat // 5)

        def change(path):
            with open(path, "r+b") as stream:
                stream.seek(os.path.getsize(path) // 2)
                stream.write(os.urandom(1))

        def ours(path):
            """Reading what changed and sending it; the run's own copy there is another matter."""
            change(path)
            place.run([place.ponk, "submit", "-c", "plain", "noop.py"], folder)
            run = json.loads(place.run([place.ponk, "history", "export"], folder)[1].splitlines()[-1])
            said = " ".join(event["text"] for event in run["events"])
            sent = float(re.findall(r"sending the project: .*? in ([0-9.]+) s", said)[-1])
            return place.ask("history", "info", "last", cwd=folder)["timings"]["snapshot"] / 1000 + sent

        def theirs(path):
            change(path)
            return place.time(rsync, folder)

        one = folder / "data/7.bin"
        report.ratio(what[0], *take_turns(turns, lambda: ours(one), lambda: theirs(one)), 1.0)
        shutil.rmtree(folder / "data")
        large = folder / "large.bin"
        with open(large, "wb") as stream:
            for _ in range(size >> 20):
                stream.write(os.urandom(1 << 20))
        report.ratio(what[1], *take_turns(turns, lambda: ours(large), lambda: theirs(large)), 1.0)
