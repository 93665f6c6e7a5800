# SPDX-License-Identifier: Apache-2.0
"""Which project a folder is: from below, after a move, as a copy."""
import os
import shutil
import subprocess

import pytest

from test_cli_words import complete_in_bash

GIT = {"GIT_AUTHOR_NAME": "a", "GIT_AUTHOR_EMAIL": "a@b.c", "GIT_COMMITTER_NAME": "a", "GIT_COMMITTER_EMAIL": "a@b.c"}


def git(folder, *words):
    subprocess.run(["git", *words], cwd=folder, check=True, capture_output=True, env={**os.environ, **GIT})


def runs_in(ponk, folder):
    return ponk.json("runs", cwd=folder)


@pytest.fixture
def nested(ponk):
    """A repository whose scripts are in a folder of it."""
    git(ponk.project, "init", "-q")
    ponk.write("tools/deep/train.py", "import os, sys\n"
               "open('outputs/model.txt', 'w').write('m')\n"
               "tree = os.path.dirname(os.environ['PONK_OUTPUTS_DIRECTORY'])\n"
               "print(os.path.relpath(os.getcwd(), tree), os.environ['PWD'] == os.getcwd(), sys.argv[0])\n")
    ponk.write("common.txt", "x")
    return ponk


def test_a_command_in_a_subfolder_uses_the_project_above_and_says_so(nested):
    below = nested.project / "tools" / "deep"
    done = nested.run("submit", "train.py", cwd=below)
    assert done.stdout.decode().split() == ["tools/deep", "True", "train.py"]
    assert f"project: {nested.project}, which contains this folder".encode() in done.stderr
    run = nested.json("history", "info", "last")
    assert run["script_name"] == "tools/deep/train.py" and run["project_path"] == str(nested.project)
    # 'outputs' of the subfolder is the run's.
    assert "outputs/model.txt" in run["attachments"]
    assert [each["run_id"] for each in runs_in(nested, below)] == [run["run_id"]]
    # A script is also found from the project's folder, and a name of it works from anywhere in it.
    assert nested.run("submit", "tools/deep/train.py", cwd=nested.project / "tools").stdout.startswith(b"tools ")


def test_other_programs_start_there_too(nested):
    nested.write("tools/go.sh", "basename \"$PWD\"; cat ../common.txt\n")
    assert nested.text("submit", "go.sh", cwd=nested.project / "tools") == "tools\nx"
    assert nested.text("submit", "--", "sh", "./go.sh", cwd=nested.project / "tools") == "tools\nx"


def test_who_names_the_folder_means_it(nested):
    below = nested.project / "tools" / "deep"
    done = nested.run("submit", "-p", ".", "train.py", cwd=below)
    assert b"which contains" not in done.stderr
    assert nested.json("history", "info", "last", cwd=below)["project_path"] == str(below)
    # History knows it now: it stays a project of its own.
    assert b"which contains" not in nested.run("submit", "train.py", cwd=below).stderr


def test_what_history_knows_counts_as_a_project(ponk):
    ponk.write("sub/x.py", "print('ran')\n")
    ponk.write("y.py", "pass\n")
    ponk.run("submit", "y.py")
    assert b"which contains this folder" in ponk.run("submit", "x.py", cwd=ponk.project / "sub").stderr
    assert len(runs_in(ponk, ponk.project)) == 2


def test_the_home_folder_is_never_a_project_of_what_is_below(ponk):
    home = ponk.project / "home"
    ponk.write("home/.git/HEAD", "")
    ponk.write("home/a/x.py", "print('ran')\n")
    done = ponk.run("submit", "x.py", cwd=home / "a", env={"HOME": str(home)})
    assert b"which contains" not in done.stderr
    assert ponk.json("history", "info", "last", cwd=home / "a")["project_path"] == str(home / "a")


@pytest.mark.parametrize("mark", ["aml_config/local.compute", ".azureml/x", ".git/HEAD", ".git", "MLproject"])
def test_what_makes_a_folder_a_project_for_those_below_it(ponk, tmp_path, mark):
    home = tmp_path / "home"
    project, below = home / "work", home / "work" / "a" / "b"
    below.mkdir(parents=True)
    texts = {"MLproject": "name: x\n", "aml_config/local.compute": "type: local\n", ".git": "gitdir: elsewhere\n"}

    def mark_with(folder):
        (folder / mark).parent.mkdir(exist_ok=True)
        (folder / mark).write_text(texts.get(mark, ""))

    def said_in(folder):
        return ponk.run("check", "--files", cwd=folder, env={"HOME": str(home)}).stderr

    # The home folder is none, whatever is in it.
    mark_with(home)
    assert b"which contains" not in said_in(below) + said_in(project)
    mark_with(project)
    assert f"project: {project}, which contains this folder".encode() in said_in(below)
    assert b"which contains" not in said_in(project)
    # The nearest one.
    mark_with(below.parent)
    assert f"project: {below.parent}, which contains this folder".encode() in said_in(below)


@pytest.mark.parametrize("with_git", [False, True])
def test_history_follows_a_folder_that_moved(ponk, tmp_path, with_git):
    old = tmp_path / "old"
    old.mkdir()
    (old / "x.py").write_text("print('ran')\n")
    if with_git:
        git(old, "init", "-q")
        git(old, "commit", "-q", "--allow-empty", "-m", "first")
    ponk.run("submit", "x.py", cwd=old)
    new = tmp_path / "new"
    if with_git:  # as over the border of a file system: nothing but the content is the same
        shutil.copytree(old, new)
        shutil.rmtree(old)
    else:
        old.rename(new)
    assert len(runs_in(ponk, new)) == 1
    done = ponk.run("submit", "x.py", cwd=new)
    assert f"the project was at '{old}'; its history continues here".encode() in done.stderr
    assert [run["run_number"] for run in runs_in(ponk, new)] == [2, 1]
    # Another project in the old place is another one.
    old.mkdir()
    (old / "x.py").write_text("print('other')\n")
    assert b"its history continues" not in ponk.run("submit", "x.py", cwd=old).stderr
    assert len(runs_in(ponk, old)) == 1 and len(runs_in(ponk, new)) == 2


def test_a_copy_is_another_project(ponk, tmp_path):
    old = tmp_path / "old"
    old.mkdir()
    (old / "x.py").write_text("print('ran')\n")
    git(old, "init", "-q")
    git(old, "commit", "-q", "--allow-empty", "-m", "first")
    ponk.run("submit", "x.py", cwd=old)
    shutil.copytree(old, tmp_path / "copy")
    assert runs_in(ponk, tmp_path / "copy") == []
    assert sorted(os.listdir(tmp_path / "copy")) == [".git", "x.py"]


def test_a_new_folder_with_the_inode_of_a_deleted_one_is_not_it(ponk, tmp_path):
    """File systems use inodes again at once."""
    old = tmp_path / "old"
    old.mkdir()
    (old / "x.py").write_text("print('ran')\n")
    ponk.run("submit", "x.py", cwd=old)
    shutil.rmtree(old)
    new = tmp_path / "new"
    new.mkdir()
    assert runs_in(ponk, new) == []


def test_completion_offers_the_runs_of_this_project(ponk, tmp_path):
    other = tmp_path / "other"
    for folder in (ponk.project, other):
        folder.mkdir(exist_ok=True)
        (folder / "x.py").write_text("pass\n")
        ponk.run("submit", "x.py", cwd=folder)
    ours, theirs = (ponk.json("history", "info", "last", cwd=folder)["run_id"] for folder in (ponk.project, other))
    offered = complete_in_bash(ponk, f"{ponk.program} logs ''")
    assert [any(run[-8:] in word for word in offered) for run in (ours, theirs)] == [True, False], offered


def test_relink_says_which_project_a_folder_is(ponk, tmp_path):
    old = tmp_path / "old"
    old.mkdir()
    (old / "x.py").write_text("print('ran')\n")
    ponk.run("submit", "x.py", cwd=old)
    new = tmp_path / "new"
    shutil.copytree(old, new)
    shutil.rmtree(old)
    assert runs_in(ponk, new) == []
    ponk.run("project", "relink", old, cwd=new)
    assert len(runs_in(ponk, new)) == 1
    assert sorted(os.listdir(new)) == ["x.py"]
    refused = ponk.run("project", "relink", "no-such-project", cwd=new, code=None)
    assert refused.returncode != 0 and b"no project 'no-such-project'" in refused.stderr
    other = tmp_path / "other"
    other.mkdir()
    (other / "x.py").write_text("print('ran')\n")
    ponk.run("submit", "x.py", cwd=other)
    refused = ponk.run("project", "relink", new, cwd=other, code=None)
    assert refused.returncode != 0 and b"has 1 runs of its own" in refused.stderr
