# SPDX-License-Identifier: Apache-2.0
"""What commands say, to a person at a terminal and to a program behind a pipe."""
import json
import os
import pathlib
import pty
import shutil
import signal
import subprocess
import time

import pytest

PROJECT = {"aml_config/local.compute": "type: local\n", "aml_config/local.runconfig": "Target: local\nFramework: Python\n"}


def said(done):
    return done.stderr.decode()


def table(ponk, *words, **options):
    return ponk.text(*words, "-o", "table", **options)


def rows_of(text):
    """The rows of a table of two columns."""
    return {line.split()[0]: line.split(None, 1)[1].strip() for line in text.splitlines() if len(line.split(None, 1)) == 2}


def test_every_command_that_removes_something_takes_y(ponk):
    for words in ("environment remove ffff", "secret remove none", "token remove none", "session remove none", "runconfiguration delete none",
                  "project delete none", "history delete ffff", "experiment clean ffff", "computetarget detach none"):
        for yes in ("-y", "--yes"):
            ponk.run(*words.split(), yes, code=66)
    ponk.run("prune", "-y")


def test_tags_and_parameters_are_shown(ponk):
    ponk.write("x.py", "import ponk\nponk.log_params(lr=0.1, note='a b')\nponk.set_tag('stage', 'final')\n")
    ponk.run("submit", "--tag", "team=x", "x.py")
    rows = rows_of(table(ponk, "history", "info", "last"))
    assert rows["params"] == "lr=0.1 note='a b'" and rows["tags"] == "stage=final team=x"
    record = ponk.json("history", "info", "last")
    assert record["params"] == {"lr": "0.1", "note": "a b"} and record["tags"] == {"stage": "final", "team": "x"}


def test_compare_shows_what_differs_and_nothing_else(ponk):
    for name, text in PROJECT.items():
        ponk.write(name, text)
    ponk.write("aml_config/other.runconfig", "Target: local\nFramework: Python\nEnvironmentVariables:\n  DEPTH: '3'\n")
    ponk.write("x.py", "pass\n")
    ponk.run("submit", "--tag", "team=x", "x.py", "a b", "--lr", "0.1")
    ponk.run("submit", "-c", "other", "--tag", "team=y", "x.py", "--lr", "0.2")
    text = table(ponk, "history", "compare", "1", "2")
    rows = rows_of(text)
    assert "{" not in text and "[" not in text, text
    assert rows["arguments"].split("  ")[0] == "'a b' --lr 0.1" and rows["arguments"].endswith("--lr 0.2")
    assert rows["tags.team"].split() == ["x", "y"]
    assert rows["run_configuration"].split() == ["local", "other"]
    assert rows["configuration.variables.DEPTH"].split() == ["-", "3"]
    assert not {"target", "configuration.location.target", "configuration.arguments"} & set(rows)
    whole = json.loads(ponk.text("history", "compare", "1", "2", "-o", "json"))
    assert {"tags", "arguments"} <= {row["field"] for row in whole["differences"]}


def test_equal_runs_are_said_to_be_equal(ponk):
    ponk.write("x.py", "pass\n")
    ponk.run("submit", "x.py")
    assert "equal" in table(ponk, "history", "compare", "last", "last")
    assert json.loads(ponk.text("history", "compare", "last", "last", "-o", "json"))["differences"] == []


def test_run_is_named_by_its_number(ponk, tmp_path):
    ponk.write("x.py", "import sys; print(sys.argv[1])\n")
    for word in ("first", "second"):
        ponk.run("submit", "x.py", word)
    assert ponk.text("logs", "1") == "first\n" and ponk.text("logs", "-r", "2") == "second\n"
    assert ponk.json("experiment", "status", "1")["run_number"] == 1
    assert ponk.text("experiment", "rerun", "1") == "first\n"
    done = ponk.run("logs", "9", code=66)
    assert "no run with number '9'" in said(done)
    other = tmp_path / "other"
    other.mkdir()
    ponk.run("logs", "1", cwd=other, code=None)
    assert ponk.run("logs", "1", cwd=other, code=None).returncode != 0


@pytest.mark.parametrize("option, kind", [("-d", "package"), ("-s", "Spark dependencies")])
def test_named_dependency_file_is_there_or_an_error(ponk, option, kind):
    ponk.write("x.py", "print('ran')\n")
    done = ponk.run("submit", option, "nope.yml", "x.py", code=66)
    assert f"{kind} file 'nope.yml' does not exist" in said(done) and "RunId" not in said(done)


def test_spark_file_that_is_not_used_is_a_notice(ponk):
    ponk.write("x.py", "print('ran')\n")
    ponk.write("there.yml", "configuration: {}\n")
    done = ponk.run("submit", "-s", "there.yml", "x.py")
    assert done.stdout == b"ran\n" and "Spark dependencies file 'there.yml' is not used" in said(done)


def test_absent_interpreter_is_told_with_its_place_before_there_is_a_run(ponk):
    ponk.write("x.py", "pass\n")
    ponk.write("aml_config/local.compute", "type: local\npythonLocation: /no/such/python\n")
    done = ponk.run("submit", "x.py", code=66)
    assert "aml_config/local.compute:2:17: python '/no/such/python' does not exist" in said(done)
    assert ponk.json("runs") == []


def test_python_of_2017_is_python3_where_there_is_no_other(ponk, tmp_path):
    ponk.write("x.py", "print('ran')\n")
    ponk.write("aml_config/local.compute", "type: local\npythonLocation: python\n")
    (tmp_path / "bin").mkdir()
    (tmp_path / "bin/python3").symlink_to(shutil.which("python3", path="/usr/bin:/bin"))
    assert ponk.run("submit", "x.py", env={"PATH": str(tmp_path / "bin")}).stdout == b"ran\n"


def test_man_is_text_in_a_pipe_and_source_when_asked(ponk, tmp_path):
    if shutil.which("man", path="/usr/bin:/bin") is None:
        pytest.skip("man is not installed")
    page = ponk.text("man", "experiment")
    assert ".TH" not in page and ".SH" not in page and "--run-configuration" in page and "COMMANDS" in page
    assert ponk.text("man", "--roff", "experiment").startswith(".TH ponk\\-experiment 1")
    (tmp_path / "bin").mkdir()
    done = ponk.run("man", "experiment", env={"PATH": str(tmp_path / "bin")})
    assert done.stdout.startswith(b"Usage: ") and "'man' is not installed" in said(done)


def test_interrupted_follower_says_that_the_run_goes_on(ponk):
    ponk.write("x.py", "import time\nprint('begun', flush=True)\ntime.sleep(60)\n")
    run = ponk.text("submit", "--async", "x.py").strip()
    follower = subprocess.Popen([ponk.program, "logs", "--follow", "last"], cwd=ponk.project, env=ponk.environment,
                                stdout=subprocess.PIPE, stderr=subprocess.PIPE)
    assert follower.stdout.readline() == b"begun\n"
    follower.send_signal(signal.SIGINT)
    error = follower.communicate(timeout=30)[1].decode()
    assert follower.returncode == 79
    assert error.splitlines()[-1].startswith(f"ponk: detached: run {run} continues") and "ponk cancel" in error
    assert ponk.json("experiment", "status", "last")["status"] == "Running"
    ponk.run("cancel", "last", "--grace", "1s", "--wait")


def test_debug_shows_requests_and_no_secrets(ponk):
    ponk.write("x.py", "pass\n")
    done = ponk.run("submit", "--debug", "--env", "KEY=hunter2", "x.py")
    assert "ponk: debug: POST /runs: 201, " in said(done) and " ms" in said(done)
    assert "ponk: debug: daemon " in said(done) and "hunter2" not in said(done)
    assert "debug" not in said(ponk.run("submit", "--verbose", "x.py"))


def test_grammar_of_2017_for_deleting_a_project_and_listing_configurations(ponk):
    ponk.write("x.py", "pass\n")
    ponk.run("submit", "x.py")
    done = ponk.run("ml", "project", "delete", "-g", "g", "-a", "a", "-w", "w", "-n", ponk.project.name, "-y")
    assert said(done).count("is ignored") == 3 and ponk.json("runs") == []
    names = json.loads(ponk.text("ml", "runconfigurations", "list", "-o", "json"))
    assert names == json.loads(ponk.text("runconfiguration", "list", "-o", "json"))
    done = ponk.run("project", "delete", "x", "-y", code=66)
    assert "no project 'x' in the history" in said(done) and "ponk project list" in said(done)


def test_runs_of_all_projects_name_the_project(ponk, tmp_path):
    other = tmp_path / "elsewhere"
    other.mkdir()
    (other / "x.py").write_text("pass\n")
    ponk.write("x.py", "pass\n")
    ponk.run("submit", "x.py")
    ponk.run("submit", "x.py", cwd=other)
    lines = table(ponk, "runs", "-A").splitlines()
    assert lines[0].split()[1] == "project"
    assert {line.split()[1] for line in lines[2:]} >= {"elsewhere", ponk.project.name}, lines
    assert "project" not in table(ponk, "runs").splitlines()[0]


def test_check_goes_on_behind_a_pasted_ellipsis(ponk):
    ponk.write("aml_config/a.compute", "type: local\n...\nnvidiaDocker: maybe\npythonLocaton: x\n")
    found = json.loads(ponk.run("check", "-o", "json", code=65).stdout)
    lines = {(remark["line"], remark["code"]) for remark in found}
    assert (2, "pasted-ellipsis") in lines and {line for line, _ in lines} == {2, 3, 4}, found


def test_check_without_files_says_so_and_where_some_are(ponk):
    done = ponk.run("check")
    assert "has no configuration files" in said(done) and "the folder is empty" in said(done)
    assert json.loads(done.stdout) == []
    ponk.write("Code/aml_config/docker.runconfig", "Target: local\nFramework: Python\n")
    ponk.write("Code/x.py", "pass\n")
    done = ponk.run("check")
    assert "--project Code" in said(done) and "empty" not in said(done)
    done = ponk.run("submit", "-c", "docker", "x.py", code=66)
    assert "--project Code" in said(done)
    assert "nothing was checked" not in said(ponk.run("check", "--project", "Code"))


def test_completions_of_the_name_az_are_installed_and_work(ponk, tmp_path):
    repository = pathlib.Path(__file__).resolve().parents[2]
    install = [repository / "tools/install.sh", "install", ponk.program, "", tmp_path / "root", "1"]
    subprocess.run(list(map(str, install)), check=True, capture_output=True, timeout=120)
    share = tmp_path / "root/share"
    files = [share / "bash-completion/completions/az", share / "zsh/site-functions/_az", share / "fish/vendor_completions.d/az.fish"]
    assert all(file.is_file() for file in files)

    def completed(line):
        script = f'''source {files[0]}; COMP_WORDS=({line}); COMP_CWORD=$(( ${{#COMP_WORDS[@]}} - 1 )); _ponk
printf '%s\\n' "${{COMPREPLY[@]}}"'''
        done = subprocess.run(["bash", "--norc", "-c", script], env=ponk.environment, cwd=ponk.project, capture_output=True)
        return done.stdout.decode().split()

    az = tmp_path / "root/bin/az"
    assert completed(f"{az} ''") == ["ml"] and completed(f"{az} ml experiment su") == ["submit"]
    assert completed(f"{az} vm ''") == []
    install[1] = "remove"
    subprocess.run(list(map(str, install)), check=True, capture_output=True, timeout=120)
    assert not any(file.exists() for file in files) and not az.exists()


def test_clean_of_what_is_clean_says_so(ponk):
    ponk.write("x.py", "pass\n")
    assert "no run" in table(ponk, "experiment", "clean", "--all")
    ponk.run("submit", "x.py")
    assert "freed" in table(ponk, "experiment", "clean", "--all")
    assert table(ponk, "experiment", "clean", "--all") == "nothing to free: 1 run without a working copy\n"


def test_empty_list_of_secrets_says_how_to_store_one(ponk):
    done = ponk.run("secret", "list", "-o", "table")
    assert done.stdout == b"" and "ponk secret set NAME" in said(done)


def test_tables_of_projects_and_configurations_have_words(ponk):
    for words in (("project", "show"), ("runconfiguration", "show", "local")):
        text = table(ponk, *words)
        assert not set("[]{}") & set(text), text
    assert rows_of(table(ponk, "project", "show"))["targets"] == "local"


def test_headings_of_narrow_tables_are_whole(ponk):
    ponk.write("a_script_with_a_long_name.py", "pass\n")
    ponk.run("submit", "a_script_with_a_long_name.py")
    heading = table(ponk, "runs", env={"COLUMNS": "70"}).splitlines()[0].split()
    assert heading[:5] == ["run", "no", "status", "exit", "duration"]


@pytest.mark.parametrize("words, message, hint", [
    (("asset", "download", "-l", "assets/nope.link"), "asset link 'assets/nope.link' does not exist", "ponk asset list"),
    (("query", "x", "nope"), "file 'nope' does not exist", "standard input"),
    (("history", "download", "last", "--artifact", "nope"), "has no artifact 'nope'", "ponk history info"),
])
def test_absent_things_get_a_hint(ponk, words, message, hint):
    ponk.write("x.py", "pass\n")
    ponk.run("submit", "x.py")
    done = ponk.run(*words, code=66)
    assert message in said(done) and hint in said(done)


def test_folder_of_another_user_is_told_with_a_way_out(ponk):
    if os.geteuid() != 0:
        pytest.skip("needs root to become another user")
    folder = ponk.home.parent / "theirs"
    folder.mkdir(mode=0o700)
    done = subprocess.run([ponk.program, "runs"], cwd="/", capture_output=True, timeout=60, user=65534, group=65534, extra_groups=[],
                          env={**ponk.environment, "HOME": "/", "PONK_HOME": str(folder / "home")})
    assert done.returncode != 0 and "Permission denied" in said(done) and "set PONK_HOME" in said(done)


def test_cancel_in_a_pipe_tells_of_the_cancel(ponk):
    ponk.write("x.py", "import time\ntime.sleep(60)\n")
    ponk.run("submit", "--async", "x.py")
    assert json.loads(ponk.text("cancel", "last", "--grace", "1s"))["cancel_requested"] is True
    ponk.run("experiment", "status", "last")


def test_a_reader_that_goes_away_is_no_error(ponk):
    """Also under a parent that ignores the signal, as many services and notebooks do."""
    ponk.write("x.py", "print('said')\n")
    ponk.run("submit", "x.py")
    for words in (["runs"], ["logs", "last"], ["help"]):
        reader, writer = os.pipe()
        os.close(reader)
        done = subprocess.run([ponk.program, *words], cwd=ponk.project, env=ponk.environment, stdout=writer, timeout=60,
                              stderr=subprocess.PIPE, restore_signals=False)  # Python itself ignores SIGPIPE
        os.close(writer)
        assert (done.returncode, done.stderr) == (-signal.SIGPIPE, b""), words


def test_a_signal_ends_a_question_for_a_secret(ponk):
    pid, terminal = pty.fork()
    if pid == 0:
        os.chdir(ponk.project)
        os.execve(ponk.program, [ponk.program, "secret", "set", "key"], ponk.environment)
    asked = b""
    while b": " not in asked:
        asked += os.read(terminal, 4096)
    os.kill(pid, signal.SIGTERM)
    deadline = time.monotonic() + 30
    ended, status = os.waitpid(pid, os.WNOHANG)
    while ended == 0 and time.monotonic() < deadline:
        time.sleep(0.02)
        ended, status = os.waitpid(pid, os.WNOHANG)
    if ended == 0:
        os.kill(pid, signal.SIGKILL)
        os.waitpid(pid, 0)
    os.close(terminal)
    assert ended == pid and os.WIFSIGNALED(status) and os.WTERMSIG(status) == signal.SIGTERM
