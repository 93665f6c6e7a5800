# SPDX-License-Identifier: Apache-2.0
"""`history export --html`: one file with everything in it, whatever the runs are called. tests/browser looks at it."""
import base64
import hashlib
import html.parser
import json
import os
import re
import resource
import struct

import pytest

HOSTILE = "</script><img src=x onerror=alert(1)><!-- \u2028 & \" ' é"
SCRIPT = """import sys, ponk
which = int(sys.argv[1])
ponk.log_params({"lr": 0.1 * which, "same": 4, "hostile": %r, "long": "x" * 5000})
for step in range(3000):
    ponk.log("loss", 9.5 if step == 1234 and which == 1 else 1 / (step + which), step=step)
""" % HOSTILE


class Reader(html.parser.HTMLParser):
    """Elements, and the blocks of data by their kind."""

    def __init__(self):
        super().__init__()
        self.names, self.blocks, self.scripts, self.styles, self.policy, self.inside = [], {}, [], [], "", None

    def handle_starttag(self, tag, attrs):
        attrs = dict(attrs)
        self.names.append(tag)
        if attrs.get("http-equiv") == "Content-Security-Policy":
            self.policy = attrs["content"]
        self.inside = {"script": ("data", attrs["data-ponk"]) if "data-ponk" in attrs else ("script", None), "style": ("style", None)}.get(tag)

    def handle_endtag(self, tag):
        self.inside = None

    def handle_data(self, text):
        if not self.inside:
            return
        kind, name = self.inside
        if kind == "data":
            self.blocks.setdefault(name, []).append(json.loads(text))
        else:
            (self.scripts if kind == "script" else self.styles).append(text)


def read(path):
    reader = Reader()
    reader.feed(path.read_text())
    reader.close()
    return reader


@pytest.fixture(scope="module")
def history(program, tmp_path_factory):
    from workbench import Ponk
    ours = Ponk(program, tmp_path_factory.mktemp("p"))
    ours.write("train.py", SCRIPT)
    for which, name in ((1, "first"), (2, HOSTILE)):
        ours.run("submit", "--name", name, "train.py", which)
    if b"without the page" in ours.run("history", "export", "--html", "probe.html", code=None).stderr:
        pytest.skip("this ponk was built without the page (build option PONK_PAGE)")
    yield ours
    ours.run("daemon", "stop", code=None)


def test_one_file_has_runs_and_curves_with_their_peaks(history, tmp_path):
    file = tmp_path / "report.html"
    told = history.run("history", "export", "--html", file).stderr.decode()
    assert "2 runs in the report" in told and "2 long texts or values are shortened" in told
    report = read(file)
    runs = [block["run"] for block in report.blocks["run"]]
    assert [run["name"] for run in runs] == [HOSTILE, "first"], "newest first"
    assert runs[0]["params"]["hostile"] == HOSTILE and runs[0]["params"]["long"] == "x" * 2000 + "…"
    assert runs[1]["status"] == "Completed" and runs[1]["exit_code"] == 0 and runs[1]["arguments"] == ["1"]
    assert str(history.project) not in file.read_text(), "where the project lies is not told"
    loss = next(block for block in report.blocks["curves"] if block["metric"] == "loss")
    body = base64.b64decode(loss["body"])
    head = json.loads(body[16:16 + struct.unpack_from("<I", body, 8)[0]])
    assert body[:4] == b"PNKC" and max(curve["max"] for curve in head["curves"]) == 9.5
    places = 16 + struct.unpack_from("<I", body, 8)[0]
    for curve in head["curves"]:
        values = struct.unpack_from("<%dd" % curve["rows"], body, places + curve["at"] + 8 * curve["rows"])
        assert curve["count"] == 3000 and max(values) == curve["max"]
    about = report.blocks["about"][0]
    assert about["left_out"] == {"runs": 0, "metrics": 0, "values": 2}


def test_nothing_but_its_own_script_runs_and_nothing_is_loaded(history, tmp_path):
    file = tmp_path / "report.html"
    history.run("history", "export", "--html", file)
    report = read(file)
    assert len(report.scripts) == len(report.styles) == 1 and "img" not in report.names
    directives = dict(part.strip().split(" ", 1) for part in report.policy.split(";"))
    assert directives["default-src"] == "'none'" and "connect-src" not in directives
    for text, directive in ((report.scripts[0], "script-src"), (report.styles[0], "style-src")):
        digest = base64.b64encode(hashlib.sha256(text.encode()).digest()).decode()
        assert directives[directive] == f"'sha256-{digest}'"
    assert not re.search(r"\s(?:src|href)=\"(?!data:)", file.read_text().split("<style>")[0])


def test_runs_are_chosen_as_for_other_exports(history, tmp_path):
    history.run("history", "export", "--html", tmp_path / "one.html", "1")
    assert [block["run"]["name"] for block in read(tmp_path / "one.html").blocks["run"]] == ["first"]
    history.run("history", "export", "--html", tmp_path / "few.html", "--filter", "params.lr = '0.2'")
    assert [block["run"]["run_number"] for block in read(tmp_path / "few.html").blocks["run"]] == [2]


def test_mistakes_are_told_and_leave_no_file(history, tmp_path):
    file = tmp_path / "report.html"
    for words, code, told in (
            (["--html", file, "nothing-like-this"], 66, "nothing-like-this"),
            (["--html", file, "--filter", "params.lr = '77'"], 66, "no run was found for the report"),
            (["--html", file, "--format", "csv"], 64, "do not give --format as well"),
            (["--html", file, "-d", "x"], 64, "do not give --destination as well"),
            (["--html", file, "1", "--filter", "params.lr = '77'"], 64, "--filter selects runs"),
            (["--html", tmp_path / "no" / "folder.html"], 66, "folder.html")):
        assert told in history.run("history", "export", *words, code=code).stderr.decode()
        assert list(tmp_path.iterdir()) == []
    file.write_text("mine")
    assert b"existing files are not overwritten" in history.run("history", "export", "--html", file, code=73).stderr
    assert file.read_text() == "mine"


def test_a_file_that_finds_no_room_is_told_and_not_left(history, tmp_path):
    import subprocess
    file = tmp_path / "report.html"

    def small():
        import signal
        signal.signal(signal.SIGXFSZ, signal.SIG_IGN)
        resource.setrlimit(resource.RLIMIT_FSIZE, (100_000, 100_000))

    done = subprocess.run([history.program, "history", "export", "--html", str(file)], cwd=history.project, env=history.environment,
                          capture_output=True, preexec_fn=small, timeout=120)
    assert done.returncode != 0 and b"report.html" in done.stderr and b"File too large" in done.stderr
    assert not file.exists()


def test_many_runs_and_metrics_are_bounded(program, tmp_path_factory, tmp_path):
    from workbench import Ponk
    ours = Ponk(program, tmp_path_factory.mktemp("p"))
    lines = tmp_path / "lines.jsonl"
    with open(lines, "w") as out:
        for number in range(1, 104):
            run = {"run_id": "%012x%020x" % (0x019000000000 + number, number), "run_number": number, "name": "", "status": "Completed", "exit_code": 0, "error": None,
                   "project": "%032x" % 7, "project_path": "/home/ann/many", "script_name": "a.py", "arguments": [], "target": "local", "target_type": "local",
                   "run_configuration": "local", "framework": "Python", "user": "ann", "host": "h", "created_utc": "2026-01-01T00:00:00.000Z",
                   "start_time_utc": "2026-01-01T00:%02d:%02d.000Z" % divmod(number, 60), "end_time_utc": "2026-01-01T01:00:00.000Z", "duration_ms": 1000, "tracked": True,
                   "params": {}, "tags": {}, "timings": {}, "gpu": None,
                   "times": {"created": 1767225600000 + number, "started": 1767225600000 + number * 1000, "ended": 1767229200000, "deleted": 0}, "origin": "engine"}
            metrics = {f"m{index:02}": {"latest": 1.0, "count": 1, "points": [[0, 1767225600000, 1.0]]} for index in range(70 if number == 103 else 1)}
            experiment = {"id": 7, "name": "many", "project": run["project"], "project_name": "many", "path": run["project_path"], "origin": "folder", "created": 1, "updated": 1}
            out.write(json.dumps({"run": run, "experiment": experiment, "metrics": metrics, "events": []}) + "\n")
    ours.run("history", "import", lines)
    file = tmp_path / "report.html"
    done = ours.run("history", "export", "--all-projects", "--html", file, code=None)
    if b"without the page" in done.stderr:
        pytest.skip("this ponk was built without the page (build option PONK_PAGE)")
    told = done.stderr.decode()
    assert done.returncode == 0 and "3 older runs are left out" in told and "10 metrics have no chart" in told
    blocks = read(file).blocks
    assert len(blocks["run"]) == 100 and blocks["run"][0]["run"]["run_number"] == 103
    assert blocks["about"][0]["left_out"] == {"runs": 3, "metrics": 10, "values": 0}
    assert len(blocks["curves"]) == 60 and os.path.getsize(file) < 2_000_000
    ours.run("daemon", "stop", code=None)
