# SPDX-License-Identifier: Apache-2.0
"""What ponk advises where a user of the first version was sent the wrong way."""
import sqlite3

import pytest


@pytest.fixture
def project(ponk):
    ponk.write("train.py", "import sys\nprint(sys.argv[1:])\n")
    return ponk


def said(done):
    return done.stderr.decode()


@pytest.mark.parametrize("words, option", [
    (["--epochs", "3", "train.py"], "--epochs …"), (["--lr=0.1", "train.py"], "--lr=0.1 …"), (["-x", "train.py"], "-x …")])
def test_an_option_of_the_script_before_the_script(project, words, option):
    told = said(project.run("submit", *words, code=64))
    assert f"Arguments of the script follow it: 'ponk submit train.py {option}'" in told
    assert project.text("submit", "train.py", *[word for word in words if word != "train.py"]).startswith("[")


@pytest.mark.parametrize("mlproject", [None, "entry_points: {main: {command: 'true'}}\n"])
def test_a_program_in_the_place_of_a_script(project, mlproject):
    if mlproject:
        project.write("MLproject", mlproject)
    told = said(project.run("submit", "torchrun", "--nproc-per-node", "2", "train.py", "a b", code=66))
    assert "'torchrun' " in told and "'ponk submit -- torchrun --nproc-per-node 2 train.py 'a b''" in told
    assert ("Entry points are: main." in told) == bool(mlproject)
    # A slip in a script's name is that.
    told = said(project.run("submit", "trian.py", code=66))
    assert "'ponk submit -- " not in told and ("Did you mean 'train.py'?" in told) == (not mlproject)


def test_a_verb_of_others_for_looking_at_a_run(project):
    assert "Use 'ponk history info'" in said(project.run("show", "last", code=64))


@pytest.mark.parametrize("how", ["file of the project", "file that is named"])
def test_a_package_that_does_not_exist(project, how):
    project.environment.update(PIP_NO_INDEX="1", PONK_ENV_FREE_SPACE="1000000")
    project.environment.pop("VIRTUAL_ENV", None)
    named = how == "file that is named"
    project.write("needs.txt" if named else "requirements.txt", "no-such-package-zz==1\n")

    told = said(project.run("submit", *(["-d", "needs.txt"] if named else []), "train.py", code=None))

    assert "no-such-package-zz" in told and "Check the package's name and version" in told and "Loosen" not in told
    assert project.json("history", "last")["status"] == "Failed"


def test_a_folder_of_runs_beside_their_database(project):
    (project.project / "mlruns").mkdir()
    sqlite3.connect(project.project / "mlflow.db").execute("create table x (y)")
    told = said(project.run("history", "import", "mlruns", code=None))
    assert f"Import '{project.project}/mlflow.db'" in told and "which are in the database beside it" in told


def test_who_manages_the_packages_is_shown_and_asked_for_only_where_it_is_not_said(project):
    project.environment.update(PIP_NO_INDEX="1", PONK_ENV_FREE_SPACE="1000000")
    project.environment.pop("VIRTUAL_ENV", None)
    project.write("aml_config/conda_dependencies.yml", "dependencies:\n  - pip:\n    - no-such-package-zz\n")
    plain = "Target: local\nFramework: Python\n"
    project.write("aml_config/plain.runconfig", plain)
    project.write("aml_config/managed.runconfig", plain + "ManagedEnvironment: true\n")

    def shown(name):
        return project.json("runconfiguration", "show", name)["managedEnvironment"]

    assert shown("managed") is True and shown("plain") is not True
    assert "'ManagedEnvironment: true' in 'aml_config/plain.runconfig'" in said(project.run("submit", "-c", "plain", "train.py"))
    assert "ManagedEnvironment: true" not in said(project.run("submit", "-c", "managed", "train.py", code=None))
