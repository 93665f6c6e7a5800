# SPDX-License-Identifier: Apache-2.0
"""Scripts that take away rights to their own folders, and supervisors that cannot write how they ended."""
import json
import os
import signal
import subprocess
import time

import pytest

TAKEN = {
    "not written": "os.chmod('.', 0o500); os.chmod('..', 0o500)",
    "not entered": "os.chmod('..', 0)",
    "control files": "os.chmod(os.environ['PONK_RUN_DIRECTORY'], 0); os.chmod('../attempts/1', 0); os.chmod('../attempts', 0)",
    "nothing at all": "up = os.path.abspath('..'); os.chmod('.', 0); os.chmod(up, 0)",
}


@pytest.mark.parametrize("taken", TAKEN)
def test_a_folder_whose_rights_the_script_took_away_still_tells_the_end(bound, taken):
    bound.write("a.py", "import os\nos.makedirs('d/e')\nos.makedirs('outputs', exist_ok=True)\nopen('outputs/m', 'w').write('model')\n"
                        f"os.chmod('d/e', 0)\nos.chmod('d', 0o500)\nprint('kept', flush=True)\n{TAKEN[taken]}\n"
                        "os._exit(3)\n")

    done = bound.run("submit", "a.py", code=3)

    assert done.stdout == b"kept\n"
    run = bound.json("history", "last")
    assert run["status"] == "Failed" and run["outputs"] and run["warnings"] == []
    assert bound.run("logs", "last").stdout == b"kept\n"
    bound.run("experiment", "clean", "last", "--yes")


def test_a_run_whose_folder_is_closed_can_be_cancelled(bound):
    bound.write("a.py", "import os, time\nprint('on', flush=True)\nos.chmod('..', 0)\ntime.sleep(300)\n")
    run = bound.text("submit", "--async", "a.py").strip()
    while bound.json("experiment", "status", run)["status"] != "Running":
        time.sleep(0.02)

    bound.run("cancel", run)

    limit = time.monotonic() + 30
    while (status := bound.json("experiment", "status", run)["status"]) != "Canceled":
        assert time.monotonic() < limit, status
        time.sleep(0.05)


def test_a_supervisor_that_does_not_tell_the_end_is_told_of(ponk):
    ponk.write("a.py", "import time\ntime.sleep(300)\n")
    run = ponk.text("submit", "--async", "a.py").strip()
    while ponk.json("experiment", "status", run)["status"] != "Running":
        time.sleep(0.02)
    lines = (ponk.task(run) / "pid").read_text().splitlines()
    pids = {words[0]: int(words[1]) for words in map(str.split, lines) if words[0] in ("stub", "guard", "main")}
    for name in ["stub", "guard"]:
        os.kill(pids[name], signal.SIGSTOP)
    os.kill(pids["main"], signal.SIGKILL)
    try:
        limit = time.monotonic() + 180
        while True:
            told = [event["text"] for event in exported(ponk, run)["events"] if event["kind"] == "notice"
                    and not event["text"].startswith("packages: ")]
            if told:
                break
            assert time.monotonic() < limit, "no notice"
            time.sleep(0.5)
    finally:
        for name in ["stub", "guard"]:
            os.kill(pids[name], signal.SIGCONT)
    assert len(told) == 1 and f"supervisor (process {pids['stub']}) has not recorded the result" in told[0]
    limit = time.monotonic() + 30
    while (status := ponk.json("experiment", "status", run)["status"]) != "Failed":
        assert time.monotonic() < limit, status
        time.sleep(0.05)


def exported(ponk, run):
    lines = ponk.text("history", "export").splitlines()
    return next(record for record in map(json.loads, lines) if record.get("run", {}).get("run_id") == run)
