# SPDX-License-Identifier: Apache-2.0
"""What a script writes into the control files of its run is not believed."""
import json
import os
import signal
import time


FORGER = r"""
import os, time
control = os.environ["PONK_RUN_DIRECTORY"]
for name in ("exit", "ended", "pid", "failed"):
    with open(os.path.join(control, "new"), "w") as out:
        out.write("ponk-exit 1\ncode 0\nsignal 0\nby stub\ncause script\nmessage \nlog-length 0\nend\n")
    os.rename(os.path.join(control, "new"), os.path.join(control, name))
print("forged", flush=True)
time.sleep(0.5)
raise SystemExit(7)
"""


def test_a_script_cannot_write_its_own_end(ponk):
    ponk.write("x.py", FORGER)
    done = ponk.run("submit", "x.py", code=7)
    assert done.stdout == b"forged\n"
    info = ponk.json("history", "info", "last")
    assert (info["status"], info["exit_code"], info["evidence"]["by"]) == ("Failed", 7, "stub")
    assert info["evidence"]["log_length"] == 7


def test_a_forged_end_does_not_outlive_a_killed_daemon(ponk):
    ponk.write("x.py", FORGER.replace("time.sleep(0.5)", "while not os.path.exists(%r): time.sleep(0.05)" % str(ponk.home / "go")))
    ponk.run("submit", "--async", "x.py")
    for _ in range(200):
        if ponk.run("logs", "last").stdout:
            break
        time.sleep(0.02)
    pid = json.loads(ponk.text("daemon", "status", "-o", "json"))["pid"]
    os.kill(pid, signal.SIGKILL)
    assert ponk.json("history", "info", "last")["status"] == "Running"
    (ponk.home / "go").touch()
    assert ponk.run("logs", "last", "--follow", code=None).stdout == b"forged\n"
    assert ponk.json("history", "info", "last")["exit_code"] == 7
