# SPDX-License-Identifier: Apache-2.0
"""The modules that every run can import, under each Python that is here."""
import ast
import binascii
import glob
import json
import os
import shutil
import signal
import subprocess
import sys
import time

import pytest

SOURCE = os.path.abspath(os.path.join(os.path.dirname(__file__), "..", "..", "python"))
FILES = glob.glob(SOURCE + "/**/*.py", recursive=True)


def interpreters():
    """Each version once: the system's, the one on the path, old ones where installed."""
    found = {}
    candidates = ["/usr/bin/python3", shutil.which("python3"), sys.executable]
    candidates += [shutil.which("python3.%d" % minor) for minor in range(5, 15)]
    candidates += glob.glob(os.path.expanduser("~/.pyenv/versions/3.*/bin/python3"))
    for path in filter(None, candidates):
        asked = subprocess.run([path, "-c", "import sys; print('%d.%d' % sys.version_info[:2])"],
                               stdout=subprocess.PIPE, stderr=subprocess.DEVNULL)
        if asked.returncode == 0:
            found.setdefault(asked.stdout.decode().strip(), path)
    return sorted(found.items())


@pytest.fixture(params=interpreters(), ids=lambda item: item[0])
def python(request):
    return request.param[1]


class Run:
    def __init__(self, folder):
        self.folder = folder
        self.work = folder / "work"
        self.work.mkdir()
        (folder / "journal").mkdir()
        self.environment = {
            "PATH": "/usr/bin:/bin", "PYTHONPATH": SOURCE, "PONK_RUN_ID": "0" * 32,
            "PONK_RUN_DIRECTORY": str(folder), "PONK_OUTPUTS_DIRECTORY": str(self.work / "outputs"),
            "PYTHONDONTWRITEBYTECODE": "1"}

    def script(self, python, text, **extra):
        env = dict(self.environment)
        env.update(extra)
        return subprocess.run([python, "-c", text], env=env, cwd=str(self.work), timeout=60,
                              stdout=subprocess.PIPE, stderr=subprocess.PIPE)

    def records(self):
        out = []
        for path in sorted((self.folder / "journal").iterdir()):
            out += parse(path.read_bytes())
        return [record for record in out if "journal" not in record]


def parse(data):
    """An independent reader of the format."""
    out = []
    for piece in data.split(b"\x1e")[1:]:
        assert piece.endswith(b"\n") and piece[8:9] == b" "
        payload = piece[9:-1]
        assert int(piece[:8], 16) == binascii.crc32(payload)
        out.append(json.loads(payload.decode("ascii")))
    return out


@pytest.fixture
def run(tmp_path):
    return Run(tmp_path)


def without_time(records):
    for record in records:
        assert abs(record.pop("time") - time.time() * 1000) < 600000
    return records


@pytest.mark.parametrize("path", FILES, ids=lambda path: os.path.relpath(path, SOURCE))
def test_syntax_is_that_of_python_3_5(path):
    with open(path) as text:
        ast.parse(text.read(), path, feature_version=(3, 5))


def test_numbers_texts_lists_and_dictionaries(python, run):
    done = run.script(python, """if True:
        import ponk
        ponk.log("loss", 0.3, step=7)
        ponk.log("loss", 0.25)
        ponk.log("loss", 0.2)
        ponk.log({"a": 1, "b": True, "c": "word"}, step=2)
        ponk.log("series", [1, 2.5, float("nan"), float("inf"), -float("inf")])
        ponk.log("series", range(2))
        ponk.log("wide", 2**70)
        ponk.log_params({"lr": 0.1}, seed=3)
        ponk.set_tag("stage", "draft\\x1e\\n")
        assert ponk.run.id == "0" * 32
        """)
    assert (done.returncode, done.stdout, done.stderr) == (0, b"", b"")
    records = without_time(run.records())
    assert records[:3] == [{"metric": "loss", "value": 0.3, "step": 7},
                           {"metric": "loss", "value": 0.25, "step": 8},
                           {"metric": "loss", "value": 0.2, "step": 9}]
    assert sorted(records[3:6], key=str) == sorted([
        {"metric": "a", "value": 1, "step": 2}, {"metric": "b", "value": 1, "step": 2},
        {"metric": "c", "text": "word", "step": 2}], key=str)
    assert records[6:8] == [
        {"metric": "series", "values": [1, 2.5, "NaN", "Infinity", "-Infinity"], "step": 0},
        {"metric": "series", "values": [0, 1], "step": 5}]
    assert records[8] == {"metric": "wide", "value": 2.0 ** 70, "step": 0}
    assert {record["param"]: record["value"] for record in records[9:11]} == {"lr": "0.1", "seed": "3"}
    assert records[11] == {"tag": "stage", "value": "draft\x1e\n"}


def test_steps_go_on_behind_the_largest_one_given(python, run):
    done = run.script(python, """if True:
        import ponk
        ponk.log("m", 1, step=10)
        ponk.log("m", 2)
        ponk.log("m", 3, step=4)
        ponk.log("m", 4)
        ponk.log("m", [5, 6], step=20)
        ponk.log("n", 1, step=-7)
        ponk.log("n", 2)
        ponk.log("m", [7, 8])
        ponk.log("m", 9)
        """)
    assert (done.returncode, done.stderr) == (0, b"")
    steps = [(record["metric"], record["step"]) for record in run.records()]
    assert steps == [("m", 10), ("m", 11), ("m", 4), ("m", 12), ("m", 20), ("n", -7), ("n", 0), ("m", 22), ("m", 24)]


def test_text_does_not_make_a_series_of_numbers_a_text(python, run):
    done = run.script(python, """if True:
        import ponk
        ponk.log("m", 1)
        ponk.log("m", "word")
        ponk.log("m", 2)
        """)
    assert done.returncode == 0 and b"'m' has numbers, so the text 'word' is ignored" in done.stderr
    assert [(record["metric"], record["step"]) for record in run.records()] == [("m", 0), ("m", 1)]


def test_value_without_a_name_is_left_out_and_told_once(python, run):
    done = run.script(python, "import ponk; ponk.log('', 5); ponk.log(None, 5); ponk.log({'': 1, 'a': 2})")
    assert done.returncode == 0 and done.stderr.count(b"without a name") == 1
    assert [record["metric"] for record in run.records()] == ["a"]


def test_odd_names_steps_and_values_are_told(python, run):
    done = run.script(python, """if True:
        import ponk
        ponk.log("huge", -10**400)
        ponk.log("a", 1, step=2**63)
        ponk.log("a", [1], step=2**63)
        ponk.log("a", 2, step=1.5)
        ponk.log("a", None)
        ponk.log("n" * 251, 3)
        ponk.log_params({"p" * 300: "x"})
        """)
    said = done.stderr.decode().splitlines()
    assert done.returncode == 0 and len(said) == 4, said
    assert "the step of 'a' has more than 64 bits" in said[0] and "the step 1.5 of 'a' is not a whole number: 1 is used" in said[1]
    assert "the value of 'a' is None and is ignored" in said[2] and "truncated to 250 characters; names that are then equal count as one: 'nnn" in said[3]
    assert without_time(run.records()) == [
        {"metric": "huge", "value": "-Infinity", "step": 0}, {"metric": "a", "value": 2, "step": 1},
        {"metric": "n" * 251, "value": 3, "step": 0}, {"param": "p" * 300, "value": "x"}]


def test_long_lists_stay_below_the_limit_of_a_record(python, run):
    run.script(python, "import ponk; ponk.log('x', [0.123456789012345] * 30000)")
    records = run.records()
    assert [record["step"] for record in records] == list(range(0, 30000, 5000))
    assert sum(len(record["values"]) for record in records) == 30000


def test_outside_a_run_nothing_happens(python, tmp_path):
    done = subprocess.run([python, "-c", """if True:
        import ponk
        from azureml.logging import get_azureml_logger
        ponk.log("a", 1); ponk.log_image("i", [[0, 1]]); ponk.log_artifact("/etc/hostname")
        get_azureml_logger().log("a", 1).wait()
        get_azureml_logger().upload("a.txt", "b")
        assert not ponk.run and ponk.run.id is None"""],
        env={"PYTHONPATH": SOURCE}, cwd=str(tmp_path), stdout=subprocess.PIPE, stderr=subprocess.PIPE)
    assert (done.returncode, done.stdout, done.stderr) == (0, b"", b"")
    assert list(tmp_path.iterdir()) == []


def test_trouble_is_said_once_of_each_kind_and_training_goes_on(python, run):
    done = run.script(python, """if True:
        import ponk
        for i in range(100):
            ponk.log("a", i)
        class Odd:
            def __str__(self): raise ValueError("odd")
        ponk.log("b", Odd())
        print("trained")""", PONK_RUN_DIRECTORY="/proc/nowhere")
    assert done.returncode == 0 and done.stdout == b"trained\n"
    said = done.stderr.splitlines()
    assert len(said) == 2 and said[0].startswith(b"ponk: warning: log: "), said
    assert said[1] == b"ponk: warning: log: ValueError: odd (shown once)"


def test_a_full_disk_is_no_failure(python, run):
    done = run.script(python, """if True:
        import ponk, resource, signal
        signal.signal(signal.SIGXFSZ, signal.SIG_IGN)
        resource.setrlimit(resource.RLIMIT_FSIZE, (2000, 2000))
        for i in range(1000):
            ponk.log("a", i)
        print("trained")""")
    assert done.returncode == 0 and done.stdout == b"trained\n"
    assert done.stderr.count(b"\n") == 1


def test_threads_lose_nothing(python, run):
    run.script(python, """if True:
        import ponk, threading
        def work(k):
            for i in range(300):
                ponk.log("t%d" % k, i)
                ponk.log("shared", 1)
        threads = [threading.Thread(target=work, args=(k,)) for k in range(8)]
        [t.start() for t in threads]; [t.join() for t in threads]""")
    records = run.records()
    assert len(records) == 2 * 8 * 300
    for k in range(8):
        mine = [r for r in records if r["metric"] == "t%d" % k]
        assert [r["value"] for r in mine] == [r["step"] for r in mine] == list(range(300))
    assert sorted(r["step"] for r in records if r["metric"] == "shared") == list(range(2400))


def test_forks_have_their_own_journals(python, run):
    run.script(python, """if True:
        import os, ponk
        ponk.log("parent", 1)
        for k in range(3):
            if os.fork() == 0:
                for i in range(50): ponk.log("child%d" % k, i)
                os._exit(0)
        for i in range(50): ponk.log("parent", i)
        while True:
            try: os.wait()
            except OSError: break""")
    assert len(run.records()) == 1 + 50 + 150
    assert len(list((run.folder / "journal").iterdir())) == 4


def test_a_closed_descriptor_never_harms_another_file(python, run):
    run.script(python, """if True:
        import os, ponk
        ponk.log("a", 1)
        os.closerange(3, 100)
        mine = [os.open("mine%d" % i, os.O_WRONLY | os.O_CREAT) for i in range(10)]
        ponk.log("a", 2)
        ponk.log("a", 3)""")
    assert all(path.stat().st_size == 0 for path in run.work.glob("mine*"))
    assert sorted(record["value"] for record in run.records()) == [1, 2, 3]


def test_killed_at_any_moment_the_journal_is_whole(run):
    for turn in range(8):
        child = subprocess.Popen([sys.executable, "-c", """if True:
            import ponk
            print("x", flush=True)
            i = 0
            while True:
                ponk.log("k", i); i += 1"""], env=run.environment, stdout=subprocess.PIPE)
        child.stdout.readline()
        time.sleep(0.003 * turn)
        child.send_signal(signal.SIGKILL)
        child.wait()
        child.stdout.close()
    for path in (run.folder / "journal").iterdir():
        values = [r["value"] for r in parse(path.read_bytes()) if "metric" in r]
        assert values == list(range(len(values)))


def test_numpy_scalars_and_arrays(run):
    done = subprocess.run(["/usr/bin/python3", "-c", """if True:
        import numpy as np, ponk
        ponk.log("f", np.float32(0.5)); ponk.log("i", np.int64(3)); ponk.log("z", np.array(1.5))
        ponk.log("l", np.array([1, 2])); ponk.log("one", np.array([7]))
        ponk.log_image("im", np.zeros((4, 5, 3)))"""],
        env=run.environment, cwd=str(run.work), stderr=subprocess.PIPE)
    if b"No module named 'numpy'" in done.stderr:
        pytest.skip("no numpy")
    assert done.stderr == b""
    records = run.records()
    assert [r.get("value", r.get("values")) for r in records[:4]] == [0.5, 3, 1.5, [1, 2]]


def test_images_and_artifacts_lie_in_outputs(python, run):
    (run.work / "model.pkl").write_bytes(b"m")
    (run.work / "tree" / "sub").mkdir(parents=True)
    (run.work / "tree" / "sub" / "leaf").write_bytes(b"l")
    done = run.script(python, """if True:
        import ponk
        ponk.log_image("digits/a", [[0, 128], [255, 64]])
        ponk.log_image("digits/a", [[(0, 0.5, 1.0)]], step=9)
        ponk.log_image("../../evil", b"\\x89PNG")
        ponk.log_artifact("model.pkl")
        ponk.log_artifact("tree")
        ponk.log_artifact("model.pkl", "../../up")""")
    assert done.stderr == b""
    names = [record["artifact"] for record in run.records()]
    assert names == ["images/digits/a-0.png", "images/digits/a-9.png", "images/evil-0.png",
                     "model.pkl", "tree/sub/leaf", "up"]
    for name in names:
        assert (run.work / "outputs" / name).is_file()
    assert (run.work / "outputs" / names[0]).read_bytes().startswith(b"\x89PNG\r\n\x1a\n")


def test_another_file_of_the_same_name_is_told(python, run):
    done = run.script(python, """
import os, ponk
for folder in ("a", "b"):
    os.mkdir(folder)
    open(folder + "/model.pkl", "w").write(folder)
    ponk.log_artifact(folder + "/model.pkl")
ponk.log_artifact("b/model.pkl")
ponk.log_text("one", "x:y.txt")
ponk.log_text("two", "x:y.txt")
ponk.log_text("three", "x?y.txt")
""")
    told = done.stderr.decode()
    assert done.returncode == 0 and told.count("takes the place of") == 2, told
    assert "outputs/model.pkl: '%s/b/model.pkl' takes the place of" % os.path.realpath(str(run.work)) in told
    assert "outputs/x_y.txt: 'x?y.txt' takes the place of 'x:y.txt'; another name keeps both" in told
    assert (run.work / "outputs" / "model.pkl").read_text() == "b"


def test_what_is_no_picture_leaves_no_file(python, run):
    done = run.script(python, "import ponk; ponk.log_image('i', [])")
    assert done.returncode == 0 and b"log_image" in done.stderr
    assert [path for path in (run.work / "outputs").rglob("*") if path.is_file()] == []


def test_no_call_raises_whatever_it_is_given(python, run):
    done = run.script(python, """
import ponk
ponk.log_param(["a"], 1)
ponk.log_metric("loss", 1.5, step=1, synchronous=True)
ponk.log_metric(key="other", value=2.5, step=3)
ponk.log_param(key="depth", value=4)
ponk.set_tag(key="stage", value="draft")
ponk.log_metric(value=1)
ponk.log_metrics([1, 2])
ponk.log("pieces", [1, None, 3])
print("over")
""")
    told = done.stderr.decode()
    assert done.stdout == b"over\n", told
    assert "log_metrics: TypeError: it takes a dictionary of names and values, not list" in told
    assert "'pieces' is recorded as text: its value is neither a number nor a list of numbers: [1, None, 3]" in told
    assert "log_metric: TypeError: the name is missing" in told
    assert [record["value"] for record in run.records() if record.get("metric") == "loss"] == [1.5]
    assert [record["value"] for record in run.records() if record.get("metric") == "other"] == [2.5]
    assert {"depth": "4", "stage": "draft"} == {record.get("param", record.get("tag")): record["value"] for record in run.records()
                                                if record.get("param") == "depth" or record.get("tag") == "stage"}


def test_the_outputs_folder_is_never_copied_into_itself(python, run):
    (run.work / "outputs" / "sub").mkdir(parents=True)
    (run.work / "outputs" / "sub" / "leaf").write_bytes(b"l")
    (run.work / "train.py").write_bytes(b"t")
    done = run.script(python, """if True:
        import ponk
        ponk.log_artifact("outputs")
        ponk.log_artifact("outputs/sub")
        ponk.log_artifact(".", "all")
        ponk.log_artifacts(".", "again")""")
    assert done.stderr == b""
    assert [record["artifact"] for record in run.records()] == ["sub/leaf", "sub/leaf", "all/train.py", "again/train.py"]
    found = sorted(str(path.relative_to(run.work / "outputs")) for path in (run.work / "outputs").rglob("*") if path.is_file())
    assert found == ["again/train.py", "all/train.py", "sub/leaf"]


def test_parameters_that_change_or_are_too_long_are_said(python, run):
    done = run.script(python, """if True:
        import ponk
        ponk.log_params(lr=0.1, same=1)
        ponk.log_params({"lr": 0.2, "same": 1, "": "nobody"})
        ponk.log_param("long", "x" * 3000000)
        """)
    assert done.returncode == 0
    said = sorted(done.stderr.splitlines())
    assert [line.split(b": ", 2)[2] for line in said] == [
        b"log: a param without a name is ignored (shown once)",
        b"log: only the first 100000 characters of param 'long' are kept (shown once)",
        b"log: parameter 'lr' was '0.1' and is now '0.2' (shown once)"]
    values = {record["param"]: record["value"] for record in run.records()}
    assert values == {"lr": "0.2", "same": "1", "long": "x" * 100000}


def test_the_names_of_mlflow_and_files_made_of_values(python, run):
    (run.work / "models" / "deep").mkdir(parents=True)
    (run.work / "models" / "deep" / "m.bin").write_bytes(b"m")
    (run.work / "models" / "top.bin").write_bytes(b"t")
    done = run.script(python, """if True:
        import ponk
        class Figure:
            def savefig(self, path, **more):
                open(path, "w").write("drawn")
        ponk.log_metric("loss", 0.5, 3)
        ponk.log_metrics({"loss": 0.25}, step=4)
        ponk.log_list("series", (i * i for i in range(3)))
        ponk.log_table("t", {"x": [1, 2], "y": ["a", "b"]})
        ponk.log_table("rows", [{"x": 1}, {"x": 2}])
        ponk.log_param("lr", 0.1)
        ponk.set_tags({"stage": "draft"})
        ponk.log_artifacts("models")
        ponk.log_artifacts("models", "kept")
        ponk.log_text("na\\u00efve", "notes/verdict.txt")
        ponk.log_text(b"raw", "outputs/raw.txt")
        ponk.log_dict({"classes": ["a", "b"], "odd": Figure}, "../classes.json")
        ponk.log_figure(Figure(), "plots/loss.svg")
        ponk.log_figure(Figure(), "plain")
        ponk.log_figure(object(), "none")
        """)
    assert done.returncode == 0 and done.stderr.count(b"\n") == 1 and b"'object' is not a figure" in done.stderr
    records = without_time(run.records())
    assert records[:8] == [
        {"metric": "loss", "value": 0.5, "step": 3}, {"metric": "loss", "value": 0.25, "step": 4},
        {"metric": "series", "values": [0, 1, 4], "step": 0}, {"metric": "t.x", "values": [1, 2], "step": 0},
        {"metric": "t.y", "text": "['a', 'b']", "step": 0}, {"metric": "rows.x", "values": [1, 2], "step": 0},
        {"param": "lr", "value": "0.1"}, {"tag": "stage", "value": "draft"}]
    names = [record["artifact"] for record in records[8:]]
    assert names == ["top.bin", "deep/m.bin", "kept/top.bin", "kept/deep/m.bin", "notes/verdict.txt", "raw.txt",
                     "classes.json", "plots/loss.svg", "plain.png"]
    for name in names:
        assert (run.work / "outputs" / name).is_file()
    assert (run.work / "outputs/notes/verdict.txt").read_text(encoding="utf-8") == "na\u00efve"
    assert json.loads((run.work / "outputs/classes.json").read_text())["classes"] == ["a", "b"]


def test_a_script_knows_its_run(python, run):
    done = run.script(python, "import ponk; print(ponk.run, ponk.run.name, ponk.run.project, ponk.run.outputs)",
                      PONK_RUN_NAME="first", PONK_PROJECT_ID="p1")
    assert done.stdout.decode().split() == ["<ponk", "run", "0" * 32 + ">", "first", "p1", str(run.work / "outputs")]
    done = run.script(python, "import ponk; print(ponk.run.name)", PONK_RUN_NAME="")
    assert done.stdout == b"None\n"


def test_the_calls_of_2017(python, run):
    (run.work / "file.txt").write_text("f")
    done = run.script(python, """if True:
        from azureml.logging import get_azureml_logger
        run_logger = get_azureml_logger()
        assert run_logger is get_azureml_logger()
        run_logger.log("Accuracy", 0.93)
        run_logger.log("Script Name", "iris")
        run_logger.log("Loss", [0.9, 0.5]).wait()
        run_logger.log(name="Named", value=3)
        run_logger.upload("outputs/note.txt", "text").wait()
        run_logger.upload_file("renamed.txt", "file.txt")
        run_logger.upload_file("outputs/models/named.txt", "file.txt")""")
    assert done.stderr == b""
    records = without_time(run.records())
    assert records[:4] == [{"metric": "Accuracy", "value": 0.93, "step": 0},
                           {"metric": "Script Name", "text": "iris", "step": 0},
                           {"metric": "Loss", "values": [0.9, 0.5], "step": 0},
                           {"metric": "Named", "value": 3, "step": 0}]
    assert (run.work / "outputs/note.txt").read_text() == "text"
    assert (run.work / "outputs/renamed.txt").read_text() == "f"
    assert (run.work / "outputs/models/named.txt").read_text() == "f"


def test_the_calls_of_2018(python, run):
    done = run.script(python, """if True:
        from azureml.core import Run
        from azureml.core.run import Run as Same
        run = Run.get_context()
        assert Same is Run and run.id == "0" * 32
        run.log("a", 1); run.log_list("b", [1, 2]); run.tag("t", "v"); run.log_row("r", x=1)
        try:
            from azureml.core import Workspace
        except ImportError as problem:
            print(problem)
        from azureml.dataprep import package
        try:
            package.run("x.dprep", dataflow_idx=0)
        except Exception as problem:
            print(problem)""")
    assert done.stderr == b""
    assert b"Workspace" in done.stdout and b"no data preparation package 'x.dprep'" in done.stdout
    assert len(run.records()) == 4


def test_a_real_azureml_package_is_not_hidden(python, run):
    site = run.folder / "site"
    for package, text in [("azureml", ""), ("azureml/core", "REAL = True"),
                          ("azureml/logging", "raise RuntimeError('needs the old service')")]:
        (site / package).mkdir(parents=True, exist_ok=True)
        (site / package / "__init__.py").write_text(text)
    done = run.script(python, """if True:
        from azureml.core import REAL
        from azureml.logging import get_azureml_logger
        get_azureml_logger().log("a", 1)""", PYTHONPATH="%s:%s" % (SOURCE, site))
    assert done.stderr == b"" and len(run.records()) == 1


def test_half_a_character_is_shown_as_none(python, run):
    done = run.script(python, """if True:
        import ponk
        ponk.log_param("note", "half \\ud83d, a byte \\udcff, whole \\U0001f480")
        ponk.set_tag("k\\udfff", "v")""")
    assert done.stderr == b""
    records = without_time(run.records())
    assert records[0] == {"param": "note", "value": "half \ufffd, a byte \udcff, whole \U0001f480"}
    assert records[1] == {"tag": "k\ufffd", "value": "v"}


# A stand-in for the two modules that the provider looks at; the real ones are in tests/integration/mlflow.
FLUENT = """if True:
    import os, sys, types
    mlflow = types.ModuleType("mlflow")
    mlflow.get_tracking_uri = lambda: os.environ["MLFLOW_TRACKING_URI"]
    fluent = types.ModuleType("mlflow.tracking.fluent")
    %s
    sys.modules.update({"mlflow": mlflow, "mlflow.tracking.fluent": fluent})
    from ponk._mlflow import ExperimentHeaders
    provider = ExperimentHeaders()
    print(sorted(provider.request_headers().items()) if provider.in_context() else "nothing")
"""


@pytest.mark.parametrize("state, said", [
    ("fluent._active_experiment_id = None", [("X-Ponk-Experiment", "7")]),
    ("fluent._active_experiment_id = '123'", [("X-Ponk-Experiment", "123")]),
    ("fluent._active_experiment_id = None; os.environ['MLFLOW_EXPERIMENT_NAME'] = 'a/\xe9\\r\\nb'",
     [("X-Ponk-Experiment", "7"), ("X-Ponk-Experiment-Name", "a%2F%C3%A9%0D%0Ab")]),
    # a client that keeps it in another way, another server, no run
    ("pass", None),
    ("fluent._active_experiment_id = object()", None),
    ("fluent._active_experiment_id = '7\\r\\nX: y'", None),
    ("fluent._active_experiment_id = None; os.environ['MLFLOW_TRACKING_URI'] = 'sqlite:///x.db'", None),
    ("fluent._active_experiment_id = None; del os.environ['PONK_RUN_ID']", None),
])
def test_mlflows_client_says_in_which_experiment_it_is(python, run, state, said):
    done = run.script(python, FLUENT % state, MLFLOW_TRACKING_URI="http://127.0.0.1:1", MLFLOW_EXPERIMENT_ID="7",
                      PYTHONIOENCODING="utf-8", LC_ALL="C.UTF-8")
    assert done.stdout.decode().strip() == (str(said) if said else "nothing"), done.stderr
