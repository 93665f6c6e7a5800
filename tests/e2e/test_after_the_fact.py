# SPDX-License-Identifier: Apache-2.0
"""What a user does with runs afterwards: tags, names, notes, the end of a log, differences of code."""
import os
import pty
import select
import time

import pytest


@pytest.fixture(scope="module")
def ours(program, tmp_path_factory):
    from workbench import Ponk
    ours = Ponk(program, tmp_path_factory.mktemp("p"))
    ours.write("data.bin", "")
    (ours.project / "data.bin").write_bytes(b"\0one")
    ours.write("a.py", "import ponk\nfor i in range(100):\n    print('line', i)\nponk.log('loss', 0.5)\nponk.log('loss', 'n/a')\n")
    ours.run("submit", "--name", "first", "a.py", "--lr", "3")
    ours.write("a.py", "import ponk\nfor i in range(100):\n    print('line', i)\nponk.log('loss', 0.25)\nprint('\\x1b[2Jx')\n")
    (ours.project / "data.bin").write_bytes(b"\0two")
    ours.run("submit", "a.py")
    yield ours
    ours.run("daemon", "stop", code=None)


def on_terminal(ours, *words, env=None, keys=b""):
    """What a user sees, and the exit status."""
    child, terminal = pty.fork()
    if child == 0:
        os.chdir(ours.project)
        os.execve(ours.program, [ours.program, *words], {**ours.environment, "TERM": "xterm", **(env or {})})
    shown, end = b"", time.monotonic() + 60
    if keys:
        os.write(terminal, keys)
    while time.monotonic() < end:
        if not select.select([terminal], [], [], 1)[0]:
            continue
        try:
            piece = os.read(terminal, 65536)
        except OSError:
            break
        if not piece:
            break
        shown += piece
    return shown.decode().replace("\r\n", "\n"), os.waitstatus_to_exitcode(os.waitpid(child, 0)[1])


@pytest.mark.parametrize("name, why", [("last", b"it means the newest run"), ("3", b"it is taken for a run's number"), ("a/b", b"it contains '/'")])
def test_a_name_by_which_a_run_is_not_found_is_a_warning(ours, name, why):
    ours.write("pass.py", "")
    done = ours.run("submit", "-a", "--name", name, "pass.py")
    assert b"the run cannot be found by the name '" + name.encode() + b"': " + why in done.stderr
    run = ours.json("runs")[0]["run_id"]
    ours.run("logs", run, "--follow")
    assert b"the run cannot be found" in ours.run("rename", run, name).stderr
    assert b"the run cannot be found" not in ours.run("rename", run, "found").stderr
    ours.run("history", "delete", "--yes", run)


def test_a_name_that_is_another_runs_id_never_takes_its_place(ours):
    first, second = (ours.json("history", "info", number)["run_id"] for number in ("1", "2"))
    ours.write("pass.py", "")
    ours.run("submit", "--name", first, "pass.py")
    third = ours.json("history", "info", "last")["run_id"]
    for name in (first, first[-8:], "1"):
        ours.run("rename", third, name)
        assert ours.json("history", "info", name)["run_id"] == first, name
        assert ours.text("logs", name) == ours.text("logs", first) != ours.text("logs", third)
    ours.run("rename", second, "last")
    assert ours.json("history", "info", "last")["run_id"] == third
    ours.run("rename", second, "second")
    assert ours.json("history", "info", "second")["run_id"] == second
    ours.run("history", "delete", "--yes", third)


def test_the_last_lines_of_a_log(ours):
    lines = ours.text("logs", "1").splitlines(keepends=True)
    assert len(lines) > 100 and ours.text("logs", "1", "--tail", "3") == "".join(lines[-3:])
    assert ours.text("logs", "1", "-n", "0") == ""
    assert ours.text("logs", "1", "--tail", "1000") == ours.text("logs", "1")
    assert ours.text("logs", "1", "--follow", "--tail", "1") == lines[-1]
    assert b"not a number of lines" in ours.run("logs", "1", "--tail", "x", code=64).stderr


def test_the_end_of_a_large_log_is_read_alone(ours):
    ours.write("large.py", "import sys\nblock = ('x' * 99 + '\\n') * 10000\nfor _ in range(200):\n    sys.stdout.write(block)\nprint('end')\n")
    ours.run("submit", "-a", "large.py")
    ours.run("logs", "last", "--follow", "--tail", "0")
    begin = time.monotonic()
    assert ours.text("logs", "last", "--tail", "2") == "x" * 99 + "\nend\n"
    tail = time.monotonic() - begin
    begin = time.monotonic()
    ours.run("logs", "last")
    assert tail < time.monotonic() - begin


def test_tags_are_set_and_removed(ours):
    ours.run("tag", "1", "keep=yes", "team=a=b")
    assert ours.json("history", "info", "1")["tags"] == {"keep": "yes", "team": "a=b"}
    assert len(ours.json("runs", "--filter", "tags.keep = 'yes'")) == 1
    ours.run("history", "tag", "1", "keep=", "--remove", "team")
    assert ours.json("history", "info", "1")["tags"] == {}
    for words in (["tag", "1"], ["tag", "1", "keep"], ["tag", "1", "=x"]):
        ours.run(*words, code=64)
    ours.run("tag", "1", "param.lr=7")
    assert ours.json("history", "info", "1")["params"] == {}, "a tag is no parameter"
    ours.run("tag", "1", "param.lr=")
    assert ours.json("history", "info", "1")["tags"] == {}


def test_a_run_in_progress_is_tagged(ours):
    ours.write("wait.py", "import os, time\nwhile not os.path.exists(%r):\n    time.sleep(0.02)\n" % str(ours.home / "go"))
    ours.run("submit", "-a", "wait.py")
    ours.run("tag", "last", "when=during")
    (ours.home / "go").touch()
    ours.run("logs", "last", "--follow")
    assert ours.json("history", "info", "last")["tags"] == {"when": "during"}


def test_a_run_gets_another_name(ours):
    ours.run("rename", "2", "wider net")
    assert ours.json("history", "info", "wider net")["run_number"] == 2
    ours.run("rename", "2", " ", code=64)


def test_a_note_is_shown_here_and_to_clients(ours):
    ours.run("note", "2", "too", "fast")
    assert "too fast" in ours.text("history", "info", "2", "-o", "table")
    assert ours.json("history", "info", "2")["tags"] == {"mlflow.note.content": "too fast"}
    ours.run("note", "2", "")
    assert ours.json("history", "info", "2")["tags"] == {}


def test_a_text_does_not_replace_numbers(ours):
    assert ours.json("history", "info", "1")["metrics"]["loss"] == 0.5
    assert "the text 'n/a' is ignored" in ours.text("logs", "1")


def test_code_is_compared(ours):
    plain = ours.run("history", "compare", "1", "2", "-o", "table")
    assert b"'--diff' shows the lines" in plain.stderr and b"+ponk.log" not in plain.stdout
    text = ours.text("history", "compare", "1", "2", "--diff", "-o", "table")
    assert "--- a/a.py\n+++ b/a.py\n" in text and "+ponk.log('loss', 0.25)\n" in text
    assert "data.bin: no text" in text
    files = {one["path"]: one for one in ours.json("history", "compare", "1", "2", "--diff")["files"]}
    assert files["a.py"]["diff"].startswith("--- a/a.py") and files["a.py"]["change"] == "changed"
    ours.run("history", "compare", "1", "2", "1", "--diff", code=64)


def test_a_name_alone_orders_by_a_metric(ours):
    numbers = [run["run_number"] for run in ours.json("runs", "--order-by", "loss", "--filter", "metrics.loss > 0")]
    assert numbers == [2, 1]
    assert numbers[::-1] == [run["run_number"] for run in ours.json("runs", "--order-by", "loss DESC", "--filter", "metrics.loss > 0")]


def test_times_are_local_on_a_terminal_only(ours):
    zone = {"TZ": "XYZ-14", "PAGER": "cat"}
    utc = ours.json("history", "info", "1")["created_utc"]
    shown, _ = on_terminal(ours, "history", "info", "1", env=zone)
    assert " XYZ" in shown and utc not in shown and "created_utc" not in shown
    assert utc in ours.text("history", "info", "1", "-o", "table", env=zone)
    assert ours.json("history", "info", "1", env=zone)["created_utc"] == utc
    assert "start (XYZ)" in on_terminal(ours, "runs", env={**zone, "COLUMNS": "200"})[0]
    assert "start (UTC)" in ours.text("runs", "-o", "table", env=zone)


def test_times_of_lists_and_columns_are_local_too(ours):
    zone = {"TZ": "XYZ-14", "PAGER": "cat", "COLUMNS": "200"}
    utc = ours.json("history", "info", "1")["created_utc"]
    shown, _ = on_terminal(ours, "runs", "--columns", "no,created", env=zone)
    assert shown.count(" XYZ") == len(ours.json("runs")) and utc not in shown
    assert utc in ours.text("runs", "--columns", "no,created", "-o", "table", env=zone)
    assert "time (XYZ)" in on_terminal(ours, "audit", "list", env=zone)[0]
    assert "time (UTC)" in ours.text("audit", "list", "-o", "table", env=zone)


def test_a_name_alone_orders_by_a_parameter_where_no_metric_has_it(ours):
    ours.write("lr.py", "import ponk, sys\nponk.log_param('rate', sys.argv[1])\n")
    for rate in ("0.3", "0.1", "0.2"):
        ours.run("submit", "lr.py", rate)
    rates = [run["params"]["rate"] for run in ours.json("runs", "--order-by", "rate", "--script", "lr.py")]
    assert rates == ["0.1", "0.2", "0.3"]
    assert [run["params"]["rate"] for run in ours.json("runs", "--order-by", "rate DESC", "--script", "lr.py")] == rates[::-1]
    assert b"no run has" in ours.run("runs", "--order-by", "nonesuch").stderr


def test_only_the_inputs_that_differ_are_compared(ours):
    for folder in ("left", "right", "both"):
        ours.write(f"{folder}/x", folder)
    ours.write(".gitignore", "left/\nright/\nboth/\n")
    ours.write("i.py", "pass\n")
    for folder in ("left", "right"):
        ours.run("submit", "--input", folder, "--input", "both", "i.py")
    first, second = [str(run["run_number"]) for run in reversed(ours.json("runs", "-n", "2"))]
    compared = ours.json("history", "compare", first, second)
    assert {row["field"] for row in compared["differences"]} - {"duration"} == {
        f"configuration.inputs.{folder}.{part}" for folder in ("left", "right") for part in ("source", "files", "bytes", "newest")}
    table = ours.text("history", "compare", first, second, "-o", "table")
    assert "inputs.left.source" in table and "inputs.both" not in table


def test_long_output_goes_through_the_pager(ours):
    marked = {"PAGER": "sed s/^/PAGED:/"}
    assert on_terminal(ours, "logs", "1", env=marked)[0].startswith("PAGED:line 0\n")
    assert "PAGED:" in on_terminal(ours, "runs", env=marked)[0]
    assert "PAGED:" in on_terminal(ours, "--help", env=marked)[0]
    assert "\\x1b[2Jx" in on_terminal(ours, "logs", "2", env=marked)[0], "controls are shown, as without a pager"
    for words, env in ((["logs", "1", "--no-pager"], {}), (["logs", "1"], {"PONK_PAGER": "cat"}), (["logs", "1", "-f"], {}),
                       (["logs", "1"], {"TERM": "dumb"}), (["logs", "1"], {"PONK_PAGER": "no-such-program"})):
        shown, code = on_terminal(ours, *words, env={**marked, **env})
        assert "PAGED:" not in shown and "line 99" in shown and code == 0, words
    assert "PAGED:" not in ours.text("logs", "1", env={**marked, "TERM": "xterm"})


def test_a_pager_may_leave_early(ours):
    shown, code = on_terminal(ours, "logs", "last", env={"PAGER": "head -n 1"})
    assert "error" not in shown and code in (0, -13)
    shown, code = on_terminal(ours, "history", "info", "nonesuch", env={"PAGER": "sed s/^/PAGED:/"})
    assert "ponk: error:" in shown and code == 66


def test_a_project_without_runs_is_told_of_the_others(ours, tmp_path):
    said = ours.run("runs", "-o", "table", cwd=tmp_path).stderr.decode()
    assert "this project has no runs yet; '--all-projects'" in said
    offered = ours.text("__complete", "logs", "", cwd=tmp_path).splitlines()
    assert len(offered) == 1 and offered[0].startswith("last"), "no run of another project"
    assert len(ours.text("__complete", "logs", "").splitlines()) > 2
