# SPDX-License-Identifier: Apache-2.0
"""Entry points of MLproject files. What `mlflow run` makes of the same files: tests/integration/mlflow/test_projects.py."""
import json
import sys

import pytest

from wheels import write_wheel

SHOW = "import json, os, sys\nprint(json.dumps([os.path.basename(os.getcwd()), sys.argv[1:]]))\n"
PROJECT = """name: demo
entry_points:
  main:
    parameters:
      alpha: {type: float, default: 0.5}
      text: {default: it's}
    command: "python3 show.py {alpha} {text}"
  data:
    parameters:
      file: path
    command: "cat {file} && echo ${HOME:+home} | awk '{{print $1}}'"
"""


@pytest.fixture
def project(ponk):
    ponk.write("show.py", SHOW)
    ponk.write("MLproject", PROJECT)
    return ponk


def shown(done):
    return json.loads(done.stdout)


@pytest.mark.parametrize("words, argv", [
    ([], ["0.5", "it's"]),
    (["-P", "alpha=1e-3", "-P", "text=a b"], ["1e-3", "a b"]),
    (["-e", "main", "-P", "more=$x;"], ["0.5", "it's", "--more", "$x;"]),
    (["main", "-P", "alpha=2"], ["2", "it's"]),
    (["-e", "show.py", "-P", "alpha=2"], ["--alpha", "2"]),
    (["-P", "alpha=2", "show.py", "rest"], ["--alpha", "2", "rest"]),
])
def test_an_entry_point_gets_its_parameters(project, words, argv):
    if words[:2] == ["-e", "show.py"]:  # its command is 'python show.py', as MLflow's
        (project.project / "bin").mkdir()
        (project.project / "bin" / "python").symlink_to(sys.executable)
        project.environment["PATH"] = f"{project.project / 'bin'}:{project.environment['PATH']}"
    assert shown(project.run("submit", *words)) == ["work", argv]


def test_its_parameters_are_those_of_the_run(project):
    project.run("submit", "-P", "text=a", "-P", "more=b")
    record = project.json("history", "info", "last")
    assert record["params"] == {"alpha": "0.5", "text": "a", "more": "b"}
    assert record["script_name"] == "main"
    again = project.run("experiment", "rerun", "last")
    assert shown(again)[1] == ["0.5", "a", "--more", "b"]


def test_it_starts_in_the_folder_of_the_file_which_is_a_project(project):
    (project.project / "below").mkdir()
    assert shown(project.run("submit", cwd=project.project / "below"))[0] == "work"


def test_data_that_does_not_travel_comes_along_when_a_parameter_names_it(project):
    project.write(".gitignore", "raw/\n")
    project.write("raw/a.txt", "one\n")

    done = project.run("submit", "-e", "data", "-P", "file=raw/a.txt")

    assert done.stdout == b"one\nhome\n"
    assert b"a parameter names it, so it is given as an input" in done.stderr


@pytest.mark.parametrize("words, told, hint", [
    (["-e", "dat"], "'dat' is neither a script nor an entry point of MLproject", "Did you mean 'data'?"),
    (["-e", "data"], "MLproject:10:7: parameter 'file' of entry point 'data' has no value", "-P file=VALUE"),
    (["-e", "data", "-P", "file=s3://b/x"], "MLproject:10:7: parameter 'file' is a path; ponk does not download", "'uri'"),
    (["-P", "alpha=high"], "MLproject:5:7: parameter 'alpha' is a number, and 'high' is none", "'string'"),
    (["main", "--alpha", "2"], "'--alpha' is not a parameter of the MLproject", "-P NAME=VALUE"),
])
def test_what_cannot_be_done_is_refused_before_there_is_a_run(project, words, told, hint):
    refused = project.run("submit", *words, code=None)
    assert refused.returncode in (65, 66) and told in refused.stderr.decode() and hint in refused.stderr.decode(), refused
    assert project.json("history", "list") == []


def test_keys_that_an_entry_point_does_not_have_are_named_with_their_place(project):
    project.write("MLproject", "entry_points:\n  main:\n    parametres:\n      alpha: float\n    command: python3 show.py\n"
                               "  data:\n    command: cat {file}\n    parameters:\n      file: {type: path, defualt: x}\n")

    told = project.run("submit").stderr.decode()

    assert "MLproject:3:5: warning: the entry point 'main' has no key 'parametres'; it is ignored" in told, told
    assert "Did you mean 'parameters'?" in told
    assert "MLproject:9:26: warning: the parameter 'file' has no key 'defualt'; it is ignored" in told
    checked = project.json("check")
    assert [(one["line"], one["code"]) for one in checked if one["code"] == "unknown-key"] == [(3, "unknown-key"), (9, "unknown-key")]


@pytest.mark.parametrize("words", [["-e", "main", "show.py"], ["-P", "alpha", "show.py"], ["-P", "a=1", "-m", "show"]])
def test_words_that_contradict_each_other_are_a_wrong_command_line(project, words):
    project.run("submit", *words, code=64)


def test_folders_of_its_container_are_asked_about_before_an_engine_is(project):
    project.write("MLproject", "docker_env:\n  image: x\n  volumes: ['/srv/data:/data:ro']\n" + PROJECT)
    environment = {"DOCKER_HOST": "unix:///nonexistent/docker.sock"}

    refused = project.run("submit", code=73, env=environment).stderr.decode()

    assert "the docker argument '--volume=/srv/data:/data:ro' (MLproject:3)" in refused, refused
    project.run("allow", "docker-argument", "--volume=/srv/data:/data:ro")
    assert b"nonexistent" in project.run("submit", code=None, env=environment).stderr
    # The script itself is no entry point, and needs no container.
    assert shown(project.run("submit", "show.py", env=environment))[1] == []


@pytest.mark.parametrize("key, name, text", [
    ("python_env", "env/python.yaml", "build_dependencies: []\ndependencies:\n  - tinytool==1.0\n"),
    ("conda_env", "env/conda.yaml", "dependencies:\n  - pip:\n    - tinytool==1.0\n"),
])
def test_its_packages_are_built(project, tmp_path, key, name, text):
    write_wheel(tmp_path, "tinytool", "1.0")
    project.environment.update(PIP_NO_INDEX="1", PIP_FIND_LINKS=str(tmp_path), PONK_ENV_FREE_SPACE="1000000")
    project.write(name, text)
    project.write("MLproject", f"{key}: {name}\nentry_points:\n  main:\n    command: \"python -c 'import tinytool as t; "
                               "print(t.__version__)'\"\n")

    done = project.run("submit")

    assert done.stdout == b"1.0\n"
    assert f"packages: MLproject names {name}" in done.stderr.decode()


def test_a_file_of_packages_that_is_not_there_is_named_with_its_place(project):
    project.write("MLproject", "conda_env: none.yaml\n" + PROJECT)
    refused = project.run("submit", code=66).stderr.decode()
    assert "MLproject:1:12: conda_env: conda file 'none.yaml' does not exist" in refused
