# SPDX-License-Identifier: Apache-2.0
"""Logs, arguments and names arrive byte for byte."""
import os
import subprocess
import sys


def test_log_is_exact_whatever_the_bytes(ponk):
    ponk.write("bytes.py", "import os\nos.write(1, bytes(range(256)) * 3)\nos.write(2, b'err\\r\\n')\nos.write(1, b'no newline')\n")
    expected = bytes(range(256)) * 3 + b"err\r\nno newline"

    streamed = ponk.run("submit", "bytes.py").stdout

    assert streamed == expected
    assert ponk.run("logs", "last").stdout == expected


def test_line_of_a_hundred_megabytes_arrives_whole(ponk):
    ponk.write("long.py", "import os\nb = b'x' * 1048576\nfor i in range(100):\n    d = b\n    while d:\n        d = d[os.write(1, d):]\n")

    log = ponk.run("submit", "long.py", timeout=120).stdout

    assert len(log) == 100 << 20
    assert log.count(b"x") == len(log)


def test_script_that_writes_nothing_has_an_empty_log(ponk):
    ponk.write("quiet.py", "pass\n")
    assert ponk.run("submit", "quiet.py").stdout == b""
    assert ponk.run("logs", "last").stdout == b""


def test_arguments_reach_the_script_untouched(ponk):
    ponk.write("args.py", "import os, sys\nos.write(1, b'\\0'.join(os.fsencode(a) for a in sys.argv[1:]))\n")
    words = ["--epochs", "3", "-o", "json", "--help", "", "a b", "it's", '"q"', "new\nline", "$HOME", "*", "é", "--", "-c"]
    raw = [word.encode() for word in words] + [b"\xff\xfe"]

    done = subprocess.run([ponk.program, b"submit", b"args.py", *raw], cwd=ponk.project, env=ponk.environment,
                          capture_output=True, timeout=60)

    assert done.returncode == 0, done.stderr
    assert done.stdout.split(b"\0") == raw
    kept = ponk.json("history", "info", "last")["arguments"]
    assert [word.encode("utf-8", "surrogateescape") for word in kept] == raw


def test_ten_thousand_arguments_are_no_problem(ponk):
    ponk.write("count.py", "import sys\nprint(len(sys.argv) - 1)\n")
    assert ponk.text("submit", "count.py", *range(10000)) == "10000\n"


def test_file_names_of_any_kind_are_in_the_snapshot(ponk):
    names = [b"with space", b"quote'\"", b"new\nline", b"\xff\xfe.bin", b"-dash", "žluťoučký".encode()]
    for name in names:
        with open(os.path.join(os.fsencode(ponk.project), name), "wb") as stream:
            stream.write(name)
    ponk.write("list.py", "import os\nfor n in sorted(os.listdir(b'.')):\n    if n != b'list.py' and not n.startswith(b'__'): os.write(1, n + b'\\0')\n")

    log = ponk.run("submit", "list.py").stdout

    assert set(log.split(b"\0")) - {b""} >= set(names)


def test_log_follows_while_the_script_still_runs(ponk):
    ponk.write("slow.py", "import time\nprint('first')\ntime.sleep(3)\nprint('second')\n")
    process = subprocess.Popen([ponk.program, "submit", "slow.py"], cwd=ponk.project, env=ponk.environment,
                               stdout=subprocess.PIPE, stderr=subprocess.DEVNULL)

    first = process.stdout.readline()  # print() writes the text and the line end one after the other
    still_running = process.poll() is None
    rest = process.communicate(timeout=60)[0]

    assert (first, still_running, rest) == (b"first\n", True, b"second\n"), sys.version
