# SPDX-License-Identifier: Apache-2.0
"""The daemon by TCP: port, tokens, pin, and `ponk serve`."""
import base64
import http.client
import json
import pathlib
import signal
import socket
import ssl
import subprocess
import threading

import pytest


class Address:
    def __init__(self, uri, context=None):
        self.host, _, port = uri.split("//")[1].rpartition(":")
        self.port = int(port)
        self.context = context

    def ask(self, method, path, token=None, headers=None, body=None):
        if self.context:
            connection = http.client.HTTPSConnection(self.host, self.port, timeout=30, context=self.context)
        else:
            connection = http.client.HTTPConnection(self.host, self.port, timeout=30)
        headers = dict(headers or {})
        if token:
            headers["Authorization"] = f"Bearer {token}"
        connection.request(method, path, body=body, headers=headers)
        reply = connection.getresponse()
        text = reply.read()
        connection.close()
        return reply.status, text


def variables(ponk):
    return ponk.json("tracking", "env", "--plain")


def test_a_client_is_pointed_at_the_daemon(ponk):
    text = ponk.text("tracking", "env", "--plain")
    done = subprocess.run(["sh", "-c", f"{text}\necho $MLFLOW_TRACKING_URI $MLFLOW_TRACKING_TOKEN"], capture_output=True, check=True)
    uri, token = done.stdout.decode().split()

    assert variables(ponk) == {"MLFLOW_TRACKING_URI": uri, "MLFLOW_TRACKING_TOKEN": token}
    status = ponk.json("daemon", "status")
    assert status["tracking_uri"] == uri.replace("http:", "https:") and status["pinned"] is True
    assert {"pid", "version", "socket"} <= set(status)
    listener = Address(uri)
    assert listener.ask("GET", "/health") == (200, b"OK")
    assert listener.ask("GET", "/version")[0] == 200
    assert listener.ask("GET", "/api/v1/runs")[0] == 401
    assert listener.ask("GET", "/api/v1/runs", token + "x")[0] == 401
    assert listener.ask("GET", "/api/v1/runs", token)[0] == 200
    basic = base64.b64encode(f"anyone:{token}".encode()).decode()
    assert listener.ask("GET", "/api/v1/runs", headers={"Authorization": f"Basic {basic}"})[0] == 200
    assert listener.ask("GET", "/api/v1/runs", token, {"Host": "evil.example"})[0] == 403
    assert listener.ask("POST", "/api/v1/runs/search", token, {"Origin": "http://evil.example"}, "{}")[0] == 403
    assert listener.ask("POST", "/api/v1/runs/search", token, {}, "{}")[0] == 200
    # Logging is one thing, starting programs another.
    assert listener.ask("POST", "/api/v1/runs", token, {}, "{}")[0] == 403
    for name in ("token", "tokens", "listeners.json", "loopback.key", "loopback.crt"):
        assert (ponk.home / name).stat().st_mode & 0o777 == 0o600
    assert token not in (ponk.home / "tokens").read_text()


def test_the_token_goes_to_this_daemon_and_to_nobody_else(ponk):
    given = ponk.json("tracking", "env")
    uri, certificate = given["MLFLOW_TRACKING_URI"], given["MLFLOW_TRACKING_SERVER_CERT_PATH"]
    assert uri.startswith("https://127.0.0.1:") and pathlib.Path(certificate).parent == ponk.home
    token = given["MLFLOW_TRACKING_TOKEN"]
    strict = trusting(certificate)
    strict.verify_flags |= ssl.VERIFY_X509_STRICT
    assert Address(uri, strict).ask("GET", "/api/v1/runs", token)[0] == 200
    assert Address(uri.replace("127.0.0.1", "localhost"), strict).ask("GET", "/health") == (200, b"OK")
    # The same port, for who asked for it.
    assert Address(variables(ponk)["MLFLOW_TRACKING_URI"]).ask("GET", "/api/v1/runs", token)[0] == 200
    shell = f'{ponk.text("tracking", "env")}{ponk.text("tracking", "env", "--plain")}echo "$MLFLOW_TRACKING_SERVER_CERT_PATH."'
    assert subprocess.run(["sh", "-c", shell], capture_output=True, check=True).stdout == b".\n"
    ponk.run("daemon", "stop")
    # Somebody else takes the port while the daemon is away, with a certificate for the same names.
    folder = pathlib.Path(ponk.project)
    theirs = ssl.SSLContext(ssl.PROTOCOL_TLS_SERVER)
    theirs.load_cert_chain(*make_certificate(folder, "ponk on this machine"))
    heard = []
    with socket.create_server(("127.0.0.1", int(uri.rpartition(":")[2]))) as listener:
        def listen():
            with listener.accept()[0] as stream:
                try:
                    with theirs.wrap_socket(stream, server_side=True) as opened:
                        heard.append(opened.recv(65536))
                except (ssl.SSLError, ConnectionError):
                    heard.append(b"")
        thief = threading.Thread(target=listen)
        thief.start()
        with pytest.raises(ssl.SSLCertVerificationError):
            Address(uri, strict).ask("GET", "/api/v1/runs", token)
        thief.join(30)
    assert heard == [b""]
    # The certificate is the same after a restart.
    before = pathlib.Path(certificate).read_text()
    assert ponk.json("tracking", "env") == given and pathlib.Path(certificate).read_text() == before
    assert Address(uri, strict).ask("GET", "/api/v1/runs", token)[0] == 200


def test_errors_of_the_server_itself_have_the_shape_of_the_address(ponk):
    listener = Address(variables(ponk)["MLFLOW_TRACKING_URI"])
    for path in ("/api/2.0/mlflow/../x", "/ajax-api/2.0/mlflow//runs", "/api/2.0/mlflow-artifacts/artifacts/%2e%2e/x",
                 "/api/2.0/mlflow-artifacts/artifacts/..%252fx", "/api/3.0/mlflow/%zz"):
        status, text = listener.ask("GET", path)
        assert status == 400, path
        assert json.loads(text)["error_code"] == "INVALID_PARAMETER_VALUE"
    assert json.loads(listener.ask("GET", "/api/v1/../x")[1])["error"]["kind"] == "invalid_argument"
    assert json.loads(listener.ask("POST", "/api/2.0/mlflow/nothing")[1])["error_code"] == "UNAUTHENTICATED"
    token = variables(ponk)["MLFLOW_TRACKING_TOKEN"]
    status, text = listener.ask("POST", "/api/2.0/mlflow/nothing", token, {"Content-Type": "application/json"}, "{}")
    assert (status, json.loads(text)["error_code"]) == (404, "ENDPOINT_NOT_FOUND")


def test_port_stays_and_another_is_taken_only_when_it_must(ponk):
    uri = variables(ponk)["MLFLOW_TRACKING_URI"]
    ponk.run("daemon", "stop")
    assert ponk.json("project", "list") == []
    assert ponk.json("daemon", "status")["tracking_uri"] == uri.replace("http:", "https:")
    ponk.run("daemon", "stop")
    with socket.create_server(("127.0.0.1", int(uri.rpartition(":")[2]))):
        other = variables(ponk)["MLFLOW_TRACKING_URI"]
        assert other != uri
    ponk.run("daemon", "stop")
    assert variables(ponk)["MLFLOW_TRACKING_URI"] == other


def idle_daemon(ponk):
    return subprocess.Popen([ponk.program, "daemon", "run", "--idle-exit", "1"], env=ponk.environment,
                            stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)


def test_a_pinned_daemon_does_not_end_by_idleness(ponk):
    ponk.home.mkdir(mode=0o700)
    (ponk.home / "listeners.json").write_text('{"version":1,"port":0,"pinned":true}')
    daemon = idle_daemon(ponk)
    with pytest.raises(subprocess.TimeoutExpired):
        daemon.wait(4)
    ponk.run("daemon", "stop")
    daemon.wait(30)
    assert json.loads((ponk.home / "listeners.json").read_text())["pinned"] is False
    assert idle_daemon(ponk).wait(30) == 0


def test_failure_of_tracking_env_fails_the_shell_too(ponk):
    ponk.home.mkdir()
    (ponk.home / "history").write_text("in the way")
    done = ponk.run("tracking", "env", code=69)
    assert done.stdout == b"false\n"
    assert b"ponk: error: " in done.stderr


def test_tokens_have_roles_and_an_end(ponk):
    listener = Address(variables(ponk)["MLFLOW_TRACKING_URI"])
    made = {role: ponk.json("token", "create", "--name", f"my-{role}", "--role", role)["token"]
            for role in ("read", "write", "promote", "administer")}
    assert listener.ask("GET", "/api/v1/runs", made["read"])[0] == 200
    assert listener.ask("DELETE", "/api/v1/runs/ffffffff", made["read"])[0] == 403
    assert listener.ask("DELETE", "/api/v1/runs/ffffffff", made["write"])[0] == 404
    assert listener.ask("GET", "/api/v1/tokens", made["promote"])[0] == 403
    alias = ("/api/2.0/mlflow/registered-models/alias", {"Content-Type": "application/json"},
             json.dumps({"name": "prod", "alias": "champion", "version": "1"}))
    status, text = listener.ask("POST", alias[0], made["write"], *alias[1:])
    assert status == 403 and "--role promote" in json.loads(text)["message"]
    assert listener.ask("POST", alias[0], made["promote"], *alias[1:])[0] == 404
    assert listener.ask("GET", "/api/v1/tokens", made["administer"])[0] == 200
    assert [row["name"] for row in ponk.json("token", "list")] == ["local", "my-read", "my-write", "my-promote", "my-administer"]
    ponk.run("token", "create", "--name", "my-read", code=73)
    ponk.run("token", "create", "--name", "a b", code=65)
    ponk.run("token", "create", code=64)
    ponk.run("token", "create", "--name", "x", "--role", "king", code=None)
    ponk.run("token", "remove", "my-read")
    ponk.run("token", "remove", "my-read", code=66)
    assert listener.ask("GET", "/api/v1/runs", made["read"])[0] == 401
    ponk.run("daemon", "stop")
    ponk.run("project", "list")
    assert listener.ask("GET", "/api/v1/runs", made["write"])[0] == 200


class Server:
    """`ponk serve` in the foreground."""

    def __init__(self, ponk, *words, port="0"):
        self.process = subprocess.Popen([ponk.program, "serve", "--port", port, *words], env=ponk.environment, cwd=ponk.project,
                                        stdout=subprocess.PIPE, stderr=subprocess.PIPE)
        self.said = []
        while not self.said or not self.said[-1].startswith("ponk: serves "):
            line = self.process.stderr.readline().decode()
            assert line, self.said
            self.said.append(line)
        self.uri = self.said[-1].split()[-1]

    def end(self):
        self.process.send_signal(signal.SIGINT)
        self.process.communicate(timeout=30)
        return self.process.returncode


def make_certificate(folder, name, kind="ec"):
    certificate, key = folder / "server.pem", folder / "server.key"
    curve = ["-pkeyopt", "ec_paramgen_curve:prime256v1"] if kind == "ec" else []
    subprocess.run(["openssl", "req", "-x509", "-newkey", kind, *curve, "-nodes", "-days", "2",
                    "-subj", f"/CN={name}", "-addext", "subjectAltName=IP:127.0.0.1", "-keyout", str(key), "-out", str(certificate)],
                   check=True, capture_output=True)
    return certificate, key


def trusting(certificate):
    return ssl.create_default_context(cafile=str(certificate))


def offering(certificate, suites):
    """Nothing but these, of TLS 1.2."""
    context = trusting(certificate)
    context.maximum_version = ssl.TLSVersion.TLSv1_2
    context.set_ciphers(suites + ":@SECLEVEL=0")
    return context


def test_a_serve_that_is_refused_leaves_the_daemon_alone(ponk):
    ponk.run("token", "list")
    before = ponk.json("daemon", "status")["pid"]
    (ponk.project / "no.pem").write_text("not a certificate")
    for words, reason in ((("--host", "0.0.0.0"), "without TLS"),
                          (("--tls-cert", "no.pem", "--tls-key", "no.pem"), "no.pem")):
        done = ponk.run("serve", "--port", "0", *words, code=None)
        assert done.returncode != 0 and reason in done.stderr.decode(), done.stderr
        assert ponk.json("daemon", "status")["pid"] == before


def test_serve_takes_the_place_of_the_daemon_and_gives_it_back(ponk):
    ponk.write("train.py", "print('hello')\n")
    ponk.run("submit", "train.py")
    before = ponk.json("daemon", "status")["pid"]
    server = Server(ponk, "--workers", "4")
    try:
        assert any("--workers" in line and "ignored" in line for line in server.said)
        status = ponk.json("daemon", "status")
        assert status["pid"] == server.process.pid != before
        assert status["serves"] == [server.uri]
        token = variables(ponk)["MLFLOW_TRACKING_TOKEN"]
        listener = Address(server.uri)
        assert len(json.loads(listener.ask("GET", "/api/v1/runs", token)[1])["runs"]) == 1
        assert listener.ask("GET", "/api/v1/runs")[0] == 401
        ponk.run("submit", "train.py")
        second = ponk.run("serve", "--port", "0", code=73).stderr.decode()
        assert server.uri in second and str(server.process.pid) in second and "daemon stop" in second
        assert listener.ask("GET", "/api/v1/runs", token)[0] == 200
    finally:
        assert server.end() == 0
    assert len(ponk.json("runs")) == 2


def test_tls_and_a_certificate_that_is_renewed(ponk):
    folder = pathlib.Path(ponk.project)
    certificate, key = make_certificate(folder, "first")
    server = Server(ponk, "--host", "127.0.0.1", "--tls-cert", certificate, "--tls-key", key)
    try:
        assert server.uri.startswith("https://")
        token = variables(ponk)["MLFLOW_TRACKING_TOKEN"]
        first = trusting(certificate)
        assert Address(server.uri, first).ask("GET", "/api/v1/runs", token)[0] == 200
        large = b"x" * (17 << 20)
        status, _ = Address(server.uri, first).ask("GET", "/health")
        assert status == 200
        with pytest.raises((ssl.SSLError, ConnectionError)):
            old = trusting(certificate)
            old.maximum_version = ssl.TLSVersion.TLSv1_1
            Address(server.uri, old).ask("GET", "/health")
        # Without forward secrecy, or with a cipher that needs a check of its own: not spoken.
        for suites in ("AES128-SHA", "AES256-GCM-SHA384", "ECDHE-ECDSA-AES128-SHA", "ECDHE-ECDSA-AES256-SHA384"):
            with pytest.raises((ssl.SSLError, ConnectionError)):
                Address(server.uri, offering(certificate, suites)).ask("GET", "/health")
        assert Address(server.uri, offering(certificate, "ECDHE-ECDSA-AES128-GCM-SHA256")).ask("GET", "/health")[0] == 200
        make_certificate(folder, "second", "rsa:2048")
        for suites in ("AES128-SHA", "AES128-GCM-SHA256", "ECDHE-RSA-AES128-SHA", "DHE-RSA-AES128-GCM-SHA256"):
            with pytest.raises((ssl.SSLError, ConnectionError)):
                Address(server.uri, offering(certificate, suites)).ask("GET", "/health")
        assert Address(server.uri, offering(certificate, "ECDHE-RSA-AES256-GCM-SHA384")).ask("GET", "/health")[0] == 200
        make_certificate(folder, "third")
        assert Address(server.uri, trusting(certificate)).ask("GET", "/health") == (200, b"OK")
        with pytest.raises(ssl.SSLError):
            Address(server.uri, first).ask("GET", "/health")
        key.write_text("nonsense")
        assert Address(server.uri, trusting(certificate)).ask("GET", "/health") == (200, b"OK")
        status, _ = Address(server.uri, trusting(certificate)).ask("POST", "/api/v1/runs/search", token, {}, large)
        assert status == 413
    finally:
        assert server.end() == 0


@pytest.mark.parametrize("words, code, said", [
    (["--host", "0.0.0.0"], 65, "without TLS"),
    (["--tls-cert", "none.pem", "--tls-key", "none.key"], 66, "none.pem"),
    (["--tls-cert", "none.pem"], 64, "belong together"),
    (["--port", "70000"], 64, "is not a port"),
    (["--host", "no.such.name.invalid"], 66, "no.such.name.invalid"),
])
def test_what_serve_refuses(ponk, words, code, said):
    port = [] if "--port" in words else ["--port", "0"]
    done = ponk.run("serve", *port, *words, code=code)
    assert said in done.stderr.decode().splitlines()[-1]
    assert ponk.json("project", "list") == []
    # Who is connected to the daemon finds one afterwards, too.
    ponk.run("serve", *port, *words, code=code)
    assert ponk.json("daemon", "status")["running"]


def test_a_large_body_from_a_slow_hand_costs_the_daemon_nothing(ponk):
    uri = variables(ponk)["MLFLOW_TRACKING_URI"]
    host, _, port = uri.split("//")[1].rpartition(":")
    with socket.create_connection((host, int(port))) as stranger:
        stranger.sendall(b"POST /api/v1/runs/search HTTP/1.1\r\nHost: localhost\r\nContent-Length: 99999999999\r\n\r\nxxx")
        assert stranger.recv(65536).startswith(b"HTTP/1.1 401")
    pid = ponk.json("daemon", "status")["pid"]
    assert pathlib.Path(f"/proc/{pid}").exists()
