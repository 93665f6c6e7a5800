# SPDX-License-Identifier: Apache-2.0
"""Files of runs, through MLflow's client and by hostile requests."""
import hashlib
import json
import os
import pathlib
import signal
import socket
import threading
import time

import pytest

PROXY = "/api/2.0/mlflow-artifacts/artifacts"
PROBES = ["../../etc/passwd", "%2e%2e/%2e%2e/x", "..%2f..%2fx", "0/..%252f..%252fx", "//etc/passwd", "%2Fetc/passwd",
          "..\\..\\x", "%5c%5cshare", "C:/x", "./../b", "a//b", "x%00y", "file:///etc/passwd", "x%23y", "x;y",
          "../../../../daemon.log", "%2e%2e/%2e%2e/%2e%2e/%2e%2e/run.key", "..;/..;/x", "....//....//x", "%c0%ae%c0%ae/x",
          "a/%2e%2e", "a/%0d%0aX:%20y", "%ff%fe"]


class Server:
    """Requests byte by byte on the daemon's own socket: nothing tidies them on the way."""

    def __init__(self, ponk):
        self.ponk = ponk
        ponk.run("project", "list")

    def connect(self):
        plug = socket.socket(socket.AF_UNIX)
        plug.settimeout(60)
        plug.connect(str(self.ponk.home / "daemon.sock"))
        return plug

    def raw(self, head, body=b""):
        with self.connect() as plug:
            plug.sendall(head + body)
            return self.answer(plug)

    @staticmethod
    def answer(plug):
        data = b""
        while b"\r\n\r\n" not in data:
            piece = plug.recv(65536)
            if not piece:
                return 0, {}, data
            data += piece
        head, _, body = data.partition(b"\r\n\r\n")
        lines = head.decode("latin-1").split("\r\n")
        headers = {name.lower(): value for name, _, value in (line.partition(": ") for line in lines[1:])}
        while piece := plug.recv(65536):
            body += piece
        return int(lines[0].split()[1]), headers, body

    def ask(self, method, target, body=b"", headers=()):
        lines = [f"{method} {target} HTTP/1.1", "Host: localhost", "Connection: close", *headers]
        if method != "GET" or body:
            lines.append(f"Content-Length: {len(body)}")
        return self.raw("\r\n".join(lines).encode() + b"\r\n\r\n", body)

    def json(self, method, path, fields):
        status, _, body = self.ask(method, "/api/2.0/mlflow/" + path, json.dumps(fields).encode(),
                                   ["Content-Type: application/json"])
        assert status == 200, body
        return json.loads(body)

    def new_run(self):
        info = self.json("POST", "runs/create", {"experiment_id": "0"})["run"]["info"]
        return info["run_id"], f"0/{info['run_id']}/artifacts"


@pytest.fixture
def server(ponk):
    return Server(ponk)


def tree(folder):
    return sorted(str(path.relative_to(folder)) for path in pathlib.Path(folder).rglob("*"))


def test_files_go_there_and_back(client, ponk, tmp_path):
    (tmp_path / "in/sub folder").mkdir(parents=True)
    (tmp_path / "in/a.txt").write_text("a")
    (tmp_path / "in/empty").write_bytes(b"")
    (tmp_path / "in/sub folder/žluť +&=.bin").write_bytes(bytes(range(256)) * 5000)
    answer = client(f"""
from mlflow.artifacts import download_artifacts
with mlflow.start_run() as run:
    mlflow.log_artifact("{tmp_path}/in/a.txt")
    mlflow.log_artifact("{tmp_path}/in/a.txt", artifact_path="deep/er")
    mlflow.log_artifacts("{tmp_path}/in", artifact_path="all")
    mlflow.log_text("text", "notes/text.md")
    mlflow.log_text("newer", "notes/text.md")
    mlflow.log_dict({{"k": [1, 2]}}, "conf.yaml")
    mlflow.log_dict({{"k": 1}}, "conf.json")
    mlflow.log_table({{"x": [1, 2]}}, "table.json")
id = run.info.run_id
def walk(path=None):
    for entry in client.list_artifacts(id, path):
        yield [entry.path, entry.is_dir, entry.file_size]
        if entry.is_dir:
            yield from walk(entry.path)
download_artifacts(run_id=id, dst_path="{tmp_path}/out")
download_artifacts(run_id=id, artifact_path="all/sub folder", dst_path="{tmp_path}/part")
one = download_artifacts(artifact_uri=f"runs:/{{id}}/notes/text.md", dst_path="{tmp_path}/one")
answer = {{"id": id, "all": list(walk()), "text": mlflow.artifacts.load_text(f"runs:/{{id}}/notes/text.md"),
           "dict": mlflow.artifacts.load_dict(f"runs:/{{id}}/conf.json"),
           "table": mlflow.load_table("table.json", run_ids=[id])["x"].tolist()}}
""")
    listed = {path: size for path, is_dir, size in answer["all"] if not is_dir}
    assert listed["all/sub folder/žluť +&=.bin"] == 256 * 5000 and listed["a.txt"] == 1 and listed["deep/er/a.txt"] == 1
    assert answer["text"] == "newer" and answer["dict"] == {"k": 1} and answer["table"] == [1, 2]
    assert (tmp_path / "out/all/sub folder/žluť +&=.bin").read_bytes() == bytes(range(256)) * 5000
    assert (tmp_path / "part/sub folder/žluť +&=.bin").stat().st_size == 256 * 5000
    assert (tmp_path / "out/all/empty").read_bytes() == b""
    # The same for ponk.
    ponk.run("history", "download", answer["id"], "-d", tmp_path / "own")
    files = [name for name in tree(tmp_path / "own") if (tmp_path / "own" / name).is_file()]
    assert files == sorted(listed)
    assert (tmp_path / "own/notes/text.md").read_text() == "newer"
    ponk.run("history", "delete", answer["id"], "--yes")
    assert not any((ponk.home / "artifacts" / "0").iterdir())


def test_pictures(client):
    answer = client("""
import importlib.util
names = []
with mlflow.start_run() as run:
    if importlib.util.find_spec("numpy") and importlib.util.find_spec("PIL"):
        import numpy
        mlflow.log_image(numpy.zeros((4, 4, 3), dtype=numpy.uint8), "black.png")
        mlflow.log_image(numpy.zeros((4, 4, 3), dtype=numpy.uint8), key="seen", step=3)
        names.append("black.png")
    if importlib.util.find_spec("matplotlib"):
        import matplotlib
        matplotlib.use("Agg")
        from matplotlib import pyplot
        figure, axes = pyplot.subplots()
        axes.plot([1, 2])
        mlflow.log_figure(figure, "curve.png")
        names.append("curve.png")
found = {entry.path: entry.file_size for entry in client.list_artifacts(run.info.run_id)}
answer = {"wanted": names, "found": found}
""")
    if not answer["wanted"]:
        pytest.skip("neither Pillow nor matplotlib is there")
    assert all(answer["found"][name] > 50 for name in answer["wanted"])


def test_what_a_run_of_ponk_wrote_is_there_too(client, ponk, tmp_path):
    ponk.write("train.py", "import os\nos.makedirs('outputs/plots')\nopen('outputs/model.bin', 'w').write('weights' * 3_000_000)\n"
                           "open('outputs/plots/a.txt', 'w').write('collected')\n")
    ponk.run("submit", "train.py")
    run = ponk.json("history", "list")[0]["run_id"]
    answer = client(f"""
names = lambda path=None: [[entry.path, entry.file_size] for entry in client.list_artifacts("{run}", path)]
before = names()
client.log_text("{run}", "by a client", "plots/a.txt")
client.log_text("{run}", "more", "notes.txt")
for name in ("outputs/plots/a.txt", "outputs/new.txt", "outputs"):
    try:
        client.log_text("{run}", "of somebody else", name)
        raise SystemExit(name)
    except Exception as problem:
        assert "has what the script of the run wrote" in str(problem), problem
place = mlflow.artifacts.download_artifacts(run_id="{run}", dst_path="{tmp_path}/all")
answer = [before, names(), names("plots"), mlflow.artifacts.load_text("runs:/{run}/plots/a.txt"),
          mlflow.artifacts.load_text("runs:/{run}/outputs/plots/a.txt")]
""")
    assert answer[0] == [["model.bin", 21_000_000], ["plots", None]]
    assert answer[1] == [["model.bin", 21_000_000], ["notes.txt", 4], ["plots", None]]
    assert answer[2] == [["plots/a.txt", 11]] and answer[3:] == ["by a client", "collected"]
    assert tree(tmp_path / "all") == ["model.bin", "notes.txt", "plots", "plots/a.txt"]
    assert (tmp_path / "all/model.bin").read_text() == "weights" * 3_000_000
    ponk.run("history", "download", run, "-d", tmp_path / "own")
    assert tree(tmp_path / "own") == ["driver_log", "notes.txt", "outputs", "outputs/model.bin", "outputs/plots", "outputs/plots/a.txt",
                                      "plots", "plots/a.txt"]
    assert (tmp_path / "own/outputs/plots/a.txt").read_text() == "collected"
    assert (tmp_path / "own/plots/a.txt").read_text() == "by a client"


def test_a_deleted_run_is_read_and_not_written(client):
    answer = client("""
with mlflow.start_run() as run:
    mlflow.log_text("x", "a.txt")
client.delete_run(run.info.run_id)
try:
    client.log_text(run.info.run_id, "y", "a.txt")
    refused = ""
except Exception as problem:
    refused = str(problem)
read = mlflow.artifacts.load_text(f"runs:/{run.info.run_id}/a.txt")
client.restore_run(run.info.run_id)
client.log_text(run.info.run_id, "z", "a.txt")
answer = [refused, read, mlflow.artifacts.load_text(f"runs:/{run.info.run_id}/a.txt")]
""")
    assert "must be in the 'active' state" in answer[0] and answer[1:] == ["x", "z"]


def test_a_model_is_logged_registered_and_loaded(client):
    assert client("""
class Twice(mlflow.pyfunc.PythonModel):
    def predict(self, context, model_input, params=None):
        return [2 * value for value in model_input]
with mlflow.start_run():
    info = mlflow.pyfunc.log_model(name="twice", python_model=Twice(), registered_model_name="twice", pip_requirements=[])
answer = [mlflow.pyfunc.load_model("models:/twice/1").predict([1, 2]), mlflow.pyfunc.load_model(info.model_uri).predict([3])]
""") == [[2, 4], [6]]


def test_every_spelling_of_a_way_out_is_refused(server, ponk):
    run, root = server.new_run()
    assert server.ask("PUT", f"{PROXY}/{root}/kept", b"kept")[0] == 200
    before = tree(ponk.home / "artifacts")
    for probe in PROBES:
        asks = [(method, f"{PROXY}/{place}{probe}") for method in ("GET", "HEAD", "PUT", "DELETE") for place in ("", f"{root}/")]
        asks += [("GET", f"{PROXY}?path={place}{probe}") for place in ("", f"{root}/")]
        asks += [("GET", f"/api/2.0/mlflow/artifacts/list?run_id={run}&path={probe}"),
                 ("GET", f"/get-artifact?run_id={run}&path={probe}"), ("GET", f"/get-artifact?path=x&run_id={probe}"),
                 ("POST", f"/ajax-api/2.0/mlflow/upload-artifact?run_uuid={run}&path={probe}")]
        for method, target in asks:
            status, _, body = server.ask(method, target, b"hostile" if method in ("PUT", "POST") else b"")
            assert status in (400, 404), (method, target, status, body)
            if method != "HEAD":
                assert "error_code" in json.loads(body), (target, body)
    assert tree(ponk.home / "artifacts") == before
    assert server.ask("GET", f"{PROXY}/{root}/kept")[2] == b"kept"


def test_links_in_the_store_lead_nowhere(server, ponk, tmp_path):
    _, root = server.new_run()
    server.ask("PUT", f"{PROXY}/{root}/a", b"x")
    folder = ponk.home / "artifacts" / root
    (tmp_path / "secret").write_text("secret")
    (folder / "way").symlink_to(tmp_path)
    (folder / "file").symlink_to(tmp_path / "secret")
    for target in ("way/secret", "file"):
        assert server.ask("GET", f"{PROXY}/{root}/{target}")[0] == 404
    assert server.ask("PUT", f"{PROXY}/{root}/way/new", b"x")[0] == 400
    assert json.loads(server.ask("GET", f"{PROXY}?path={root}")[2]) == {"files": [{"path": "a", "is_dir": False, "file_size": 1}]}
    assert server.ask("DELETE", f"{PROXY}/{root}/way")[0] == 200
    assert tree(tmp_path) == ["secret"]


def test_ranges_and_heads(server):
    _, root = server.new_run()
    target = f"{PROXY}/{root}/digits.txt"
    server.ask("PUT", target, b"0123456789")
    status, headers, body = server.ask("GET", target)
    assert (status, body, headers["content-length"], headers["accept-ranges"]) == (200, b"0123456789", "10", "bytes")
    assert headers["content-type"] == "text/plain" and headers["x-content-type-options"] == "nosniff"
    assert headers["content-disposition"] == 'attachment; filename="digits.txt"' and "sandbox" in headers["content-security-policy"]
    status, head, body = server.ask("HEAD", target)
    assert (status, body, head["content-length"], head["etag"]) == (200, b"", "10", headers["etag"])
    status, part, body = server.ask("GET", target, headers=["Range: bytes=-3"])
    assert (status, body, part["content-range"], part["content-length"]) == (206, b"789", "bytes 7-9/10", "3")
    assert server.ask("GET", target, headers=["Range: bytes=10-"])[0] == 416
    assert server.ask("GET", target, headers=["If-None-Match: " + headers["etag"]])[0] == 304


def test_an_empty_file_comes_in_chunks(server):
    _, root = server.new_run()
    head = f"PUT {PROXY}/{root}/%s HTTP/1.1\r\nHost: localhost\r\nConnection: close\r\nTransfer-Encoding: chunked\r\n\r\n"
    assert server.raw((head % "empty").encode(), b"0\r\n\r\n")[0] == 200
    assert server.raw((head % "some").encode(), b"3\r\nabc\r\n4;x=y\r\ndefg\r\n0\r\n\r\n")[0] == 200
    assert server.ask("GET", f"{PROXY}/{root}/empty")[2] == b""
    assert server.ask("GET", f"{PROXY}/{root}/some")[2] == b"abcdefg"


def test_a_cut_upload_leaves_nothing(server, ponk):
    _, root = server.new_run()
    server.ask("PUT", f"{PROXY}/{root}/file", b"old")
    for head in (f"Content-Length: {1 << 30}", "Transfer-Encoding: chunked"):
        with server.connect() as plug:
            plug.sendall(f"PUT {PROXY}/{root}/file HTTP/1.1\r\nHost: localhost\r\n{head}\r\n\r\n".encode())
            piece = b"x" * (1 << 20)
            plug.sendall(b"100000\r\n" + piece + b"\r\n" if "chunked" in head else piece)
    deadline = time.monotonic() + 20
    while tree(ponk.home / "artifacts/.incoming") and time.monotonic() < deadline:
        time.sleep(0.05)
    assert tree(ponk.home / "artifacts") == [".incoming", "0", *sorted([f"0/{root.split('/')[1]}", f"{root}", f"{root}/file"])]
    assert server.ask("GET", f"{PROXY}/{root}/file")[2] == b"old"


def test_a_daemon_that_is_killed_leaves_the_old_file(server, ponk):
    run, root = server.new_run()
    server.ask("PUT", f"{PROXY}/{root}/file", b"old")
    pid = ponk.json("daemon", "status")["pid"]
    with server.connect() as plug:
        plug.sendall(f"PUT {PROXY}/{root}/file HTTP/1.1\r\nHost: localhost\r\nContent-Length: {1 << 24}\r\n\r\n".encode() + b"x" * (1 << 23))
        os.kill(pid, signal.SIGKILL)
    (ponk.home / "artifacts/.incoming/0123456789abcdef").write_text("left between link and rename")
    ponk.run("project", "list")
    assert server.ask("GET", f"{PROXY}/{root}/file")[2] == b"old"
    assert tree(ponk.home / "artifacts/.incoming") == []


def test_of_many_writers_one_wins_whole(server):
    _, root = server.new_run()
    bodies = [bytes([65 + n]) * (500_000 + n) for n in range(6)]
    statuses = []
    threads = [threading.Thread(target=lambda body=body: statuses.append(server.ask("PUT", f"{PROXY}/{root}/deep/one", body)[0]))
               for body in bodies for _ in range(2)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert statuses == [200] * 12
    assert server.ask("GET", f"{PROXY}/{root}/deep/one")[2] in bodies


def test_a_large_file_needs_little_memory(server, ponk):
    """PONK_LARGE_ARTIFACT_MB=10240 for ten gigabytes."""
    _, root = server.new_run()
    pieces = int(os.environ.get("PONK_LARGE_ARTIFACT_MB", "400"))
    size = pieces << 20
    pid = ponk.json("daemon", "status")["pid"]

    def peak():
        status = pathlib.Path(f"/proc/{pid}/status").read_text()
        return int(status.split("VmHWM:")[1].split()[0]) << 10

    before = peak()
    filling = bytes((1 << 20) - 8)
    sent, got = hashlib.sha256(), hashlib.sha256()
    with server.connect() as plug:
        plug.sendall(f"PUT {PROXY}/{root}/large HTTP/1.1\r\nHost: localhost\r\nConnection: close\r\nContent-Length: {size}\r\n\r\n".encode())
        for number in range(pieces):
            piece = number.to_bytes(8, "big") + filling
            plug.sendall(piece)
            sent.update(piece)
        assert server.answer(plug)[0] == 200
    with server.connect() as plug:
        plug.sendall(f"GET {PROXY}/{root}/large HTTP/1.1\r\nHost: localhost\r\nConnection: close\r\n\r\n".encode())
        stream = plug.makefile("rb")
        while stream.readline().strip():
            pass
        while data := stream.read(1 << 20):
            got.update(data)
    assert got.digest() == sent.digest()
    last = (pieces - 1) << 20
    status, _, body = server.ask("GET", f"{PROXY}/{root}/large", headers=[f"Range: bytes={last}-{last + 7}"])
    assert (status, body) == (206, (pieces - 1).to_bytes(8, "big"))
    assert peak() - before < 64 << 20
