# SPDX-License-Identifier: Apache-2.0
"""Files that an editor of Windows saved, with a byte order mark and CRLF at the ends of lines, mean what they mean without."""
import json
import subprocess

import pytest

CONDA = "name: x\ndependencies:\n  - python=3.9\n  - pyyaml\n  - pip:\n    - tinytool==1.0\n"
# What `ponk check` reads by itself.
CONFIGURATION = {
    "aml_config/docker.compute": "# where\ntype: localdocker\nbaseDockerImage: mine/image:1\nsharedVolumes: true\n",
    "aml_config/flat.runconfig": "ArgumentVector:\n  - train.py\n  - \"--rate\"\nTarget: local\nFramework: Python\nEnvironmentVariables:\n  A: b c\n",
    "aml_config/nested.runconfig": "script: train.py\ntarget: local\nframework: Python\nenvironment:\n  environmentVariables:\n    A: b c\n",
    "aml_config/conda_dependencies.yml": CONDA,
    "aml_config/spark_dependencies.yml": "configuration:\n  spark.app.name: old\nrepositories: []\npackages: []\n",
    "aml_config/project.json": '{\n  "Id": "8f1c6f2a",\n  "Scope": "/a/b"\n}\n',
    "environment.yml": CONDA,
    "python_env.yaml": "python: 3.11\nbuild_dependencies: [pip]\ndependencies:\n  - pyyaml\n",
    "MLproject": "name: demo\nentry_points:\n  main:\n    parameters:\n      rate: {type: float, default: 0.5}\n    command: python train.py {rate}\n",
    ".amlignore": "# data\ndata/\n!data/small.csv\n",
    ".gitignore": "# data\ndata/\n!data/small.csv\n",
}
# What says which packages a script has.
PACKAGES = {
    "requirements.txt": "# what it needs\npyyaml==6.0\n",
    "pyproject.toml": "[project]\nname = 'app'\nversion = '1'\ndependencies = ['pyyaml']\n",
    "uv.lock": "version = 1\nrequires-python = '>=3.8'\n\n[[package]]\nname = 'app'\nversion = '0.1.0'\nsource = { virtual = '.' }\n"
               "dependencies = [{ name = 'pyyaml' }]\n\n[[package]]\nname = 'pyyaml'\nversion = '6.0'\nsource = { registry = 'https://index.example' }\n",
    "environment.yml": CONDA,
    "use.py": "# /// script\n# dependencies = ['pyyaml']\n# ///\nimport yaml\nimport cv2\n",
}
RULES = [".amlignore", ".gitignore", "sub/.gitignore", ".git/info/exclude"]


def as_windows(text):
    return b"\xef\xbb\xbf" + text.replace("\n", "\r\n").encode()


def both_ways(ponk, name, text, look):
    """What is seen with the file as Linux has it, and as Windows has it."""
    place = ponk.write(name, text)
    plain = look()
    place.write_bytes(as_windows(text))
    return plain, look()


@pytest.mark.parametrize("name", CONFIGURATION)
def test_a_configuration_file_is_understood(ponk, name):
    def look():
        done = ponk.run("check", "-o", "json", "--dump", name)
        return json.loads(done.stdout)["meaning"], done.stderr, ponk.run("check", name, code=None).stdout

    plain, windows = both_ways(ponk, name, CONFIGURATION[name], look)

    assert plain == windows and plain[0]


@pytest.mark.parametrize("name", PACKAGES)
def test_a_list_of_packages_is_understood(ponk, name):
    ponk.write("use.py", "import yaml\nimport cv2\n")

    def look():
        done = ponk.run("check", "-o", "json", "use.py", code=None)
        return json.loads(done.stdout), done.stderr

    plain, windows = both_ways(ponk, name, PACKAGES[name], look)

    assert plain == windows and f"compared with {name}".encode() in plain[1]
    assert ["'cv2'" in found["message"] for found in plain[0] if found["code"] == "module-missing"] == [True]


@pytest.mark.parametrize("name", RULES)
def test_rules_of_what_travels_are_understood(ponk, name):
    subprocess.run(["git", "init", "-q"], cwd=ponk.project, check=True, timeout=60)
    for path in ("sub/data/x", "sub/a.bin", "sub/a.py"):
        ponk.write(path, "x")

    plain, windows = both_ways(ponk, name, "# ours\ndata/\n*.bin\n", lambda: ponk.json("check", "--files")["left_out"])

    assert [each["path"] for each in plain] == ["sub/a.bin", "sub/data/"]
    assert plain == windows


def test_a_project_of_such_files_runs(ponk):
    for name, text in {
        "aml_config/local.compute": "type: local\n",
        "aml_config/local.runconfig": "ArgumentVector:\n  - \"$file\"\nTarget: local\nFramework: Python\nEnvironmentVariables:\n  A: b c\n",
        ".amlignore": "data/\n",
        "train.py": "import os, sys\nprint(os.environ['A'], sys.argv[1:], os.path.exists('data'), sep='|')\n",
        "note.ipynb": json.dumps({"cells": [{"cell_type": "code", "metadata": {}, "source": ["print('cell')\n"], "outputs": [],
                                             "execution_count": None}], "metadata": {}, "nbformat": 4, "nbformat_minor": 2}, indent=1),
    }.items():
        ponk.write(name, "").write_bytes(as_windows(text))
    ponk.write("data/x", "x")

    assert ponk.text("submit", "-c", "local", "train.py", "c d") == "b c|['c d']|False\n"
    assert "cell" in ponk.text("submit", "-c", "local", "note.ipynb")
