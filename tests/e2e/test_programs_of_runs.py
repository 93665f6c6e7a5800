# SPDX-License-Identifier: Apache-2.0
"""What a run executes besides Python scripts: commands, modules, shell scripts."""
import shutil

import pytest
from workbench import own_metrics


def test_a_command_runs_in_the_copy_with_its_words_untouched(ponk):
    ponk.write("show.py", "import os, sys\nprint(os.path.basename(os.getcwd()), sys.argv[1:])\n")

    done = ponk.run("submit", "--name", "x", "--", "python3", "show.py", "--name", "y", "-o", "", "--", "a b")

    assert done.stdout == b"work ['--name', 'y', '-o', '', '--', 'a b']\n"
    run = ponk.json("history", "last")
    assert (run["name"], run["script_name"], run["arguments"][:2]) == ("x", "python3", ["show.py", "--name"])
    assert ponk.run("experiment", "rerun", "last").stdout == done.stdout


def test_a_command_logs_like_a_script_and_its_code_comes_back(ponk):
    ponk.write("train.sh", "exit 7\n")
    ponk.run("submit", "--", "sh", "-c", "python3 -c 'import ponk; ponk.log(\"loss\", 0.5)'; exit 9", code=9)
    assert own_metrics(ponk.json("history", "last")) == {"loss": 0.5}


def test_a_program_of_the_project_and_one_that_is_not_there(ponk):
    ponk.write("tool", "#!/bin/sh\necho tool $1\n").chmod(0o755)
    assert ponk.text("submit", "--", "./tool", "x") == "tool x\n"

    done = ponk.run("submit", "--", "no-such-program", code=None)
    assert done.returncode != 0 and b"program 'no-such-program' is not on PATH" in done.stderr
    assert b"named by its path: ./tool" in ponk.run("submit", "--", "tool", code=None).stderr
    assert b"there is no such file" in ponk.run("submit", "--", "trainn.py", code=None).stderr
    assert len(ponk.json("runs")) == 1


def test_dashes_before_a_script_mean_the_script(ponk):
    ponk.write("-odd.py", "import sys\nprint(sys.argv[1:])\n")
    assert ponk.text("submit", "--", "-odd.py", "-x") == "['-x']\n"


def test_a_module_of_the_project(ponk):
    ponk.write("pkg/__init__.py", "")
    ponk.write("pkg/train.py", "import sys\nprint(__name__, sys.argv[1:])\n")

    assert ponk.text("submit", "-m", "pkg.train", "--epochs", "3", "-o", "json") == "__main__ ['--epochs', '3', '-o', 'json']\n"
    run = ponk.json("history", "last")
    assert (run["script_name"], run["arguments"]) == ("-m pkg.train", ["--epochs", "3", "-o", "json"])
    assert ponk.text("submit", "--name", "n", "--module=pkg.train", "x") == "__main__ ['x']\n"
    assert ponk.run("submit", "-m", code=64).stderr
    assert b"'-m pkg.train'" in ponk.run("submit", "-m", "pkg/train.py", code=65).stderr


@pytest.mark.parametrize("name, text, shown", [
    ("run.sh", "echo $1 $2\n", b"a b\n"),
    ("run.bash", "[[ a == a ]] && echo $1 $2\n", b"a b\n"),
    ("run.sh", "#!/bin/bash -e\n[[ a == a ]] && echo $1 $2; false; echo no\n", b"a b\n"),
    ("tool", "#!/usr/bin/env bash\n[[ a == a ]] && echo $1 $2\n", b"a b\n"),
    ("tool", "#!/usr/bin/env -S FOO=a bash\n[[ a == a ]] && echo $FOO $2\n", b"a b\n"),
    ("tool", "#!/usr/bin/env python3\nimport sys; print(*sys.argv[1:])\n", b"a b\n"),
    ("a.py", "#!/bin/sh\n'''exec' python3 $0 $@ # '''\nimport sys; print(*sys.argv[1:])\n", b"a b\n")])
def test_scripts_run_by_what_they_are(ponk, name, text, shown):
    if "bash" in name + text and not shutil.which("bash"):
        pytest.skip("bash is not installed")
    ponk.write(name, text)
    done = ponk.run("submit", name, "a", "b", code=None)
    assert done.stdout == shown
    assert done.returncode == (1 if "-e" in text else 0)


def test_a_shell_script_with_windows_lines_gets_the_line_and_the_remedy(ponk):
    ponk.write("run.sh", "")
    (ponk.project / "run.sh").write_bytes(b"#!/bin/sh\necho a\r\necho b\r\n")

    done = ponk.run("submit", "run.sh", code=65)

    assert b"run.sh:2: the line ends as on Windows (CRLF)" in done.stderr
    assert b"sed -i 's/\\r$//' run.sh" in done.stderr
    assert ponk.json("history", "list") == []


def test_carriage_returns_among_the_data_of_a_script_are_its_own(ponk):
    ponk.write("run.sh", "")
    (ponk.project / "run.sh").write_bytes(b"cat <<X\na\r\nX\necho b\n")
    assert ponk.run("submit", "run.sh").stdout == b"a\r\nb\n"


def test_a_language_that_is_not_there_is_explained(ponk):
    if not shutil.which("Rscript"):
        ponk.write("x.R", "1\n")
        done = ponk.run("submit", "x.R", code=None)
        assert b"program 'Rscript' is not on PATH" in done.stderr and done.returncode != 0
