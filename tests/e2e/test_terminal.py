# SPDX-License-Identifier: Apache-2.0
"""What others wrote cannot drive the terminal that shows it; files and pipes get every byte."""
import os
import pty
import select
import subprocess
import time

CLIPBOARD = "\x1b]52;c;ZWNobyBoaQ==\x07"
BIDI = "\u202egnp.exe"
HIDE = "\x1b[8m"
SCRIPT = ("import sys\nfrom azureml.logging import get_azureml_logger\n"
          "log = get_azureml_logger()\nlog.log('note', sys.argv[1])\nprint('done')\n")
NASTY = "a" + CLIPBOARD + "b" + BIDI + "c" + HIDE + "d"


def on_terminal(ponk, *words):
    """All that the command shows on a terminal, stdout and stderr together."""
    ours, theirs = pty.openpty()
    child = subprocess.Popen([ponk.program, *map(str, words)], cwd=ponk.project, env={**ponk.environment, "TERM": "xterm", "COLUMNS": "500"},
                             stdin=theirs, stdout=theirs, stderr=theirs)
    os.close(theirs)
    out, end = b"", time.monotonic() + 120
    while time.monotonic() < end:
        ready, _, _ = select.select([ours], [], [], 1)
        if not ready:
            if child.poll() is not None:
                break
            continue
        try:
            piece = os.read(ours, 65536)
        except OSError:
            break
        if not piece:
            break
        out += piece
    child.wait(timeout=60)
    os.close(ours)
    return out.decode("utf-8", "surrogateescape")


def check(text, words):
    assert CLIPBOARD not in text and "\x1b]" not in text, (words, text)
    assert "\u202e" not in text, (words, text)
    assert HIDE not in text, (words, text)


def test_no_command_prints_what_drives_the_terminal(ponk):
    ponk.write("a.py", SCRIPT)
    ponk.run("submit", "a.py", NASTY)
    run = ponk.json("history", "last")["run_id"]
    commands = [("history", "export", "--format", "csv"), ("history", "export"), ("history", "export", "--format", "csv", "--points"),
                ("runs",), ("history", "info", run), ("history", "compare", run, run), ("experiment", "status", run),
                ("history", "info", run, "--query", "arguments"), ("runs", "--columns", "run,arguments,note"), ("logs", run)]
    commands += [("history", "list", "-o", form) for form in ("tsv", "yaml", "json", "table")]
    commands += [("history", "info", "-o", form, run) for form in ("tsv", "yaml", "json")]
    # Errors name what they were given.
    commands += [("history", "info", NASTY), ("submit", NASTY), ("submit", "-c", NASTY, "a.py"), (NASTY,), ("runs", "--filter", NASTY),
                 ("runs", "--query", NASTY), ("check", NASTY), ("audit", "list", "--since", NASTY), ("runs", "-o", NASTY)]
    for words in commands:
        check(on_terminal(ponk, *words), words)


def test_files_and_pipes_get_every_byte(ponk):
    ponk.write("a.py", SCRIPT)
    ponk.run("submit", "a.py", NASTY)

    assert NASTY.encode() in ponk.run("history", "export", "--format", "csv").stdout
    target = ponk.project / "out.csv"
    ponk.run("history", "export", "--format", "csv", "--destination", target)
    assert NASTY.encode() in target.read_bytes()
