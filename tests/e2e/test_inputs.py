# SPDX-License-Identifier: Apache-2.0
"""Data that does not travel: links in the run's copy, recorded and watched."""
import os

import pytest

READ = "print(open('data/x.csv').read())\n"


@pytest.fixture
def project(ponk):
    ponk.write("train.py", READ)
    ponk.write(".gitignore", "data/\n")
    ponk.write("data/x.csv", "12345")
    ponk.write("data/deep/y.csv", "678")
    return ponk


def inputs(ponk):
    return ponk.json("history", "last")["configuration"]["inputs"]


def test_a_run_that_fails_on_an_ignored_path_is_told_the_option(project):
    done = project.run("submit", "train.py", code=1)

    assert b"'data/x.csv' exists in the project, but does not travel with runs (.gitignore:1: data/)" in done.stderr
    assert b"ponk submit --input data train.py" in done.stderr
    assert "--input data" in project.json("history", "last")["warnings"][0]


@pytest.mark.parametrize("word", ["data", "data/", "./data", "{project}/data"])
def test_an_input_is_a_link_and_recorded(project, word):
    done = project.run("submit", "--input", word.format(project=project.project), "train.py")

    assert done.stdout == b"12345\n"
    assert b"left out" not in done.stderr
    found = inputs(project)
    assert [(each["path"], each["source"], each["files"], each["bytes"]) for each in found] == [
        ("data", str(project.project / "data"), 2, 8)]
    assert abs(found[0]["newest"] / 1000 - os.stat(project.project / "data/deep/y.csv").st_mtime) < 1


def test_data_from_elsewhere_gets_a_place(project, tmp_path):
    (tmp_path / "set").mkdir()
    (tmp_path / "set/x.csv").write_text("elsewhere")

    assert project.text("submit", "--input", f"data={tmp_path}/set", "train.py") == "elsewhere\n"
    done = project.run("submit", "--input", tmp_path / "set", "train.py", code=65)
    assert b"has no place in the project" in done.stderr


def test_a_single_file_and_one_in_a_folder_of_its_own(project, tmp_path):
    (tmp_path / "w.bin").write_text("weights")
    project.write("read.py", "print(open('models/new/w.bin').read(), open('.env').read())\n")
    project.write(".env", "KEY=1")

    assert project.text("submit", "--input", ".env", "--input", f"models/new/w.bin={tmp_path}/w.bin", "read.py") == "weights KEY=1\n"


def test_what_the_snapshot_has_there_makes_way(project):
    project.write(".amlignore", "!/data/deep/\n")
    assert project.text("submit", "--input", "data", "train.py") == "12345\n"


def test_a_change_during_the_run_is_a_warning(project):
    project.write("w.py", "open('data/new', 'w').write('1')\n")

    project.run("submit", "--input", "data", "w.py")

    warnings = project.json("history", "last")["warnings"]
    assert warnings == ["input 'data' has 3 files, 9 bytes, before 2 files, 8 bytes: it changed while the run used it"]
    assert (project.project / "data/new").exists()


def test_a_rerun_uses_the_inputs_and_reports_a_difference(project):
    project.run("submit", "--input", "data", "train.py")
    same = project.run("experiment", "rerun", "last")
    project.write("data/x.csv", "other")
    os.utime(project.project / "data/x.csv", (2e9, 2e9))
    other = project.run("experiment", "rerun", "1")

    assert b"input 'data'" not in same.stderr and same.stdout == b"12345\n"
    assert b"input 'data' has files changed at 2033-05-18" in other.stderr and other.stdout == b"other\n"


def test_an_input_that_became_a_link_is_not_followed_by_a_rerun(project, tmp_path):
    (tmp_path / "x.csv").write_text("secret")
    project.write("aml_config/local.runconfig", "Target: local\nFramework: Python\ninputs: data\n")
    project.run("submit", "train.py")
    os.rename(project.project / "data", project.project / "old")
    os.symlink(tmp_path, project.project / "data")

    assert b"leads out of the project" in project.run("submit", "train.py", code=65).stderr
    again = project.run("experiment", "rerun", "last", code=None)
    assert again.returncode != 0 and b"secret" not in again.stdout and b"leads elsewhere" in again.stderr


def test_an_input_in_the_place_of_the_script_is_refused(project):
    done = project.run("submit", "--input", f"train.py={project.project}/data/x.csv", "train.py", code=65)
    assert b"takes the place of the script" in done.stderr


def test_a_digest_finds_contents_that_changed_in_secret(project):
    stamp = os.stat(project.project / "data/x.csv")
    project.run("submit", "--input", "data", "--input-digest", "train.py")
    first = inputs(project)[0]["digest"]
    assert len(first) == 64
    project.write("data/x.csv", "54321")
    os.utime(project.project / "data/x.csv", ns=(stamp.st_atime_ns, stamp.st_mtime_ns))

    done = project.run("experiment", "rerun", "last")

    assert b"input 'data' has other contents" in done.stderr
    assert inputs(project)[0]["digest"] != first


def test_the_run_configuration_names_inputs_of_the_project_only(project, tmp_path):
    project.write("aml_config/local.runconfig", "Target: local\nFramework: Python\ninputs:\n  - data\n")
    assert project.text("submit", "train.py") == "12345\n"

    project.write("aml_config/local.runconfig", f"Target: local\nFramework: Python\ninputs: data={tmp_path}\n")
    done = project.run("submit", "train.py", code=65)
    assert b"aml_config/local.runconfig:3:9: input" in done.stderr and b"leads out of the project" in done.stderr

    os.symlink(tmp_path, project.project / "leads-out")
    project.write("aml_config/local.runconfig", "Target: local\nFramework: Python\ninputs: leads-out\n")
    assert b"leads out of the project" in project.run("submit", "train.py", code=65).stderr
    project.write("list.py", "import os; print(os.listdir('leads-out'))\n")
    (tmp_path / "f").write_text("")
    assert project.text("submit", "--input", "leads-out", "list.py") == "['f']\n"


@pytest.mark.parametrize("words, message", [
    (["nodata"], b"does not exist"), (["outputs/x=/etc"], b"is in 'outputs', which is not for data"), (["../x=/etc"], b"has no place"),
    (["/dev/null"], b"has no place"), (["null=/dev/null"], b"is neither a folder nor a file"), (["data", "data/deep"], b"lie in each other"),
    (["."], b"has no place"), (["=x"], b"names no path")])
def test_wrong_inputs_are_refused(project, words, message):
    options = [each for word in words for each in ("--input", word)]
    done = project.run("submit", *options, "train.py", code=None)

    assert done.returncode in (64, 65) and message in done.stderr


def test_no_link_of_the_project_leads_an_input_out_of_the_copy(project, tmp_path):
    os.symlink(tmp_path, project.project / "way")

    done = project.run("submit", "--input", "way/in=/etc/hostname", "train.py", code=None)

    assert done.returncode != 0 and b"is not a folder in the project" in done.stderr
    assert os.listdir(tmp_path) == []


def test_the_outputs_folder_exists_and_is_empty(ponk):
    ponk.write("outputs/old.txt", "1")
    ponk.write("a.py", "import os\nprint(os.listdir('outputs'))\n")
    ponk.write("b.py", "open('outputs/new.txt', 'w').write('1')\n")

    assert ponk.text("submit", "a.py") == "[]\n"
    assert ponk.json("history", "last")["outputs"] in ("", None)
    ponk.run("submit", "b.py")
    assert ponk.json("history", "last")["outputs"]
