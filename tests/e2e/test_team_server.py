# SPDX-License-Identifier: Apache-2.0
"""The reading commands asked of a `ponk serve` elsewhere: by TLS, with a token, and what goes wrong."""
import json
import pathlib
import signal
import socket
import subprocess
import threading
import time

import pytest

from test_listeners import Server, make_certificate
from workbench import Ponk

TRAINING = """import os, ponk
for step in range(20):
    ponk.log_metric("loss", 1.0 / (step + 1), step)
os.makedirs("outputs", exist_ok=True)
open("outputs/model.bin", "wb").write(bytes(range(256)) * 4096)
for line in range(100):
    print("line", line)
"""


class Team:
    """A server with one project and its runs, and somebody else's ponk, which knows nothing of them."""

    def __init__(self, ours, program, folder):
        self.ours = ours
        certificate, key = make_certificate(pathlib.Path(folder), "team")
        self.certificate = certificate
        ours.write("train.py", TRAINING)
        self.runs = [ours.json("submit", "train.py")["run_id"] for _ in range(2)]
        ours.run("history", "promote", self.runs[0], "--artifact-path", "outputs/model.bin", "--name", "model.bin")
        self.server = Server(ours, "--host", "127.0.0.1", "--tls-cert", certificate, "--tls-key", key)
        self.token = ours.json("token", "create", "--name", "ann", "--role", "read")["token"]
        (pathlib.Path(folder) / "ann").mkdir()
        self.ann = Ponk(program, pathlib.Path(folder) / "ann")
        self.token_file = self.ann.project / "token"
        self.token_file.write_text(self.token + "\n")
        self.token_file.chmod(0o600)
        self.ann.environment.update({"PONK_SERVER": self.server.uri, "PONK_SERVER_CERT": str(certificate),
                                     "PONK_SERVER_TOKEN_FILE": str(self.token_file)})


@pytest.fixture(scope="module")
def team(program, tmp_path_factory):
    folder = tmp_path_factory.mktemp("t")
    (folder / "ours").mkdir()
    ours = Ponk(program, folder / "ours")
    made = Team(ours, program, folder)
    yield made
    made.server.end()
    subprocess.run([ours.program, "daemon", "stop"], env=ours.environment, capture_output=True, timeout=60)


def last_line(done):
    return done.stderr.decode().splitlines()[-1]


def test_reading_commands_show_what_the_server_has(team):
    ann, ours, (first, second) = team.ann, team.ours, team.runs
    assert [run["run_id"] for run in ann.json("runs")] == [second, first]
    assert ann.json("history", "list", "--filter", "metrics.loss < 0")  == []
    for words in (("history", "info", first), ("experiment", "status", second), ("history", "last"),
                  ("history", "chart", first, "--metric", "loss"), ("history", "compare", first, second),
                  ("project", "list")):
        assert ann.json(*words) == ours.json(*words), words
    assert ann.text("logs", first) == ours.text("logs", first)
    assert ann.text("logs", "--tail", "2", "last") == "line 98\nline 99\n"
    exported = ann.text("history", "export", first).splitlines()
    assert json.loads(exported[0])["run"]["run_id"] == first
    assert len(ann.text("history", "export").splitlines()) == len(ours.text("history", "export", "--all-projects").splitlines())
    ann.run("history", "download", first, "-d", "got")
    assert (ann.project / "got/outputs/model.bin").read_bytes() == bytes(range(256)) * 4096
    # Nothing was started here.
    assert not (ann.home / "daemon.sock").exists()


def test_a_project_of_the_server_is_chosen_by_name(team):
    ann, ours = team.ann, team.ours
    assert len(ann.json("runs", "--project", "project")) == 2
    assert ann.json("experiment", "status", "1", "--project", "project")["run_id"] == team.runs[0]
    assert ann.json("runs", "-p", str(ours.project))[0]["run_id"] == team.runs[1]
    done = ann.run("runs", "-p", "projekt", code=66)
    assert "no project 'projekt'" in last_line(done) and b"Did you mean 'project'?" in done.stderr
    done = ann.run("asset", "list", code=65)
    assert b"--project NAME" in done.stderr
    assert ann.json("asset", "list", "-p", "project")[0]["name"] == "model.bin"
    ann.run("asset", "download", "model.bin", "-p", "project", "-d", "assets")
    assert (ann.project / "assets/model.bin").stat().st_size == 1 << 20


def test_a_run_of_the_server_is_followed_to_its_end(team):
    ours, ann = team.ours, team.ann
    ours.write("slow.py", "import os, time\nprint('begun', flush=True)\n"
                          "while not os.path.exists(os.environ['GO']): time.sleep(0.05)\nprint('over')\n")
    go = ours.project / "go"
    run = ours.json("submit", "--async", "slow.py", env={"GO": str(go)})["run_id"]
    follower = subprocess.Popen([ann.program, "logs", "--follow", run], env=ann.environment, cwd=ann.project,
                                stdout=subprocess.PIPE, stderr=subprocess.PIPE)
    assert follower.stdout.readline() == b"begun\n"
    go.write_text("")
    out, err = follower.communicate(timeout=60)
    assert (out, follower.returncode) == (b"over\n", 0), err


def test_ctrl_c_stops_following_and_offers_no_cancel(team):
    ours, ann = team.ours, team.ann
    ours.write("wait.py", "import time\nprint('begun', flush=True)\ntime.sleep(600)\n")
    run = ours.json("submit", "--async", "wait.py")["run_id"]
    follower = subprocess.Popen([ann.program, "logs", "--follow", run], env=ann.environment, cwd=ann.project,
                                stdout=subprocess.PIPE, stderr=subprocess.PIPE)
    assert follower.stdout.readline() == b"begun\n"
    follower.send_signal(signal.SIGINT)
    _, err = follower.communicate(timeout=60)
    assert follower.returncode == 79 and b"ponk cancel" not in err and b"ponk: detached:" in err
    ours.run("cancel", run)


@pytest.mark.parametrize("words", [["submit", "train.py"], ["cancel", "last"], ["gpu", "list"], ["history", "delete", "last"],
                                   ["token", "list"], ["daemon", "status"], ["serve"], ["doctor"]])
def test_other_commands_say_that_they_work_here_only(team, words):
    done = team.ann.run(*words, code=64)
    assert "works with this machine only" in last_line(done) and "PONK_SERVER" in last_line(done)
    assert b"--server here" in done.stderr
    assert not (team.ann.home / "daemon.sock").exists()


def test_here_is_this_machine(team, ponk):
    environment = {**team.ann.environment, "PONK_HOME": str(ponk.home), "HOME": ponk.environment["HOME"]}
    ponk.write("show.py", "import os\nprint(sorted(name for name in os.environ if name.startswith('PONK_SERVER')))\n")
    # The token is no business of the script.
    assert ponk.run("submit", "--server", "here", "show.py", env=environment).stdout == b"[]\n"
    assert len(ponk.json("runs", "--server", "here", env=environment)) == 1
    assert len(ponk.json("runs", env=environment)) > 1
    pid = ponk.json("daemon", "status")["pid"]
    assert b"PONK_SERVER" not in pathlib.Path(f"/proc/{pid}/environ").read_bytes()
    ponk.run("help", env=environment)
    ponk.run("runconfiguration", "list", env=environment)


def test_the_server_is_named_by_the_option_too(team):
    environment = {"PONK_SERVER": "https://127.0.0.1:1"}
    assert len(team.ann.json("runs", "--server", team.server.uri, env=environment)) >= 2
    done = team.ann.run("submit", "--server", team.server.uri, "x.py", code=64, env={"PONK_SERVER": ""})
    assert "--server names the server" in last_line(done)


def refusals(team):
    other = team.ann.project / "other"
    other.mkdir(exist_ok=True)
    strange = make_certificate(other, "strange")[0]
    shared = team.ann.project / "shared"
    shared.write_text(team.token)
    shared.chmod(0o640)
    two_words = team.ann.project / "two"
    two_words.write_text("Bearer " + team.token)
    two_words.chmod(0o600)
    port = team.server.uri.rpartition(":")[2]
    return [
        ({"PONK_SERVER": "https://127.0.0.1:1"}, 69, "cannot be reached", "whether 'ponk serve' runs there"),
        ({"PONK_SERVER": "https://no.such.name.invalid"}, 69, "no.such.name.invalid", "Check the address"),
        ({"PONK_SERVER_CERT": ""}, 69, "is not trusted", "PONK_SERVER_CERT"),
        ({"PONK_SERVER_CERT": str(strange)}, 69, "is not trusted", "PONK_SERVER_CERT"),
        ({"PONK_SERVER_CERT": "/no/such.pem"}, 66, "/no/such.pem", ""),
        ({"PONK_SERVER_CERT": str(two_words)}, 65, "no certificate", ""),
        ({"PONK_SERVER": f"https://localhost:{port}"}, 69, "is not for 'localhost'", "the name that the certificate has"),
        ({"PONK_SERVER": f"http://127.0.0.1:{port}"}, 69, "cannot be reached", "https"),
        ({"PONK_SERVER": "http://192.0.2.1:5000"}, 69, "without TLS", "PONK_SERVER_INSECURE=1"),
        ({"PONK_SERVER_TOKEN_FILE": ""}, 65, "needs a token", "ponk token create"),
        ({"PONK_SERVER_TOKEN_FILE": str(shared)}, 73, "mode 640", "chmod 600"),
        ({"PONK_SERVER_TOKEN_FILE": str(team.ann.project)}, 65, "is not a file", ""),
        ({"PONK_SERVER_TOKEN_FILE": str(two_words)}, 65, "holds no token", "one word"),
        ({"PONK_SERVER_TOKEN": "ponk_" + "0" * 64}, 65, "does not accept the token", "ponk token create"),
        ({"PONK_SERVER_TOKEN": "x\r\nEvil: y"}, 65, "holds no token", "one word"),
        ({"PONK_SERVER": "gpu.example:5000"}, 64, "https://", "'ponk serve' prints"),
    ]


@pytest.mark.parametrize("case", range(16))
def test_what_goes_wrong_says_what_where_and_what_next(team, case):
    changes, code, said, hint = refusals(team)[case]
    done = team.ann.run("runs", env=changes, code=code)
    lines = done.stderr.decode().splitlines()
    assert said in lines[-1], lines
    assert hint in done.stderr.decode(), lines
    for secret in (team.token, changes.get("PONK_SERVER_TOKEN", team.token)):
        assert secret.encode() not in done.stderr + done.stdout
    assert team.token.encode() not in team.ann.run("runs", "--debug", env=changes, code=code).stderr


def test_a_role_that_does_not_suffice(team):
    done = team.ann.run("history", "compare", *team.runs, "--diff")
    assert done.returncode == 0
    ours, ann = team.ours, team.ann
    ours.write("train.py", TRAINING + "print('more')\n")
    third = ours.json("submit", "train.py")["run_id"]
    done = ann.run("history", "compare", team.runs[0], third, "--diff", code=65)
    assert "needs the role 'administer'; the token has 'read'" in last_line(done)
    assert team.server.uri in last_line(done) and b"On the server: 'ponk token create" in done.stderr


def test_values_of_secrets_are_not_served(team):
    assert team.ann.run("logs", "--raw", "last", code=None).returncode != 0


def answer_once(text):
    """Somebody who is no ponk, on a port of its own."""
    listener = socket.create_server(("127.0.0.1", 0))

    def serve():
        with listener:
            stream = listener.accept()[0]
            with stream:
                stream.recv(65536)
                stream.sendall(text)
    threading.Thread(target=serve, daemon=True).start()
    return f"http://127.0.0.1:{listener.getsockname()[1]}"


@pytest.mark.parametrize("body, code, said", [
    (b'{"version":"9.0","api":9}', 73, "(ponk 9.0) speaks version 9 of the API"),
    (b"<html>", 69, "which no 'ponk serve' does"),
])
def test_another_version_and_something_else(team, body, code, said):
    head = f"HTTP/1.1 200 OK\r\nContent-Length: {len(body)}\r\n\r\n".encode()
    done = team.ann.run("runs", "--server", answer_once(head + body), code=code)
    assert said in last_line(done), done.stderr


def test_a_follower_outlives_the_server(program, tmp_path_factory):
    folder = tmp_path_factory.mktemp("t")
    (folder / "ours").mkdir()
    ours = Ponk(program, folder / "ours")
    certificate, key = make_certificate(folder, "team")
    ours.write("slow.py", "import os, time\nprint('begun', flush=True)\n"
                          "while not os.path.exists(os.environ['GO']): time.sleep(0.05)\nprint('over')\n")
    server = Server(ours, "--tls-cert", certificate, "--tls-key", key)
    port = server.uri.rpartition(":")[2]
    try:
        run = ours.json("submit", "--async", "slow.py", env={"GO": str(ours.project / "go")})["run_id"]
        token = ours.json("token", "create", "--name", "ann", "--role", "read")["token"]
        environment = {**ours.environment, "PONK_HOME": str(folder / "none"), "PONK_SERVER": server.uri,
                       "PONK_SERVER_TOKEN": token, "PONK_SERVER_CERT": str(certificate)}
        follower = subprocess.Popen([ours.program, "logs", "-f", run], env=environment, stdout=subprocess.PIPE, stderr=subprocess.PIPE)
        assert follower.stdout.readline() == b"begun\n"
        server.end()
        time.sleep(0.2)
        server = Server(ours, "--tls-cert", certificate, "--tls-key", key, port=port)
        (ours.project / "go").write_text("")
        out, err = follower.communicate(timeout=90)
        assert (out, follower.returncode) == (b"over\n", 0), err
    finally:
        server.end()
        subprocess.run([ours.program, "daemon", "stop"], env=ours.environment, capture_output=True, timeout=60)
