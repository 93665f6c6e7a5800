# SPDX-License-Identifier: Apache-2.0
"""The real client of MLflow, and a training that uses most of it.

The client lives in the Python that MLFLOW_PYTHON names, else in an environment below .cache/ that is made once with pip.
"""
import json
import os
import pathlib
import select
import shlex
import signal
import subprocess
import tempfile
import venv

import pytest

REPOSITORY = pathlib.Path(__file__).resolve().parents[2]


@pytest.fixture(scope="session")
def mlflow_python():
    """A Python that has the package mlflow."""
    named = os.environ.get("MLFLOW_PYTHON")
    if named:
        return named
    place = REPOSITORY / ".cache" / "mlflow"
    python = place / "bin" / "python"
    if not (place / "complete").exists():
        venv.create(place, with_pip=True, clear=True)
        done = subprocess.run([python, "-m", "pip", "install", "--quiet", "mlflow"], capture_output=True, text=True)
        if done.returncode != 0:
            pytest.skip(f"mlflow cannot be installed here: {done.stderr[-300:]}")
        (place / "complete").touch()
    return str(python)


def matplotlib_folder():
    """Where matplotlib notes the fonts of this machine, which takes it seconds in each new home."""
    place = REPOSITORY / ".cache" / "matplotlib"
    place.mkdir(parents=True, exist_ok=True)
    return place


class WarmPython:
    """Executes programs in copies of one process that has imported mlflow; each has its own environment, folder and output."""

    def __init__(self, python):
        self.python, self.server = python, None

    def run(self, environment, folder, code=None, script=None, words=(), seconds=300):
        """What `subprocess.run` gives for the same program."""
        if self.server is None:
            self.server = subprocess.Popen([self.python, REPOSITORY / "tests" / "support" / "mlflow_warm.py"], stdin=subprocess.PIPE,
                                           stdout=subprocess.PIPE, text=True, start_new_session=True, env={
                                               **{name: value for name, value in os.environ.items() if not name.startswith("MLFLOW")},
                                               "MLFLOW_DISABLE_TELEMETRY": "true", "GIT_PYTHON_REFRESH": "quiet"})
        with tempfile.TemporaryDirectory() as place:
            out, error = pathlib.Path(place) / "out", pathlib.Path(place) / "error"
            program = {"script": str(script), "words": [str(word) for word in words]} if script else {"code": code}
            self.server.stdin.write(json.dumps({**program, "environment": environment, "folder": str(folder), "stdout": str(out),
                                                "stderr": str(error)}) + "\n")
            self.server.stdin.flush()
            if not select.select([self.server.stdout], [], [], seconds)[0]:
                said = error.read_text(errors="replace")[-4000:] if error.exists() else ""
                self.end()
                raise TimeoutError(f"a program of mlflow did not end within {seconds} s: {said}")
            answer = json.loads(self.server.stdout.readline())
            return subprocess.CompletedProcess([self.python], answer["code"], out.read_text(errors="replace"), error.read_text(errors="replace"))

    def end(self):
        if self.server is not None:
            os.killpg(self.server.pid, signal.SIGKILL)
            self.server.communicate()
            self.server = None


@pytest.fixture(scope="session")
def warm_python(mlflow_python):
    warm = WarmPython(mlflow_python)
    yield warm
    warm.end()


@pytest.fixture
def client(ponk, warm_python):
    """Runs Python code with `mlflow` and `client` in it; what it assigns to `answer` comes back."""
    words = [line.removeprefix("export ") for line in ponk.text("tracking", "env").splitlines() if line.startswith("export ")]
    variables = dict(shlex.split(word)[0].split("=", 1) for word in words)

    def run(code, code_expected=0):
        program = ("import json, math, mlflow\n"
                   "from mlflow import MlflowClient\n"
                   "from mlflow.exceptions import MlflowException\n"
                   "client = MlflowClient()\n"
                   "answer = None\n" + code + "\nprint('\\nANSWER', json.dumps(answer))\n")
        done = warm_python.run({**ponk.environment, **variables, "MLFLOW_HTTP_REQUEST_MAX_RETRIES": "0",
                                "MLFLOW_DISABLE_TELEMETRY": "true", "GIT_PYTHON_REFRESH": "quiet"}, os.getcwd(), code=program)
        assert done.returncode == code_expected, done.stdout[-2000:] + done.stderr[-4000:]
        return json.loads(done.stdout.rsplit("\nANSWER ", 1)[1]) if code_expected == 0 else done.stderr

    return run


TRAINING = """
import os, mlflow, mlflow.sklearn, pandas
from sklearn.linear_model import LogisticRegression
from sklearn.datasets import load_iris
run_id = os.environ["MLFLOW_RUN_ID"]
client = mlflow.MlflowClient()
X, y = load_iris(return_X_y=True, as_frame=True)
mlflow.start_run()  # else autolog would end it, and the next call begin another
mlflow.sklearn.autolog(log_model_signatures=False)
model = LogisticRegression(max_iter=200).fit(X, y)
mlflow.sklearn.autolog(disable=True)
data = mlflow.data.from_pandas(X, name="iris")
mlflow.log_input(data, context="training")
requirements = ["scikit-learn"]
info = mlflow.sklearn.log_model(model, name="net", registered_model_name="Iris", pip_requirements=requirements)
mlflow.log_metric("checked", 0.5, step=3, model_id=info.model_id, dataset=data)
mlflow.set_logged_model_tags(info.model_id, {"a": "b"})
of_model = {m.key: m.value for m in mlflow.get_logged_model(info.model_id).metrics}
# What the run had before it made the model is the model's, too: its client logs it once more.
assert of_model["checked"] == 0.5 and "training_score" in of_model, of_model
assert mlflow.register_model(f"runs:/{run_id}/net", "Other").version == "1"
client.set_registered_model_alias("Iris", "best", "1")
assert (mlflow.sklearn.load_model("models:/Iris@best").predict(X) == model.predict(X)).all()
with mlflow.start_run(nested=True, run_name="inner") as inner:
    mlflow.log_metric("deep", 7)
    mlflow.log_text("from inside", "notes/a.txt")
found = mlflow.search_runs(filter_string="metrics.deep > 6", output_format="list")
assert [run.info.run_id for run in found] == [inner.info.run_id]
assert len(mlflow.search_logged_models(filter_string="metrics.checked > 0.4", output_format="list")) == 1
mlflow.log_table({"x": [1]}, artifact_file="table.json")
assert len(mlflow.load_table("table.json", run_ids=[run_id])) == 1
mlflow.log_dict({"k": 1}, "plots/d.json")

@mlflow.trace
def double(x):
    return 2 * x

double(21)
mlflow.flush_trace_async_logging()
trace = mlflow.get_trace(mlflow.get_last_active_trace_id())
assert trace.data.spans[0].outputs == 42
print("NAMES", run_id, info.model_id, inner.info.run_id, trace.info.trace_id)
"""


def needs_sklearn(mlflow_python):
    look = "import importlib.util, sys; sys.exit(importlib.util.find_spec('sklearn') is None)"
    if subprocess.run([mlflow_python, "-c", look], capture_output=True).returncode != 0:
        pytest.skip("scikit-learn is not installed beside mlflow")


def packages_of(mlflow_python):
    """Where such a Python has its packages."""
    return subprocess.run([mlflow_python, "-c", "import mlflow, os; print(os.path.dirname(os.path.dirname(mlflow.__file__)))"],
                          capture_output=True, text=True, check=True).stdout.strip()


def check_training(done, client):
    """What a run of TRAINING logged is there for a client outside; `done` is its finished `submit`."""
    run, model, inner, trace = next(line for line in done.stdout.decode().splitlines() if line.startswith("NAMES ")).split()[1:]
    answer = client(f"""
run = client.get_run("{run}")
model = client.get_logged_model("{model}")
loaded = mlflow.pyfunc.load_model("models:/Iris/1")
answer = {{
    "datasets": [[d.dataset.name, [t.value for t in d.tags]] for d in run.inputs.dataset_inputs],
    "outputs": model.model_id in [o.model_id for o in run.outputs.model_outputs], "models": len(run.outputs.model_outputs),
    "model": [model.name, str(model.status), model.source_run_id, model.tags["a"]],
    "model metrics": [[m.key, m.value, m.dataset_name] for m in model.metrics],
    "prediction": [int(p) for p in loaded.predict([[5.1, 3.5, 1.4, 0.2]])],
    "versions": [[v.name, int(v.version), v.run_id] for v in client.search_model_versions()],
    "alias": int(client.get_model_version_by_alias("Iris", "best").version),
    "inner": [client.get_run("{inner}").data.metrics["deep"], mlflow.artifacts.load_text("runs:/{inner}/notes/a.txt"),
              [f.path for f in client.list_artifacts("{inner}")]],
    "own file": mlflow.artifacts.load_dict("runs:/{run}/plots/d.json"),
    "trace": mlflow.get_trace("{trace}").data.spans[0].outputs,
}}
""")
    assert sorted(answer["datasets"]) == [["dataset", ["train"]], ["iris", ["training"]]] and answer["outputs"] and answer["models"] == 2
    assert answer["model"] == ["net", "READY", run, "b"]
    assert ["checked", 0.5, "iris"] in answer["model metrics"]
    assert "training_score" in [key for key, _, _ in answer["model metrics"]]
    assert answer["prediction"] == [0] and answer["alias"] == 1
    assert sorted(answer["versions"]) == [["Iris", 1, run], ["Other", 1, run]]
    assert answer["inner"] == [7.0, "from inside", ["notes"]]
    assert answer["own file"] == {"k": 1} and answer["trace"] == 42
