# SPDX-License-Identifier: Apache-2.0
"""Which files of a project a run finds in its copy."""
import os
import subprocess

LIST = """import os
for folder, folders, files in os.walk("."):
    for name in files:
        print(os.path.relpath(os.path.join(folder, name), "."))
"""


def git(ponk, *words):
    subprocess.run(["git", "-c", "user.name=n", "-c", "user.email=e", *words], cwd=ponk.project, check=True,
                   capture_output=True, timeout=60)


def travelled(ponk):
    return sorted(set(ponk.text("submit", "list.py").split("\n")) - {"", "list.py"})


def test_a_repository_of_2026_sends_its_sources_and_nothing_else(ponk):
    ponk.write("list.py", LIST)
    for name in ["src/a.py", ".venv/bin/python", "env/pyvenv.cfg", "env/lib/b.py", "node_modules/x.js", "src/__pycache__/a.pyc",
                 "wandb/run/log", "mlruns/0/meta.yaml", ".env", "data/x.csv", "data/.gitkeep"]:
        ponk.write(name, "x")
    ponk.write(".gitignore", "data/\n")
    git(ponk, "init", "-q")
    git(ponk, "add", "-f", "data/.gitkeep", "src/a.py")

    assert travelled(ponk) == [".gitignore", "data/.gitkeep", "src/a.py"]


def test_submit_names_what_it_left_out_and_check_says_why(ponk):
    ponk.write("a.py", "pass\n")
    ponk.write(".gitignore", "# data\ndata/\n")
    ponk.write("data/x.csv", "1")
    ponk.write(".venv/x", "1")

    for _ in range(2):  # the second from the cache
        done = ponk.run("submit", "a.py")
        assert b"left out: .venv/, data/; 'ponk check --files' shows why" in done.stderr

    assert ponk.json("check", "--files")["left_out"] == [
        {"path": ".venv/", "rule": "built-in rule: .venv/"}, {"path": "data/", "rule": ".gitignore:2: data/"}]


def test_a_file_of_secrets_that_git_tracks_travels_with_a_warning(ponk):
    ponk.write("list.py", LIST)
    ponk.write(".env", "KEY=1")
    git(ponk, "init", "-q")
    told = b"'.env' may hold secrets, and travels with the run because git tracks it; a line of .amlignore with its path keeps it out"
    assert told not in ponk.run("submit", "list.py").stderr and travelled(ponk) == []

    git(ponk, "add", "-f", ".env")
    for _ in range(2):  # the second from the cache
        done = ponk.run("submit", "list.py")
        assert done.stderr.count(told) == 1 and b".env\n" in done.stdout
    assert told in ponk.run("check", "--files").stderr

    ponk.write(".amlignore", "/.env\n")
    assert told not in ponk.run("submit", "list.py").stderr and travelled(ponk) == [".amlignore"]
    ponk.write(".amlignore", "!/.env\n")
    assert told not in ponk.run("submit", "list.py").stderr and travelled(ponk) == [".amlignore", ".env"]


def test_lines_of_amlignore_win_and_the_others_stay(ponk):
    ponk.write("list.py", LIST)
    ponk.write(".gitignore", "data/\n*.bin\n")
    ponk.write(".amlignore", "!data/small.csv\nnotes/\n")
    for name in ["data/small.csv", "data/large.csv", "a.bin", "notes/x"]:
        ponk.write(name, "x")

    assert travelled(ponk) == [".amlignore", ".gitignore", "data/small.csv"]


def test_an_ignore_file_in_a_folder_counts_from_the_next_submit_on(ponk):
    ponk.write("list.py", LIST)
    ponk.write("sub/deep/a.log", "x")
    ponk.write("sub/deep/a.py", "x")
    assert travelled(ponk) == ["sub/deep/a.log", "sub/deep/a.py"]

    ponk.write("sub/.gitignore", "*.log\n")

    assert travelled(ponk) == ["sub/.gitignore", "sub/deep/a.py"]


def test_an_ignored_script_is_refused_with_the_rule(ponk):
    ponk.write("scratch/try.py", "pass\n")
    ponk.write(".gitignore", "scratch/\n")

    done = ponk.run("submit", "scratch/try.py", code=65)

    assert b"does not travel with the run (.gitignore:1: scratch/)" in done.stderr
    ponk.write(".amlignore", "!/scratch/try.py\n")
    ponk.run("submit", "scratch/try.py")


def test_a_large_first_snapshot_says_its_size_before_it_begins(ponk):
    ponk.write("a.py", "pass\n")
    (ponk.project / "data").mkdir()
    with open(ponk.project / "data/large.bin", "wb") as file:
        os.truncate(file.fileno(), 300 << 20)

    first = ponk.run("submit", "a.py")
    second = ponk.run("submit", "a.py")

    assert b"first snapshot: 2 files, 300.0 MiB (data/ 300.0 MiB" in first.stderr
    assert b"first snapshot" not in second.stderr


def test_what_is_written_into_the_project_and_would_travel_is_told(ponk, tmp_path):
    ponk.write("train.py", "open('outputs/model.txt', 'w').write('weights')")
    ponk.run("submit", "train.py")
    for command, folder in ((["history", "download", "last", "-d", "res"], "res"), (["project", "restore", "last", "-d", "old/code"], "old/code")):
        done = ponk.run(*command)
        assert f"'{folder}' lies in the project: its files travel with every further run".encode() in done.stderr, done.stderr
        assert f"'/{folder}/' in .amlignore".encode() in done.stderr
    ponk.write(".amlignore", "/res/\n/old/\n")
    done = ponk.run("history", "download", "last", "-d", "res", "--overwrite")
    assert b"lies in the project" not in done.stderr
    done = ponk.run("history", "download", "last", "-d", tmp_path / "elsewhere")
    assert b"lies in the project" not in done.stderr
    assert b"lies in the project" not in ponk.run("history", "download", "last").stderr
