# SPDX-License-Identifier: Apache-2.0
"""A ponk of one's own for every test: private PONK_HOME, empty project, no daemon left behind."""
import json
import os
import pathlib
import signal
import subprocess

import pytest

# Started in the background of a shell, we were told to ignore Ctrl-C, and every child would be too.
signal.signal(signal.SIGINT, signal.default_int_handler)

REPOSITORY = pathlib.Path(__file__).resolve().parents[2]


class Ponk:
    def __init__(self, program, folder):
        self.program = str(program)
        self.home = folder / "home"
        self.project = folder / "project"
        self.project.mkdir()
        self.environment = {
            "PATH": "/usr/bin:/bin", "HOME": str(folder), "PONK_HOME": str(self.home), "LANG": "C.UTF-8", "NO_COLOR": "1", "PAGER": "cat",
        }

    def run(self, *words, cwd=None, code=0, input=b"", env=None, umask=-1, timeout=300):
        """The finished command; fails the test when it left with another code (None: any)."""
        done = subprocess.run([self.program, *map(str, words)], cwd=cwd or self.project, input=input,
                              env={**self.environment, **(env or {})}, capture_output=True, umask=umask,
                              timeout=timeout)
        if code is not None:
            assert done.returncode == code, (words, done.returncode, done.stdout[-2000:], done.stderr[-2000:])
        return done

    def text(self, *words, **options):
        return self.run(*words, **options).stdout.decode()

    def json(self, *words, **options):
        """Like run, with `-o json` right after the command's own words."""
        position = next((index for index, word in enumerate(words) if str(word).startswith("-") or "." in str(word)), len(words))
        return json.loads(self.run(*words[:position], "-o", "json", *words[position:], **options).stdout)

    def task(self, run):
        """Where log, journals and control files of a run are."""
        return self.home / "runs" / run / "attempts" / "1" / "tasks" / "0"

    def write(self, path, text):
        place = self.project / path
        place.parent.mkdir(parents=True, exist_ok=True)
        place.write_text(text)
        return place


@pytest.fixture(scope="session")
def program():
    named = os.environ.get("PONK_BIN") or REPOSITORY / "build" / "release" / "ponk"
    path = pathlib.Path(named).resolve()
    if not path.is_file():
        pytest.fail(f"no ponk at '{path}'; build it or set PONK_BIN")
    return path


@pytest.fixture(scope="session")
def next_program(program):
    """The same program with another version string, built beside it (target ponk_next)."""
    path = program.with_name("ponk_next")
    if not path.is_file():
        pytest.skip(f"no '{path}': build the target ponk_next")
    return str(path)


@pytest.fixture
def ponk(program, tmp_path_factory):
    # Short names: a socket's path has 107 bytes at most.
    ours = Ponk(program, tmp_path_factory.mktemp("p"))
    yield ours
    subprocess.run([ours.program, "daemon", "stop"], env=ours.environment, capture_output=True, timeout=60)


@pytest.fixture(scope="session")
def samples():
    return REPOSITORY / "samples"


def own_metrics(run):
    """The metrics of the script: a run that takes long has ponk's own, too."""
    return {name: value for name, value in run["metrics"].items() if not name.startswith("system/")}
