# SPDX-License-Identifier: Apache-2.0
"""What is printed where: notices, progress, metrics in every format."""
import contextlib
import fcntl
import os
import pty
import sqlite3
import struct
import subprocess
import termios
from workbench import own_metrics

LISTS = ("from azureml.logging import get_azureml_logger\nimport ponk\nlogger = get_azureml_logger()\n"
         "logger.log('loss', [3, 2, 1.5])\nlogger.log('Accuracy', 0.5)\n"
         "ponk.log('long', list(range(5000)))\n"
         "for step in range(3):\n    ponk.log('live', step / 2, step=step)\n")


def on_terminal(ponk, *words, width=80, **variables):
    """What a terminal of that width shows."""
    master, slave = pty.openpty()
    fcntl.ioctl(slave, termios.TIOCSWINSZ, struct.pack("HHHH", 30, width, 0, 0))
    process = subprocess.Popen([ponk.program, *words], cwd=ponk.project, stdin=slave, stdout=slave, stderr=slave,
                               env={**ponk.environment, "TERM": "xterm", **variables})
    os.close(slave)
    seen = b""
    while True:
        try:
            block = os.read(master, 65536)
        except OSError:
            break
        if not block:
            break
        seen += block
    os.close(master)
    process.wait(timeout=60)
    return seen.decode()


def test_link_that_points_outside_is_told_once(ponk):
    (ponk.project / "data").symlink_to("/etc/hostname")
    ponk.write("x.py", "print('hello')\n")
    for words in (["submit", "x.py"], ["submit", "--async", "x.py"]):
        said = ponk.run(*words).stderr.decode()
        assert said.count("'data' is a link to '/etc/hostname'") == 1, said


def test_progress_is_few_lines_in_a_pipe(ponk):
    for i in range(2000):
        (ponk.project / f"file{i}").write_text(str(i))
    ponk.write("x.py", "print('hello')\n")
    said = ponk.run("submit", "x.py").stderr.decode().splitlines()
    progress = [line for line in said if line.startswith("ponk: snapshot:")]
    # None within the first two seconds, then ever fewer: a slow machine may show some.
    took = ponk.json("history", "last")["timings"]["snapshot"]
    assert len(progress) <= took / 2000 and len(said) == 4 + len(progress), (took, said)


def test_lists_are_lists_in_the_record_and_no_columns(ponk):
    ponk.write("x.py", LISTS)
    said = ponk.run("submit", "x.py").stderr.decode()
    assert "loss 1.5 (last of 3), Accuracy 0.5, long 4999.0 (last of 5000), live 1" in said

    record = ponk.json("history", "last")

    assert record["loss"] == record["metrics"]["loss"] == [3, 2, 1.5]
    assert record["long"] == {"count": 5000, "last": 4999}
    assert record["live"] == 1 and record["Accuracy"] == 0.5
    best = ponk.json("history", "list", "--query", "[?Accuracy != null] | max_by(@, &Accuracy).loss[-1]")
    assert best == 1.5
    heading = ponk.text("runs", "-o", "table").splitlines()[0].split()
    assert heading[-2:] == ["Accuracy", "live"]


def test_metric_with_the_name_of_a_field_is_in_every_format(ponk):
    ponk.write("x.py", "import sys, ponk\nponk.log({'status': float(sys.argv[1]), 'target': 'T'})\n")
    ponk.run("submit", "x.py", "1")
    ponk.run("submit", "x.py", "2")

    record = ponk.json("history", "last")
    assert record["status"] == "Completed" and own_metrics(record) == {"status": 2, "target": "T"}
    rows = [line.split("\t") for line in ponk.text("runs", "-o", "tsv").splitlines()]
    assert [row[-2:] for row in rows] == [["2.0", "T"], ["1.0", "T"]]
    assert [row[2] for row in rows] == ["Completed", "Completed"]
    table = ponk.text("runs", "-o", "table")
    assert "metrics.status" in table and "metrics.target" in table
    fields = ponk.json("history", "compare", *[run["run_id"] for run in ponk.json("runs")])["differences"]
    assert {"field": "metrics.status", "values": [2, 1], "equal": False} in fields


def test_nothing_is_cut_in_a_pipe_and_cuts_are_marked_on_a_terminal(ponk):
    name = "n" * 90 + ".py"
    ponk.write(name, "import ponk\nponk.log('note', 'w' * 90)\n")
    ponk.run("submit", name)

    for form in ("table", "tsv", "json", "yaml"):
        text = ponk.text("runs", "-o", form)
        assert name in text and "w" * 90 in text, form
    wide = on_terminal(ponk, "runs", width=300)
    assert name in wide and "w" * 90 in wide and "…" not in wide
    for width in (40, 80, 120):
        lines = on_terminal(ponk, "runs", width=width).splitlines()
        assert all(len(line) <= width for line in lines), lines
        assert name not in "".join(lines)
        assert any("…" in line for line in lines) or any("more column" in line for line in lines), lines
    plain = on_terminal(ponk, "runs", width=80, LC_ALL="C")
    assert plain.isascii() and ".." in plain


def test_asset_is_downloaded_where_it_is_wanted(ponk, tmp_path):
    ponk.write("x.py", "import os\nos.makedirs('outputs/deep')\nopen('outputs/deep/model', 'w').write('m')\n")
    ponk.run("submit", "x.py")
    ponk.run("history", "promote", "last", "-ap", "outputs/deep/model", "-n", "best")
    said = ponk.text("asset", "download", "best", "-d", "new/folders", "-o", "table")
    assert said == "version 1 of 'best' is in 'new/folders/model'\n"
    assert (ponk.project / "new/folders/model").read_text() == "m"
    assert ponk.text("asset", "download", "-l", "assets/best.link", "-o", "table") == "version 1 of 'best' is in 'model'\n"
    ponk.run("asset", "download", "best", "-d", tmp_path / "absolute")
    assert (tmp_path / "absolute/model").exists()
    # There already: kept, unless it may be replaced.
    (ponk.project / "model").write_text("mine")
    done = ponk.run("asset", "download", "best", code=73)
    assert b"'model' already exists" in done.stderr and b"--overwrite" in done.stderr
    assert (ponk.project / "model").read_text() == "mine"
    ponk.run("asset", "download", "best", "--overwrite")
    assert (ponk.project / "model").read_text() == "m"
    # A file where a folder is wanted, and the reverse.
    for folder in ("model", "model/below"):
        done = ponk.run("asset", "download", "best", "-d", folder, code=73)
        assert b"'model' is not a folder" in done.stderr and b"-d FOLDER" in done.stderr
    (ponk.project / "taken/model").mkdir(parents=True)
    assert b"'taken/model' is a folder" in ponk.run("asset", "download", "best", "-d", "taken", "-f", code=73).stderr
    assert not list(ponk.project.rglob("*partial"))


def test_prepare_says_what_it_did_and_what_not(ponk):
    ponk.write("aml_config/local.runconfig",
               "Target: local\nFramework: Python\nCondaDependenciesFile: aml_config/conda_dependencies.yml\n")
    ponk.write("aml_config/local.compute", "type: local\npythonLocation: /usr/bin/python3\n")
    ponk.write("aml_config/conda_dependencies.yml", "name: x\ndependencies:\n  - python=3.11\n")
    done = ponk.run("experiment", "prepare", "-c", "local", "-o", "table")
    assert b"/usr/bin/python3" in done.stdout and b"nothing was built" in done.stdout
    assert b"'aml_config/conda_dependencies.yml' is not used" in done.stderr
    for kind, why in (("cluster", b"not supported by this version"),
                      ("batchai", b"switched off")):
        ponk.write("aml_config/far.compute", f"type: {kind}\naddress: h\nusername: u\n")
        done = ponk.run("experiment", "prepare", "-c", "local", "-t", "far", code=68)
        assert b"target 'far': targets of type" in done.stderr.splitlines()[-1] and why in done.stderr.splitlines()[-1]


def test_rerun_on_a_target_that_is_not_served_is_refused(ponk):
    ponk.write("x.py", "print('once')\n")
    ponk.run("submit", "x.py")
    ponk.run("daemon", "stop")
    [database] = ponk.home.glob("history/*.db")
    with contextlib.closing(sqlite3.connect(database)) as connection, connection:
        connection.execute("UPDATE run SET details = replace(details, '\"target_type\":\"local\"', '\"target_type\":\"cluster\"'),"
                           " target = 'far'")

    done = ponk.run("experiment", "rerun", "last", code=68)

    said = done.stderr.decode().splitlines()
    assert said[-1] == "ponk: error: target 'far': targets of type 'cluster' are not supported by this version"
    assert "ponk project restore" in said[-2] and "submit -t local" in said[-2]
    assert len(ponk.json("runs")) == 1


EVERY_HELP = ["", "experiment", "experiment submit", "computetarget attach", "history list", "history info", "check", "doctor",
              "project create", "completion"]


def test_help_fits_narrow_and_wide_terminals(ponk):
    for words in EVERY_HELP:
        for width in (40, 200):
            text = on_terminal(ponk, *words.split(), "--help", width=width)
            lines = text[:text.find("Examples:")].splitlines() if "Examples:" in text else text.splitlines()
            # What cannot be broken, such as a long option, may stand out.
            wide = [line for line in lines if len(line) > min(width, 100) and " " in line.strip()]
            assert not wide, (words, width, wide)


def test_help_is_ascii_in_the_c_locale(ponk):
    for words in EVERY_HELP:
        text = ponk.run(*words.split(), "--help", env={"LC_ALL": "C"}).stdout
        assert text.isascii() and b"Usage: ponk" in text
        assert "Usage: ponk" in ponk.text(*words.split(), "--help")


def test_colours_are_for_terminals_that_want_them(ponk):
    ponk.write("x.py", "print('hello')\n")
    ponk.run("submit", "x.py")
    del ponk.environment["NO_COLOR"]
    for words in (["runs"], ["history", "last", "-o", "jsonc"], ["history", "info"], ["doctor"], ["check"]):
        assert "\x1b[" in on_terminal(ponk, *words) or words == ["check"], words
        assert "\x1b[" not in on_terminal(ponk, *words, NO_COLOR="1"), words
        assert "\x1b[" not in on_terminal(ponk, *words, TERM="dumb"), words
        assert b"\x1b[" not in ponk.run(*words, *([] if "-o" in words else ["-o", "table"])).stdout, words


def test_progress_line_goes_away_on_a_terminal(ponk):
    for i in range(300):
        (ponk.project / f"file{i}").write_text(str(i))
    ponk.write("x.py", "print('hello')\n")
    seen = on_terminal(ponk, "submit", "x.py", NO_COLOR="1")
    assert "hello\r\n" in seen
    for line in seen.split("\r\n"):
        shown = line.rsplit("\x1b[K", 1)[-1]
        assert "snapshot:" not in shown, seen
