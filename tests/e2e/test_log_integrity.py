# SPDX-License-Identifier: Apache-2.0
"""A log that is not what its exit record says is served as far as it is there, and never as if it were whole."""
import os

import pytest


def ended_run(ponk, script="print('hello')\n"):
    ponk.write("a.py", script)
    ponk.run("submit", "a.py")
    return ponk.task(ponk.json("history", "last")["run_id"]) / "log"


def change(log):
    with open(log, "r+b") as out:
        out.write(b"J")


DAMAGES = {
    "changed": (change, b"Jello\n", b"was changed"),
    "cut": (lambda log: os.truncate(log, 3), b"hel", b"was truncated: 3 of its 6 bytes"),
    "removed": (lambda log: log.unlink(), b"", b"is missing: it had 6 bytes"),
    "grown": (lambda log: log.write_bytes(log.read_bytes() + b"x\n"), b"hello\nx\n", b"grew after the run had ended"),
}


@pytest.mark.parametrize("damage", DAMAGES)
def test_a_log_changed_after_the_end_is_told(ponk, damage, tmp_path):
    log = ended_run(ponk)
    spoil, left, words = DAMAGES[damage]
    assert ponk.run("logs", "last").stdout == b"hello\n"
    spoil(log)

    for _ in range(2):
        done = ponk.run("logs", "last", code=74)
        assert done.stdout == left
        last = done.stderr.splitlines()[-1]
        assert last.startswith(b"ponk: error: ") and words in last

    assert words.decode() in ponk.json("history", "last")["warnings"][0]
    got = ponk.run("history", "download", "last", "-d", tmp_path / "got", code=74)
    assert got.stderr.count(words) == 1


def test_secrets_in_the_log_do_not_hide_a_change(ponk):
    ponk.run("secret", "set", "KEY", input=b"hunter2-hunter2")
    ponk.write("a.py", "import os\nprint('hello', os.environ['K'])\n")
    ponk.run("submit", "--env", "K=secret:KEY", "a.py")
    assert ponk.run("logs", "last").stdout == b"hello ***\n"

    change(ponk.task(ponk.json("history", "last")["run_id"]) / "log")

    assert ponk.run("logs", "last", code=74).stdout == b"Jello ***\n"
    assert ponk.run("logs", "--raw", "last", code=74).stdout == b"Jello hunter2-hunter2\n"


@pytest.mark.parametrize("way", ["os.remove(log)", "os.rename(log, log + '2'); open(log, 'w').close()"])
def test_a_script_that_takes_its_log_away_is_told_at_the_end(ponk, way):
    ponk.write("a.py", f"import os\nprint('hello', flush=True)\nlog = os.environ['PONK_RUN_DIRECTORY'] + '/log'\n{way}\n")

    done = ponk.run("submit", "a.py")

    assert b"the log of run" in done.stderr
    assert len(ponk.json("history", "last")["warnings"]) == 1
    ponk.run("logs", "last", code=74)


def test_a_run_without_a_script_to_print_has_a_whole_log(ponk):
    ponk.write("a.py", "pass\n")
    ponk.run("submit", "a.py")
    assert ponk.run("logs", "last").stdout == b""
    ponk.write("b.py", "print(1)\n")
    ponk.run("submit", "--env", "K=secret:NONE", "b.py", code=66)
