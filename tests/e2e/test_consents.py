# SPDX-License-Identifier: Apache-2.0
"""Files of a project ask for secrets, parts of the host and machines; the user decides, once (docs/design/consents.md)."""
import json
import os
import pty
import select
import time

import pytest

SCRIPT = "import os; print(len(os.environ.get('KEY', '')))\n"


def on_a_terminal(ponk, *words, answers=(), limit=60):
    """Exit code and all that is seen; each answer is typed when a question with its word appears."""
    pid, terminal = pty.fork()
    if pid == 0:
        os.chdir(ponk.project)
        os.execve(ponk.program, [ponk.program, *words], ponk.environment)
    seen, answers, deadline = "", list(answers), time.monotonic() + limit
    while time.monotonic() < deadline:
        if answers and answers[0][0] in seen:
            os.write(terminal, answers.pop(0)[1].encode() + b"\n")
        if select.select([terminal], [], [], 0.2)[0]:
            try:
                seen += os.read(terminal, 65536).decode(errors="replace")
            except OSError:
                break
    os.close(terminal)
    return os.waitstatus_to_exitcode(os.waitpid(pid, 0)[1]), seen


def second_project(ponk):
    folder = ponk.project.parent / "cloned"
    (folder / "aml_config").mkdir(parents=True)
    (folder / "x.py").write_text(SCRIPT)
    (folder / "aml_config/local.runconfig").write_text("Target: local\nFramework: Python\nEnvironmentVariables:\n  KEY: secret:token\n")
    return folder


def test_a_secret_belongs_to_the_project_in_which_it_was_set(ponk):
    ponk.run("secret", "set", "token", input=b"s3cr3t-value\n")
    ponk.write("x.py", SCRIPT)
    ponk.write("aml_config/local.runconfig", "Target: local\nFramework: Python\nEnvironmentVariables:\n  KEY: secret:token\n")
    assert ponk.run("submit", "x.py").stdout == b"12\n"
    assert ponk.json("secret", "list")[0]["projects"] == [str(ponk.project)]
    cloned = second_project(ponk)

    refused = ponk.run("submit", "x.py", cwd=cloned, code=73).stderr.decode()

    assert "the secret 'token' (aml_config/local.runconfig:4)" in refused and "ponk allow secret token" in refused, refused
    assert ponk.json("runs", cwd=cloned) == []
    ponk.run("allow", "secret", "token", cwd=cloned)
    assert ponk.run("submit", "x.py", cwd=cloned).stdout == b"12\n"
    assert [one["what"] for one in ponk.json("allow", cwd=cloned)] == ["token"]
    ponk.run("allow", "--remove", "secret", "token", cwd=cloned)
    ponk.run("submit", "x.py", cwd=cloned, code=73)
    ponk.run("experiment", "rerun", "last", cwd=cloned, code=73)
    # Given by hand it is given.
    assert ponk.run("submit", "--env", "KEY=secret:token", "x.py", cwd=cloned).stdout == b"12\n"
    assert ponk.run("experiment", "rerun", "last", cwd=cloned).stdout == b"12\n"
    ponk.run("secret", "remove", "token")
    ponk.run("secret", "set", "--any-project", "token", input=b"another-value\n", cwd=ponk.home)
    assert ponk.json("secret", "list")[0]["projects"] == ["*"]
    assert ponk.run("submit", "x.py", cwd=cloned).stdout == b"13\n"


def test_on_a_terminal_it_is_asked_once(ponk):
    ponk.run("secret", "set", "token", input=b"s3cr3t-value\n", cwd=ponk.home.parent)
    ponk.write("x.py", SCRIPT)
    ponk.write("aml_config/local.runconfig", "Target: local\nFramework: Python\nEnvironmentVariables:\n  KEY: secret:token\n")

    code, seen = on_a_terminal(ponk, "submit", "x.py", answers=[("Allow this", "n")])
    assert code != 0 and "the secret 'token' (aml_config/local.runconfig:4)" in seen, seen
    assert ponk.json("runs") == []
    code, seen = on_a_terminal(ponk, "submit", "x.py", answers=[("Allow this", "y")])
    assert code == 0 and "12" in seen, seen
    code, seen = on_a_terminal(ponk, "submit", "x.py")
    assert code == 0 and "Allow this" not in seen, seen


@pytest.mark.parametrize("key, line, what", [
    ("arguments: [-v, '/:/host', --memory, 1g]", "docker-argument --volume=/:/host", "the docker argument '--volume=/:/host'"),
    ("arguments: [--network=host, --cap-add, ALL]", "docker-argument --network=host --cap-add=ALL", "the docker argument '--network=host'"),
])
def test_docker_arguments_that_reach_the_host_are_refused_before_an_engine_is_asked(ponk, key, line, what):
    ponk.write("x.py", SCRIPT)
    ponk.write("aml_config/c.compute", "type: localdocker\nbaseDockerImage: x\n")
    ponk.write("aml_config/c.runconfig", f"target: c\nframework: Python\nenvironment:\n  docker:\n    enabled: true\n    {key}\n")
    environment = {"DOCKER_HOST": "unix:///nonexistent/docker.sock"}

    refused = ponk.run("submit", "-c", "c", "x.py", code=73, env=environment).stderr.decode()

    assert what in refused and f"ponk allow {line}" in refused and "(aml_config/c.runconfig:6)" in refused, refused
    ponk.run("allow", *line.split())
    assert b"allow" not in ponk.run("submit", "-c", "c", "x.py", code=None, env=environment).stderr


def test_only_what_is_asked_about_is_allowed(ponk):
    for words in (["docker-argument", "--memory=1g"], ["docker-argument", "--ipc=host", "-o", "json"], ["docker-argument"], ["secret"],
                  ["folder", "-o", "json"], ["secret", "--remove"], ["all", "x"]):
        ponk.run("allow", *words, code=64)
    assert ponk.json("allow") == []


def test_another_shared_folder_is_asked_about(ponk, tmp_path):
    ponk.write("x.py", SCRIPT)
    ponk.write("aml_config/local.compute", f"type: local\nnativeSharedDirectory: {tmp_path}/share\n")
    ponk.write("aml_config/local.runconfig", "Target: local\nFramework: Python\n")
    refused = ponk.run("submit", "x.py", code=73).stderr.decode()
    assert f"ponk allow folder {tmp_path}/share" in refused and not (tmp_path / "share").exists()
    ponk.run("allow", "folder", f"{tmp_path}/share")
    ponk.run("submit", "x.py")
    assert (tmp_path / "share").is_dir()
    ponk.run("experiment", "rerun", "last")
    ponk.run("allow", "--remove", "folder", f"{tmp_path}/share")
    refused = ponk.run("experiment", "rerun", "last", code=73).stderr.decode()
    assert f"ponk allow folder {tmp_path}/share" in refused, "a rerun asks for what the stored run has"


def test_an_id_that_is_a_path_is_none(ponk):
    ponk.write("x.py", "import os; print(os.environ['AZUREML_NATIVE_SHARE_DIRECTORY'])\n")
    for number, text in enumerate(("/", "../../..", str(ponk.project))):
        ponk.write(".azureml/project.json", json.dumps({"Id": text, "Scope": "/projects/x"}))
        place = ponk.run("submit", "x.py").stdout.decode().strip()
        assert place.startswith(f"{ponk.home.parent}/.azureml/share/") and ".." not in place, place


def test_a_machine_that_was_never_attached_is_not_contacted(ponk):
    ponk.write("x.py", SCRIPT)
    ponk.write("aml_config/box.compute", "type: remote\naddress: box.invalid:5022\nusername: ann\n")
    ponk.write("aml_config/box.runconfig", "Target: box\nFramework: Python\n")
    for words in (("submit", "-c", "box", "x.py"), ("experiment", "prepare", "-c", "box"), ("computetarget", "check", "box"),
                  ("computetarget", "setup", "box")):
        refused = ponk.run(*words, code=69).stderr.decode()
        assert "you never attached 'ann@box.invalid:5022'" in refused, refused
        assert "ponk attach --from aml_config/box.compute" in refused, refused
    assert not (ponk.home / "ssh").exists()
    [check] = [one for one in ponk.json("doctor") if one["name"] == "target 'box'"]
    assert check["status"] == "warn" and "never attached" in check["message"]
    code, seen = on_a_terminal(ponk, "submit", "-c", "box", "x.py", answers=[("Attach it and log in?", "n")])
    assert code != 0 and "aml_config/box.compute:2 names the machine 'box.invalid', port 5022, user 'ann'" in seen, seen
    # The line does what it says: from here on it is the user's own request to reach it.
    assert "never attached" not in ponk.run("attach", "--from", "aml_config/box.compute", code=69).stderr.decode()
    for words in (("--from", "aml_config/box.compute", "--name", "x"), ("local", "--from", "aml_config/box.compute"), ("--from", "x.py")):
        ponk.run("attach", *words, code=64)


def test_a_secret_that_is_not_there_and_a_word_that_is_missing_are_named(ponk):
    ponk.run("secret", "set", "kaggle", input=b"value-of-it\n")
    assert b"warning" not in ponk.run("allow", "secret", "kaggle").stderr
    said = ponk.run("allow", "secret", "kagle").stderr.decode()
    assert "there is no secret 'kagle' yet (did you mean 'kaggle'?)" in said, said
    for kind, what in (("secret", "name of a secret"), ("folder", "path of a folder"),
                       ("docker-argument", "argument of docker")):
        said = ponk.run("allow", kind, code=64).stderr.decode()
        assert what in said and f"'ponk allow {kind} " in said, said
    said = ponk.run("token", "create", code=64).stderr.decode()
    assert "'ponk token create --name ann --role write'" in said, said


MOUNTS = "type: localdocker\nbaseDockerImage: x\nmounts:\n  - /srv/data:/data:ro\n"


def test_mounts_of_a_target_are_asked_about_before_an_engine_is(ponk):
    ponk.write("x.py", SCRIPT)
    ponk.write("aml_config/c.compute", MOUNTS)
    ponk.write("aml_config/c.runconfig", "target: c\nframework: Python\n")
    environment = {"DOCKER_HOST": "unix:///nonexistent/docker.sock"}

    refused = ponk.run("submit", "-c", "c", "x.py", code=73, env=environment).stderr.decode()

    assert "the docker argument '--volume=/srv/data:/data:ro' (aml_config/c.compute:4)" in refused, refused
    assert "ponk allow docker-argument --volume=/srv/data:/data:ro" in refused
    ponk.run("allow", "docker-argument", "--volume=/srv/data:/data:ro")
    assert b"nonexistent" in ponk.run("submit", "-c", "c", "x.py", code=None, env=environment).stderr


def test_a_wrong_mount_is_named_with_its_place(ponk):
    ponk.write("x.py", SCRIPT)
    ponk.write("aml_config/c.compute", MOUNTS + "  - data:/more\n")
    ponk.write("aml_config/c.runconfig", "target: c\nframework: Python\n")

    refused = ponk.run("submit", "-c", "c", "x.py", code=None).stderr.decode()

    assert "aml_config/c.compute:5:5" in refused and "not an absolute path" in refused, refused
