# SPDX-License-Identifier: Apache-2.0
"""The files of a project through the daemon: for its owner, inside the folder, and no change lost."""
import hashlib
import os
import socket
import threading
from urllib.parse import quote

import pytest
from login import Page, ask


class Files:
    """A page of the owner that looks at the project."""

    def __init__(self, ponk):
        ponk.write("train.py", "print('trained')\n")
        ponk.run("submit", "train.py")
        self.ponk, self.page = ponk, Page(ponk)
        self.session = self.page.log_in(code=self.page.code()["code"])[1]["session"]
        self.id = self.page.ask("GET", "/api/v1/projects", self.session)[1]["projects"][0]["id"]

    def ask(self, method, what, path=None, body=None, session=None):
        query = "" if path is None else "?path=" + quote(path, safe="")
        return self.page.ask(method, f"/api/v1/projects/{self.id}/{what}{query}", session or self.session, body)

    def read(self, path):
        return self.ask("GET", "file", path)

    def put(self, path, text, before, **more):
        digest = None if before is None else hashlib.sha256(before.encode()).hexdigest()
        return self.ask("PUT", "file", path, {"text": text, "digest": digest, **more})


@pytest.fixture
def files(ponk):
    return Files(ponk)


def test_a_file_is_listed_read_written_and_run(files):
    names = {one["name"]: one for one in files.ask("GET", "files", "")[1]["entries"]}
    assert names["train.py"]["kind"] == "file" and names["train.py"]["size"] == 17
    assert files.read("train.py") == (200, b"print('trained')\n")
    os.chmod(files.ponk.project / "train.py", 0o750)
    status, stored = files.put("train.py", "print('again')\n", "print('trained')\n")
    assert status == 200 and stored["size"] == 15
    assert (files.ponk.project / "train.py").stat().st_mode & 0o777 == 0o750
    assert b"again" in files.ponk.run("submit", "train.py").stdout
    assert files.put("made é.txt", "x", None)[0] == 201
    assert (files.ponk.project / "made é.txt").read_text() == "x"


def test_line_ends_bytes_and_names_survive(files):
    folder = files.ponk.project
    (folder / "win.txt").write_bytes(b"one\r\ntwo\nthree\r\n")
    assert files.put("win.txt", "one\ntwo\nnew\nthree\n", "one\r\ntwo\nthree\r\n")[0] == 200
    assert (folder / "win.txt").read_bytes() == b"one\r\ntwo\nnew\r\nthree\r\n"
    odd = os.fsencode(folder) + b"/\xff.bin"
    with open(odd, "wb") as stream:
        stream.write(b"\xfe\x00")
    names = [one["name"] for one in files.ask("GET", "files", "")[1]["entries"]]
    assert "\udcff.bin" in names
    reply = files.page.ask("GET", f"/api/v1/projects/{files.id}/file?path=%FF.bin", files.session)
    assert reply == (200, b"\xfe\x00")


def test_a_change_on_disk_is_a_conflict_that_loses_nothing(files):
    (files.ponk.project / "train.py").write_text("print('from elsewhere')\n")
    status, refused = files.put("train.py", "print('mine')\n", "print('trained')\n")
    assert status == 409 and refused["error"]["kind"] == "conflict"
    assert (files.ponk.project / "train.py").read_text() == "print('from elsewhere')\n"
    assert files.put("train.py", "x", None)[0] == 409
    (files.ponk.project / "train.py").unlink()
    assert files.put("train.py", "x", "print('from elsewhere')\n")[0] == 409
    assert not (files.ponk.project / "train.py").exists()
    # An answer that was lost: the same request once more says what is there by now.
    assert files.put("train.py", "y", None)[0] == 201 and files.put("train.py", "y", None)[0] == 409


def test_of_many_writers_one_wins_each_time(files):
    before = "print('trained')\n"
    for turn in range(10):
        answers = []
        texts = [f"# turn {turn}, writer {number}\n" for number in range(5)]
        threads = [threading.Thread(target=lambda text=text: answers.append((files.put("train.py", text, before)[0], text))) for text in texts]
        for thread in threads:
            thread.start()
        for thread in threads:
            thread.join()
        won = [text for status, text in answers if status == 200]
        assert len(won) == 1 and sorted(status for status, _ in answers) == [200] + [409] * 4
        before = (files.ponk.project / "train.py").read_text()
        assert before == won[0]
    assert [name for name in os.listdir(files.ponk.project) if name.startswith(".tmp")] == []


def test_no_path_leads_out_and_nothing_but_files_is_opened(files):
    folder = files.ponk.project
    outside = folder.parent / "outside"
    outside.mkdir()
    (outside / "secret").write_text("s3cret")
    (folder / "sub").mkdir()
    (folder / "sub" / "a.py").write_text("a")
    (folder / "away").symlink_to(outside)
    (folder / "file-away").symlink_to(outside / "secret")
    (folder / "inner").symlink_to("sub")
    (folder / "loop").symlink_to("loop")
    os.mkfifo(folder / "pipe")
    with socket.socket(socket.AF_UNIX) as listener:
        listener.bind(str(folder / "sock"))
        if os.geteuid() == 0:
            os.mknod(folder / "null", 0o20666, os.makedev(1, 3))
        listed = {one["name"]: one for one in files.ask("GET", "files", "")[1]["entries"]}
        assert listed["away"]["kind"] == "link" and listed["away"]["link"] == str(outside) and listed["away"]["size"] is None
        assert listed["pipe"]["kind"] == listed["sock"]["kind"] == "other"
        paths = ["../outside/secret", "sub/../../outside/secret", "/etc/passwd", str(outside / "secret"), "away/secret", "file-away", "inner/a.py",
                 "loop", "pipe", "sock", "sub", "sub/", ".", "..", "a\0b", "sub\0/a.py", "", "x" * 300, "sub/" * 3000 + "a.py",
                 "/proc/self/environ", "sub/../../../../../../proc/self/environ"] + (["null"] if os.geteuid() == 0 else [])
        for path in paths:
            for reply in (files.read(path), files.put(path, "x", None), files.put(path, "x", "s3cret")):
                assert reply[0] in (400, 404, 409), (path, reply)
                assert b"s3cret" not in repr(reply[1]).encode() and "PATH=" not in repr(reply[1])
        for path in ("..", "away", "inner", "/", "sub/..", "pipe", "a\0b"):
            assert files.ask("GET", "files", path)[0] in (400, 404), path
    assert (outside / "secret").read_text() == "s3cret"
    assert sorted(os.listdir(outside)) == ["secret"]


def test_what_git_acts_on_and_what_is_protected_is_not_written(files):
    (files.ponk.project / ".git" / "hooks").mkdir(parents=True)
    for path in (".git/config", ".git/hooks/post-checkout", "sub/.git/config"):
        assert files.put(path, "x", None)[0] == 400
    assert os.listdir(files.ponk.project / ".git" / "hooks") == []
    (files.ponk.project / "kept.txt").write_text("a")
    os.chmod(files.ponk.project / "kept.txt", 0o444)
    status, refused = files.put("kept.txt", "b", "a")
    assert status == 503 and "write-protected" in refused["error"]["message"]
    long = "x" * (4 << 20)
    assert files.put("long.txt", long, None)[0] == 201
    assert files.put("longer.txt", long + "x", None)[0] == 400
    assert files.put("much.txt", long * 5, None)[0] == 413


def test_files_are_for_the_owner_alone(files):
    token = files.ponk.text("token", "create", "--name", "keeper", "--role", "administer", "-o", "table").strip()
    as_page = files.page.log_in(token=token)[1]["session"]
    for session in (token, as_page):
        for method, what, path, body in (("GET", "files", "", None), ("GET", "file", "train.py", None),
                                         ("PUT", "file", "a.py", {"text": "a", "digest": None}),
                                         ("POST", "check", None, {"path": "a.compute", "text": ""})):
            status, refused = files.ask(method, what, path, body, session=session)
            assert status == 403 and "ponk ui" in refused["error"]["hint"], (method, what)
    assert files.page.ask("PUT", f"/api/v1/projects/{files.id}/file?path=a.py", files.session, {"text": "a", "digest": None},
                          {"Origin": "http://evil.example"})[0] == 403
    assert not (files.ponk.project / "a.py").exists()


def test_a_download_has_an_address_of_its_own(files):
    import http.client
    path = f"api/v1/projects/{files.id}/file"
    status, made = files.page.ask("POST", "/api/v1/ui/addresses", files.session, {"path": path, "show": "download", "query": {"path": "train.py"}})
    assert status == 201
    reply, text = ask(http.client.HTTPConnection("127.0.0.1", files.page.port, timeout=30), "GET", "/" + made["address"])
    assert reply.status == 200 and text == b"print('trained')\n" and "train.py" in reply.headers["Content-Disposition"]
    changed = made["address"].replace("train.py", "other.py")
    assert ask(http.client.HTTPConnection("127.0.0.1", files.page.port, timeout=30), "GET", "/" + changed)[0].status == 401


def test_a_text_is_checked_where_it_would_be(files):
    (files.ponk.project / "aml_config").mkdir()
    text = "type: remotedocker\nadress: gpu1\n"
    checked = files.ask("POST", "check", None, {"path": "aml_config/gpu1.compute", "text": text})[1]
    (files.ponk.project / "aml_config" / "gpu1.compute").write_text(text)
    said = files.ponk.json("check", "aml_config/gpu1.compute", code=65)
    assert checked["kind"] == "compute"
    assert checked["remarks"] == said and 2 in [one["line"] for one in said]
    # A broken project is no hindrance, and nothing of it runs.
    os.mkfifo(files.ponk.project / "aml_config" / "pipe.compute")
    run = files.ask("POST", "check", None, {"path": "aml_config/a.runconfig", "text": "Framework: Python\nTarget: pipe\n"})
    assert run[0] == 200
    assert files.ask("POST", "check", None, {"path": "../a.compute", "text": ""})[0] == 400


def test_a_project_whose_folder_is_gone_says_so(files):
    os.rename(files.ponk.project, files.ponk.project.parent / "moved")
    status, refused = files.ask("GET", "files", "")
    assert status == 404 and "relink" in refused["error"]["hint"]
    os.rename(files.ponk.project.parent / "moved", files.ponk.project)


def test_projects_are_made_and_folders_added(files):
    parent = files.ponk.project.parent
    ask = lambda body: files.page.ask("POST", "/api/v1/projects", files.session, body)  # noqa: E731
    samples = files.page.ask("GET", "/api/v1/samples", files.session)[1]["samples"]
    assert any(one["folder"] == "mnist" for one in samples)
    status, made = ask({"name": "digits", "folder": str(parent), "sample": "mnist"})
    assert status == 201 and made["path"] == str(parent / "digits") and (parent / "digits" / "README.md").exists()
    status, blank = ask({"name": "blank", "folder": str(parent)})
    assert status == 201 and (parent / "blank" / "aml_config" / "local.compute").exists()
    (parent / "there").mkdir()
    status, added = ask({"path": str(parent / "there")})
    assert status == 201
    known = {one["id"]: one["path"] for one in files.page.ask("GET", "/api/v1/projects", files.session)[1]["projects"]}
    assert known[made["id"]] == made["path"] and known[added["id"]] == str(parent / "there") and blank["id"] in known
    targets = files.page.ask("GET", f"/api/v1/projects/{blank['id']}/targets", files.session)[1]
    assert [one["name"] for one in targets["targets"]] == ["local"] and targets["run_configurations"] == ["local"]
    # The same again is a conflict; what is wrong is said, and nothing is left behind.
    for body, wanted in (({"name": "digits", "folder": str(parent)}, 409), ({"name": "../up", "folder": str(parent)}, 400),
                         ({"name": "--from=x", "folder": str(parent)}, 400), ({"name": "x", "folder": "relative"}, 400), ({}, 400),
                         ({"name": "x", "folder": str(parent), "sample": "no such"}, 404), ({"path": str(parent / "none")}, 404),
                         ({"path": "relative"}, 400), ({"name": "x", "folder": str(parent), "from": "--upload-pack=touch pwned"}, 404)):
        status, refused = ask(body)
        assert status == wanted, (body, refused)
    assert not (parent / "x").exists() and not (parent.parent / "up").exists()
    # A copy with the id of another project would take its history.
    copy = parent / "copy"
    (copy / ".azureml").mkdir(parents=True)
    (copy / ".azureml" / "project.json").write_bytes((parent / "digits" / ".azureml" / "project.json").read_bytes())
    status, refused = ask({"path": str(copy)})
    assert status == 409 and "digits" in refused["error"]["message"]


def test_a_clone_runs_nothing(files):
    import subprocess
    parent = files.ponk.project.parent
    source = parent / "source"
    source.mkdir()
    git = lambda *words: subprocess.run(["git", "-C", source, "-c", "user.name=a", "-c", "user.email=a@b", *words], check=True, capture_output=True)  # noqa: E731
    git("init", "-q")
    (source / "train.py").write_text("print(1)\n")
    git("add", "train.py")
    git("commit", "-q", "-m", "first")
    status, made = files.page.ask("POST", "/api/v1/projects", files.session, {"name": "cloned", "folder": str(parent), "from": f"file://{source}"})
    assert status == 201, made
    assert (parent / "cloned" / "train.py").read_text() == "print(1)\n"
    status, refused = files.page.ask("POST", "/api/v1/projects", files.session, {"name": "evil", "folder": str(parent), "from": f"ext::sh -c 'touch {parent}/pwned'"})
    assert status >= 400 and not (parent / "pwned").exists() and not (parent / "evil").exists()
