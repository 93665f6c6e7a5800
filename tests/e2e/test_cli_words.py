# SPDX-License-Identifier: Apache-2.0
"""Parsing, help, man pages and completions of the real program. None of this needs the daemon."""
import json
import os
import pathlib
import pty
import select
import shutil
import subprocess
import time

import pytest


def last_line(done):
    return done.stderr.decode().strip().splitlines()[-1]


def test_version_is_one_line(ponk):
    assert ponk.text("version").startswith("ponk ")
    assert json.loads(ponk.text("version", "-o", "json"))["name"] == "ponk"
    assert ponk.text("ml", "version") == ponk.text("version")


def test_no_words_show_help_on_standard_output(ponk):
    done = ponk.run()
    assert done.stdout.startswith(b"Usage: ponk COMMAND")
    assert done.stderr == b""


@pytest.mark.parametrize("words, hint", [
    (["execute", "submitt", "x.py"], "ponk experiment submit"),
    (["ml", "computecontext", "atach", "--name", "n"], "ponk computetarget attach"),
    (["experiment", "sumbit", "x.py"], "ponk experiment submit"),
    (["submti"], "ponk submit"),
    (["submit", "--asynk", "x.py"], "--async"),
    (["runs", "-o", "jsno"], "json"),
])
def test_typo_and_old_grammar_get_a_suggestion(ponk, words, hint):
    done = ponk.run(*words, code=64)
    assert hint in done.stderr.decode()
    assert last_line(done).startswith("ponk: error: ")
    assert done.stdout == b""


def test_error_is_an_object_on_standard_output_when_json_is_asked_for(ponk):
    done = ponk.run("runs", "--nonsense", "-o", "json", code=64)
    error = json.loads(done.stdout)["error"]
    assert error["kind"] == "invalid_argument" and error["exit_code"] == 64
    assert "--nonsense" in error["message"]


def test_wrong_query_is_told_before_anything_is_done(ponk):
    done = ponk.run("runs", "--query", "[?", code=64)
    assert last_line(done).startswith("ponk: error: ")
    assert not ponk.home.exists()


@pytest.mark.parametrize("words", [
    ["ml", "computetarget", "attach", "--name", "box", "-a", "h", "-u", "u", "-w", "p", "-t", "cluster"],
    ["computetarget", "attach", "--name", "box", "-a", "h", "-u", "u", "-w", "p", "--cluster"],
    ["computetarget", "attach", "hdinsight", "--name", "box", "-a", "h", "-u", "u"],
])
def test_target_types_to_come_are_understood_and_refused(ponk, words):
    done = ponk.run(*words, code=68)
    assert "not supported by this version" in last_line(done)
    assert not (ponk.project / "aml_config").exists()


@pytest.mark.parametrize("words", [
    ["computetarget", "attach", "remotedocker", "--name", "box", "--address", "127.0.0.1:1", "--username", "u", "--password", "p"],
    ["computetarget", "attach", "--name", "box", "--address", "127.0.0.1:1", "--username", "u", "--password", "p", "--type", "remote"],
    ["ml", "computetarget", "attach", "--name", "box", "-a", "127.0.0.1:1", "-u", "u", "-w", "p", "-t", "virtualmachine"],
])
def test_machine_that_is_not_there_leaves_nothing_behind(ponk, words):
    done = ponk.run(*words, code=69)
    assert "refuses connections on port 1" in last_line(done)
    assert not (ponk.project / "aml_config").exists() and not any((ponk.home / "ssh").iterdir())


@pytest.mark.parametrize("words, named", [
    (["sweep", "start", "x.py"], "ponk sweep"),
    (["notebook", "start"], "ponk notebook"),
    (["help", "sweep"], "ponk sweep"),
    (["computetarget", "start", "x"], "ponk computetarget start"),
    (["computetarget", "stop", "x"], "ponk computetarget stop"),
])
def test_commands_to_come_are_known_and_refused(ponk, words, named):
    done = ponk.run(*words, code=68)
    assert last_line(done) == f"ponk: error: '{named}' is not supported by this version"


def test_attach_local_writes_both_files_once(ponk):
    ponk.run("attach", "local", "--name", "py", "--python", "/usr/bin/python3")
    assert (ponk.project / "aml_config/py.compute").is_file()
    assert (ponk.project / "aml_config/py.runconfig").is_file()
    ponk.run("attach", "local", "--name", "py", code=73)
    names = [row["name"] for row in json.loads(ponk.text("computetarget", "list", "-o", "json"))]
    assert "py" in names and "local" in names
    assert json.loads(ponk.text("computetarget", "check", "py", "-o", "json"))["works"] is True
    ponk.run("computetarget", "detach", "-n", "py")
    ponk.run("runconfig", "delete", "py")
    assert list((ponk.project / "aml_config").iterdir()) == []
    ponk.run("runconfig", "delete", "py", code=66)


def test_check_of_a_good_and_a_bad_project(ponk):
    ponk.run("check")
    ponk.write("aml_config/x.compute", "type: locla\n")
    done = ponk.run("check", "-o", "json", code=65)
    remark = json.loads(done.stdout)[0]
    assert remark["line"] == 1 and remark["file"].endswith("x.compute")


def test_query_reads_standard_input_or_a_file(ponk):
    document = b'[{"a": 1}, {"a": 3}]'
    assert ponk.run("query", "max_by(@, &a).a", input=document).stdout.strip() == b"3"
    path = ponk.write("x.json", document.decode())
    assert ponk.run("query", "[0].a", path).stdout.strip() == b"1"
    assert ponk.run("query", "[0].a", input=b"\xef\xbb\xbf" + document).stdout.strip() == b"1"
    assert last_line(ponk.run("query", "[?", path, code=64)).startswith("ponk: error: ")
    ponk.run("query", "a", input=b"{", code=65)
    ponk.run("query", "a", "missing.json", code=66)


def test_project_from_nothing_and_from_a_folder(ponk):
    ponk.run("project", "create", "blank")
    blank = ponk.project / "blank"
    assert json.loads((blank / ".azureml/project.json").read_text())["Id"]
    ponk.run("project", "create", "blank", code=73)
    (blank / "train.py").write_text("print(1)\n")
    ponk.run("project", "create", "-n", "copy", "--from", blank)
    copy = ponk.project / "copy"
    assert (copy / "train.py").read_text() == "print(1)\n"
    identity = [json.loads((p / ".azureml/project.json").read_text())["Id"] for p in (blank, copy)]
    assert identity[0] != identity[1]
    assert sorted(p.name for p in ponk.project.iterdir()) == ["blank", "copy"]


def test_project_from_a_git_repository(ponk, tmp_path):
    source = tmp_path / "source"
    source.mkdir()
    git = ["git", "-C", str(source), "-c", "user.name=x", "-c", "user.email=x@example.org"]
    (source / "a.py").write_text("a\n")
    subprocess.run(["git", "init", "-q", str(source)], check=True)
    subprocess.run([*git, "add", "a.py"], check=True)
    subprocess.run([*git, "commit", "-qm", "x"], check=True)
    ponk.run("project", "create", "cloned", "--from", f"file://{source}")
    assert (ponk.project / "cloned/a.py").exists()
    ponk.run("project", "create", "never", "--from", f"file://{tmp_path}/missing", code=69)
    assert sorted(p.name for p in ponk.project.iterdir()) == ["cloned"]


def test_name_az_serves_ml_and_hands_the_rest_to_the_real_one(ponk, tmp_path):
    ours, theirs = tmp_path / "ours", tmp_path / "theirs"
    ours.mkdir(), theirs.mkdir()
    (ours / "az").symlink_to(ponk.program)
    (theirs / "az").write_text("#!/bin/sh\necho real az: \"$@\"\nexit 5\n")
    (theirs / "az").chmod(0o755)
    environment = {**ponk.environment, "PATH": f"{ours}:{theirs}:/usr/bin:/bin"}
    served = subprocess.run(["az", "ml", "version"], env=environment, capture_output=True)
    assert served.stdout.startswith(b"ponk ")
    handed = subprocess.run(["az", "account", "show", "-s", "x y"], env=environment, capture_output=True)
    assert (handed.stdout, handed.returncode) == (b"real az: account show -s x y\n", 5)
    alone = subprocess.run([ours / "az", "login"], env=ponk.environment, capture_output=True)
    assert alone.returncode == 66


def test_password_is_never_repeated(ponk):
    done = ponk.run("attach", "remotedocker", "-n", "b", "-a", "127.0.0.1:1", "-u", "u", "-wtopsecret", code=69)
    assert b"topsecret" not in done.stderr + done.stdout


def test_man_pages_are_complete_and_valid(ponk, tmp_path):
    ponk.run("man", "--all-to", tmp_path)
    pages = sorted(p.name for p in tmp_path.glob("*.1"))
    assert "ponk.1" in pages and "ponk-experiment.1" in pages and len(pages) > 10
    if shutil.which("groff") is None:
        pytest.skip("groff is not installed")
    for page in tmp_path.glob("*.1"):
        done = subprocess.run(["groff", "-man", "-Tutf8", "-ww", "-z", "-K", "utf8", page], capture_output=True)
        assert (done.returncode, done.stderr) == (0, b""), page


def complete_in_bash(ponk, line):
    script = f'''source <({ponk.program} completion bash)
COMP_WORDS=({line}); COMP_CWORD=$(( ${{#COMP_WORDS[@]}} - 1 )); _ponk; printf '%s\\n' "${{COMPREPLY[@]}}"'''
    done = subprocess.run(["bash", "--norc", "-c", script], env=ponk.environment, cwd=ponk.project, capture_output=True)
    assert done.stderr == b""
    return done.stdout.decode().split()


def test_bash_completes(ponk):
    program = ponk.program
    assert complete_in_bash(ponk, f"{program} experi") == ["experiment"]
    assert "submit" in complete_in_bash(ponk, f"{program} experiment ''")
    assert "--async" in complete_in_bash(ponk, f"{program} submit --a")
    assert complete_in_bash(ponk, f"{program} runs --output = js") == ["json", "jsonc"]
    assert complete_in_bash(ponk, f"{program} submit -c lo") == ["local"]
    ponk.write("train.py", "")
    assert complete_in_bash(ponk, f"{program} submit tr") == ["train.py"]
    assert {"experiment", "history", "check"} <= set(complete_in_bash(ponk, f"{program} man ''"))
    assert complete_in_bash(ponk, f"{program} man exp") == ["experiment"]


def test_bash_offers_no_half_of_a_name_with_a_newline(ponk):
    ponk.write("train\nhalf.py", "")
    ponk.write("train.py", "")
    ponk.write("aml_config/lo\nlocated.runconfig", "")
    (ponk.project / "trains\ntrainf").mkdir()
    assert complete_in_bash(ponk, f"{ponk.program} submit tr") == ["train.py"]
    assert complete_in_bash(ponk, f"{ponk.program} submit ha") == []
    assert complete_in_bash(ponk, f"{ponk.program} submit -c lo") == ["local"]
    assert complete_in_bash(ponk, f"{ponk.program} history download -d tr") == []


def test_bash_completes_what_is_typed_at_its_prompt(ponk):
    folder = pathlib.Path(ponk.program).parent
    ponk.write("train.py", "")
    master, slave = pty.openpty()
    shell = subprocess.Popen(["bash", "--norc", "--noprofile", "-i"], cwd=ponk.project, stdin=slave, stdout=slave, stderr=slave,
                             start_new_session=True,
                             env={**ponk.environment, "PATH": f"{folder}:/usr/bin:/bin", "TERM": "dumb", "PS1": "$ "})
    os.close(slave)

    def type_and_see(keys, wanted):
        os.write(master, keys)
        seen, end = b"", time.monotonic() + 30
        while wanted not in seen and time.monotonic() < end:
            if select.select([master], [], [], 1)[0]:
                seen += os.read(master, 65536)
        assert wanted in seen, (keys, seen)

    try:
        type_and_see(b"source <(ponk completion bash); echo rea''dy\n", b"ready")
        type_and_see(b"ponk experi\t", b"ponk experiment ")
        type_and_see(b"sub\t", b"submit ")
        type_and_see(b"--asy\t", b"--async ")
        type_and_see(b"-c lo\t", b"-c local ")
        type_and_see(b"tr\t", b"train.py ")
    finally:
        shell.kill()
        shell.wait()
        os.close(master)


def test_zsh_reads_the_script_and_completes(ponk):
    if shutil.which("zsh") is None:
        pytest.skip("zsh is not installed")
    script = f'''autoload -U compinit && compinit -u -D
compdef() {{ : }}
source <({ponk.program} completion zsh)
_describe() {{ shift 3; print -l -- "${{(@P)1}}" }}
words=({ponk.program} experiment su); CURRENT=3; _ponk
words=({ponk.program} runs -o ''); CURRENT=4; _ponk'''
    done = subprocess.run(["zsh", "-f", "-c", script], env=ponk.environment, cwd=ponk.project, capture_output=True)
    assert done.stderr == b""
    lines = done.stdout.decode().splitlines()
    assert lines[0].startswith("submit:") and "tsv" in lines


def test_fish_completes(ponk):
    if shutil.which("fish") is None:
        pytest.skip("fish is not installed")
    folder = pathlib.Path(ponk.program).parent
    environment = {**ponk.environment, "PATH": f"{folder}:/usr/bin:/bin"}
    script = "ponk completion fish | source; complete -C 'ponk experiment su'; complete -C 'ponk runs -o '"
    done = subprocess.run(["fish", "--no-config", "-c", script], env=environment, cwd=ponk.project, capture_output=True)
    lines = done.stdout.decode().splitlines()
    assert lines[0].startswith("submit\t"), done
    assert "jsonc" in lines


def test_project_from_a_sample_by_its_name_of_2017(ponk):
    samples = pathlib.Path(__file__).resolve().parents[2] / "samples"
    done = ponk.run("project", "create", "digits", "--sample", "Classifying MNIST using TensorFlow", env={"PONK_SAMPLES": str(samples)})
    assert (ponk.project / "digits/train.py").is_file()
    assert b"NumPy instead of TensorFlow" in done.stderr
    done = ponk.run("project", "create", "other", "--sample", "mnits", env={"PONK_SAMPLES": str(samples)}, code=66)
    assert b"mnist" in done.stderr


@pytest.mark.parametrize("words", [["submit"], ["computetarget", "check", "box"], ["computetarget", "setup", "box"],
                                   ["experiment", "prepare"]])
def test_target_of_a_type_to_come_is_refused_alike_everywhere(ponk, words):
    ponk.write("aml_config/box.compute", "type: cluster\naddress: h\nusername: u\n")
    ponk.write("aml_config/box.runconfig", "Target: box\nFramework: Python\n")
    ponk.write("x.py", "")
    more = ["-c", "box", "x.py"] if words == ["submit"] else ["-c", "box"] if "prepare" in words else []
    done = ponk.run(*words, *more, code=68)
    assert last_line(done) == "ponk: error: target 'box': targets of type 'cluster' are not supported by this version"


@pytest.mark.parametrize("words", [
    ["cancel"],
    ["experiment", "rerun"],
    ["history", "promote", "last"],
    ["submit", "--time-limit", "soon", "x.py"],
    ["submit", "--tag", "x", "x.py"],
    ["submit", "--env", "=x", "x.py"],
    ["submit", "--wait", "--async", "x.py"],
    ["runs", "--limit", "many"],
    ["computetarget", "detach"],
    ["computetarget", "detach", "../x"],
    ["project", "create", ".hidden"],
    ["runconfig", "create", "a/b"],
    ["asset", "download"],
    ["asset", "download", "x", "--version", "new"],
    ["attach", "local"],
])
def test_wrong_command_line_is_64(ponk, words):
    assert last_line(ponk.run(*words, code=64)).startswith("ponk: error: ")


def test_version_is_an_option_too(ponk):
    assert ponk.text("--version") == ponk.text("-V") == ponk.text("version")


def test_state_may_be_written_in_any_case(ponk):
    assert ponk.json("runs", "--status", "failed") == []


def test_absent_things_are_named_with_the_nearest(ponk):
    ponk.run("attach", "local", "-n", "py39")
    again = ponk.run("attach", "local", "-n", "py39", code=73).stderr.decode()
    assert "computetarget detach py39" in again and "runconfig delete py39" in again
    assert "'py39'" in ponk.run("computetarget", "detach", "py38", code=66).stderr.decode()
    assert "'py39'" in ponk.run("runconfig", "delete", "py3", code=66).stderr.decode()
    assert "built in" in last_line(ponk.run("computetarget", "detach", "local", code=73))
    ponk.run("secret", "set", "kaggle", input=b"x")
    assert "'kaggle'" in ponk.run("secret", "remove", "kagle", code=66).stderr.decode()
    assert "ponk secret list" in ponk.run("secret", "remove", "other", code=66).stderr.decode()


def test_samples_and_checks_are_whole_in_a_narrow_terminal(ponk):
    narrow = {"COLUMNS": "60"}
    names = [sample["name"] for sample in ponk.json("project", "sample", "list")]
    table = ponk.text("project", "sample", "list", "-o", "table", env=narrow)
    assert names and all(name in table for name in names)
    checks = ponk.json("doctor", code=None)
    words = ponk.run("doctor", "-o", "table", env=narrow, code=None).stdout.decode().split()
    for check in checks:
        assert all(word in words for word in check["hint"].split()), check
