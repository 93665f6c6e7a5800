# SPDX-License-Identifier: Apache-2.0
"""Folders and files that are not what they should be: told with the next step, never waited for, never overwritten."""
import os
import signal
import socket
import subprocess
import time
import zipfile

import pytest

as_root = pytest.mark.skipif(os.getuid() != 0, reason="another user's files need root")


# The home folder ------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("mode", [0o777, 0o1777])
def test_a_home_that_everybody_may_write_to_is_refused(ponk, mode):
    ponk.home.mkdir()
    ponk.home.chmod(mode)
    ponk.write("a.py", "print(1)\n")

    for command in [["submit", "a.py"], ["history", "list"], ["daemon", "run"], ["daemon", "status"]]:
        done = ponk.run(*command, code=73)
        assert b"can be written to by every user" in done.stderr
        assert f"chmod go-w '{ponk.home}'".encode() in done.stderr
    ponk.home.chmod(0o755)
    ponk.run("submit", "a.py")


@as_root
def test_a_home_of_another_user_is_refused_for_root_too(ponk):
    ponk.home.mkdir(mode=0o755)
    os.chown(ponk.home, 12345, 12345)

    done = ponk.run("history", "list", code=73)

    assert b"belongs to another user (uid 12345)" in done.stderr and b"chown -R root" in done.stderr
    assert os.listdir(ponk.home) == []


def daemon_of(ponk):
    return ponk.json("daemon", "status")["pid"]


def wait_for_end(pid, seconds=20):
    deadline = time.monotonic() + seconds
    while time.monotonic() < deadline:
        try:
            state = open(f"/proc/{pid}/stat").read().rpartition(")")[2].split()[0]
        except FileNotFoundError:
            return True
        if state == "Z":
            return True
        time.sleep(0.02)
    return False


@pytest.mark.parametrize("away", ["removed", "moved"])
def test_a_daemon_whose_home_is_gone_ends_and_the_next_command_starts_anew(ponk, away, tmp_path):
    ponk.write("a.py", "print('again')\n")
    ponk.run("submit", "a.py")
    pid = daemon_of(ponk)

    if away == "removed":
        # The daemon may be about to write its last file when 'rm' has seen all others.
        while subprocess.run(["rm", "-rf", str(ponk.home)]).returncode != 0:
            time.sleep(0.05)
    else:
        ponk.home.rename(tmp_path / "elsewhere")

    assert wait_for_end(pid), "the daemon goes on with files that nobody sees"
    assert ponk.run("submit", "a.py").stdout == b"again\n"
    assert daemon_of(ponk) != pid
    assert len(ponk.json("history", "list")) == 1


def test_a_follower_hears_that_the_home_was_removed(ponk):
    ponk.write("long.py", "import time\nprint('begun', flush=True)\ntime.sleep(5)\n")
    follower = subprocess.Popen([ponk.program, "submit", "long.py"], cwd=ponk.project, env=ponk.environment,
                                stdout=subprocess.PIPE, stderr=subprocess.PIPE)
    assert follower.stdout.readline() == b"begun\n"
    pid = daemon_of(ponk)

    # A run that is just writing makes it fail now and then, as it would anybody.
    while subprocess.run(["rm", "-rf", str(ponk.home)], stderr=subprocess.DEVNULL).returncode != 0:
        pass

    _, said = follower.communicate(timeout=30)
    assert follower.returncode == 76, said
    assert b"was removed while its daemon was running" in said
    assert wait_for_end(pid)


def test_a_new_home_in_the_place_of_the_old_keeps_its_socket(ponk):
    ponk.write("a.py", "print(1)\n")
    ponk.run("submit", "a.py")
    old = daemon_of(ponk)
    os.kill(old, signal.SIGSTOP)  # too busy to see it at once
    subprocess.run(["rm", "-rf", str(ponk.home)], check=True)
    ponk.run("submit", "a.py")
    new = daemon_of(ponk)

    os.kill(old, signal.SIGCONT)

    assert wait_for_end(old)
    assert daemon_of(ponk) == new and len(ponk.json("history", "list")) == 1


# Configuration files --------------------------------------------------------------------------------------------------


def make_socket(path):
    here = os.getcwd()
    os.chdir(path.parent)
    try:
        socket.socket(socket.AF_UNIX).bind(path.name)
    finally:
        os.chdir(here)


def make_sparse(path):
    with open(path, "wb") as out:
        out.truncate(2 << 30)


ODD = {
    "pipe": (os.mkfifo, b"not a regular file"),
    "folder": (lambda p: p.mkdir(), b"is a folder"),
    "socket": (make_socket, b"not a regular file"),
    "loop": (lambda p: p.symlink_to(p.name), b"symbolic links"),
    "dangling link": (lambda p: p.symlink_to("nowhere"), b"No such file"),
    "device": (lambda p: p.symlink_to("/dev/zero"), (b"outside", b"not a regular file")),
    "sparse": (make_sparse, b"larger than the limit"),
}
FILES = ["aml_config/local.runconfig", "aml_config/other.compute", "aml_config/conda_dependencies.yml",
         "aml_config/spark_dependencies.yml", ".azureml/project.json", "MLproject", ".amlignore"]


@pytest.mark.parametrize("odd", ODD)
@pytest.mark.parametrize("file", FILES)
def test_check_names_what_is_no_file(ponk, file, odd):
    make, words = ODD[odd]
    path = ponk.project / file
    path.parent.mkdir(exist_ok=True)
    make(path)

    # A file that the user names may be anywhere.
    for command, wanted in zip([["check"], ["check", file]], words if isinstance(words, tuple) else (words, words)):
        done = ponk.run(*command, "-o", "json", code=65, timeout=20)
        assert wanted in done.stdout and file.encode() in done.stdout
    ponk.run("check", "--dump", file, "-o", "json", code=65, timeout=20)


@pytest.mark.parametrize("file", FILES)
def test_check_names_what_may_not_be_read(ponk, file):
    ponk.write(file, "").chmod(0)
    # Root reads everything, unless it gives up the right to.
    bound = ["setpriv", "--bounding-set=-all", "--inh-caps=-all"] if os.getuid() == 0 else []

    done = subprocess.run([*bound, ponk.program, "check", "-o", "json"], cwd=ponk.project, env=ponk.environment,
                          capture_output=True, timeout=20)

    assert done.returncode == 65, done
    assert b"Permission denied" in done.stdout and file.encode() in done.stdout


# Files that come back -------------------------------------------------------------------------------------------------


def snapshot_files(ponk):
    import pathlib
    folder = pathlib.Path(ponk.home).parent / f"restored-{time.monotonic_ns()}"
    ponk.run("project", "restore", "last", "-d", folder)
    return sorted(str(p.relative_to(folder)) for p in folder.rglob("*") if p.is_file())


def test_what_is_downloaded_into_the_project_is_no_input_of_the_next_run(ponk):
    ponk.write("a.py", "import os\nos.makedirs('outputs', exist_ok=True)\nopen('outputs/m', 'w').write('model')\n")
    ponk.run("submit", "a.py")
    before = snapshot_files(ponk)

    ponk.run("history", "download", "last")
    ponk.run("experiment", "return", "last")
    ponk.run("experiment", "diagnostics", "last")
    ponk.run("project", "restore", "last")
    ponk.run("submit", "a.py")

    assert (ponk.project / "outputs/m").read_text() == "model"
    assert len(list(ponk.project.glob("ponk-*"))) == 2
    assert len(list(ponk.project.parent.glob("project-*/a.py"))) == 1, "restored beside the project"
    assert snapshot_files(ponk) == before


def test_nothing_that_is_there_is_replaced_unasked(ponk, tmp_path):
    ponk.write("a.py", "import os\nos.makedirs('outputs', exist_ok=True)\nopen('outputs/m', 'w').write('model')\nopen('made', 'w').write('new')\n")
    ponk.run("submit", "a.py")
    got = tmp_path / "got"
    (got / "outputs").mkdir(parents=True)
    (got / "outputs/m").write_text("mine")
    (got / "made").write_text("mine")

    ponk.run("history", "download", "last", "-d", got, code=73)
    assert ponk.json("experiment", "return", "last", "-d", got)["skipped"] == ["made", "outputs/m"]
    ponk.run("project", "restore", "last", "-d", got, code=73)
    assert (got / "outputs/m").read_text() == (got / "made").read_text() == "mine"

    ponk.run("history", "download", "last", "-d", got, "--overwrite")
    ponk.run("experiment", "return", "last", "-d", got, "--overwrite")
    assert (got / "outputs/m").read_text() == "model" and (got / "made").read_text() == "new"
    assert not list(got.rglob("*.ponk-partial"))


def test_a_killed_return_leaves_no_half_of_a_file(ponk, tmp_path):
    ponk.write("a.py", "open('big', 'wb').write(bytes(200 << 20))\n")
    ponk.run("submit", "a.py")
    got = tmp_path / "got"
    command = subprocess.Popen([ponk.program, "experiment", "return", "last", "-d", str(got)], cwd=ponk.project,
                               env=ponk.environment, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)
    deadline = time.monotonic() + 20
    while time.monotonic() < deadline and not (got.is_dir() and os.listdir(got)):
        time.sleep(0.0005)
    os.kill(daemon_of(ponk), signal.SIGKILL)
    command.wait(timeout=60)

    assert not (got / "big").exists() or (got / "big").stat().st_size == 200 << 20
    ponk.run("experiment", "return", "last", "-d", got)
    assert (got / "big").stat().st_size == 200 << 20


# A project that holds ponk's own data ---------------------------------------------------------------------------------


@pytest.mark.parametrize("place", [".local/share/ponk", "data"])
def test_a_home_inside_the_project_is_never_part_of_a_snapshot(ponk, place):
    ponk.environment["PONK_HOME"] = str(ponk.project / place)
    ponk.home = ponk.project / place
    ponk.run("secret", "set", "k", input=b"s3cret")
    ponk.write("a.py", "import os\nprint(sorted(n for _, d, f in os.walk('.') for n in d + f))\n")

    done = ponk.run("submit", "a.py")
    assert f"'{place}' contains ponk's own data and was left out".encode() in done.stderr
    for done in [done, ponk.run("submit", "a.py")]:
        assert b"run.key" not in done.stdout and b"k.secret" not in done.stdout
    ponk.run("experiment", "diagnostics", "last", "-d", ponk.project / "d.zip")
    with zipfile.ZipFile(ponk.project / "d.zip") as archive:
        assert not [name for name in archive.namelist() if ".key" in name or ".secret" in name]


def test_the_home_itself_is_no_project(ponk):
    ponk.run("history", "list")
    (ponk.home / "a.py").write_text("print(1)\n")

    done = ponk.run("submit", "--project", ponk.home, "a.py", code=None)

    assert done.returncode != 0 and b"contains ponk's own data" in done.stderr and b"another folder" in done.stderr


# Rights of what is given back -----------------------------------------------------------------------------------------


def test_returned_and_restored_files_have_the_users_rights(ponk, tmp_path):
    ponk.write("a.py", "import os\nos.makedirs('outputs/deep', exist_ok=True)\nopen('outputs/deep/m.bin', 'w').write('1')\n")
    ponk.run("submit", "a.py")

    for mask, file_mode, folder_mode in [(0o022, 0o644, 0o755), (0o027, 0o640, 0o750)]:
        ponk.run("experiment", "return", "last", "-d", tmp_path / f"back{mask}", umask=mask)
        ponk.run("project", "restore", "last", "-d", tmp_path / f"tree{mask}", umask=mask)
        for path, mode in [(f"back{mask}/outputs/deep/m.bin", file_mode), (f"back{mask}/outputs/deep", folder_mode),
                           (f"tree{mask}/a.py", file_mode), (f"tree{mask}", folder_mode)]:
            assert (tmp_path / path).stat().st_mode & 0o777 == mode, path


# What is there under the name of a configuration, and cannot be read as one ----------------------------------------------


@pytest.mark.parametrize("odd", ODD)
@pytest.mark.parametrize("file", ["aml_config/local.runconfig", "aml_config/local.compute", ".amlignore"])
def test_submit_never_takes_defaults_for_what_is_no_file(ponk, file, odd):
    ponk.write("a.py", "print('ran')\n")
    (ponk.project / file).parent.mkdir(exist_ok=True)
    ODD[odd][0](ponk.project / file)

    done = ponk.run("submit", "-c", "local", "a.py", code=None, timeout=20)

    assert done.returncode in (65, 66) and b"ran" not in done.stdout, done
    assert file.split("/")[-1].encode() in done.stderr


@pytest.mark.parametrize("odd", ["loop", "dangling link", "pipe"])
def test_submit_never_takes_defaults_for_a_folder_of_configurations_that_is_none(ponk, odd):
    ponk.write("a.py", "print('ran')\n")
    ODD[odd][0](ponk.project / "aml_config")

    done = ponk.run("submit", "a.py", code=65)

    assert b"aml_config" in done.stderr and done.stdout == b""


@pytest.mark.parametrize("odd", ODD)
def test_an_environment_is_never_left_out_for_what_is_no_file(ponk, odd):
    ponk.write("a.py", "print('ran')\n")
    ponk.write("aml_config/docker.compute", "type: localdocker\nbaseDockerImage: none\n")
    ponk.write("aml_config/docker.runconfig", "Target: docker\nFramework: Python\nPrepareEnvironment: true\n")
    ODD[odd][0](ponk.project / "aml_config/conda_dependencies.yml")

    done = ponk.run("submit", "-c", "docker", "a.py", code=None, timeout=20)

    assert done.returncode in (65, 66) and b"conda_dependencies.yml" in done.stderr, done
