# SPDX-License-Identifier: Apache-2.0
"""`experiment submit -c local train.py --epochs 3` works in every folder of 2017, or says exactly what is missing."""
import collections
import concurrent.futures
import contextlib
import json
import os
import pathlib
import shutil
import subprocess
import sys
import tempfile

import pytest

from shapes import EXPECTATIONS, Outcome, Shape, all_shapes, make_folder

COMMAND = ["experiment", "submit", "-c", "local", "train.py", "--epochs", "3"]
ARGUMENTS = ["--epochs", "3"]
AT_ONCE = 2
SPARK_RUNS = 2  # a Spark session takes many seconds to start, so with Spark installed only a few folders are run
LIMIT = 120


@pytest.fixture(scope="module")
def place():
    """A private home with a short path, for the socket inside it."""
    folder = pathlib.Path(tempfile.mkdtemp(prefix="pk", dir="/tmp"))
    (folder / "bin").mkdir()
    for name in ("python", "python3"):
        (folder / "bin" / name).symlink_to(os.path.realpath(sys.executable))
    yield folder
    shutil.rmtree(folder, ignore_errors=True)


@pytest.fixture(scope="module")
def environment(place, ponk):
    kept = {key: value for key, value in os.environ.items() if key in ("LANG", "LC_ALL", "JAVA_HOME", "SPARK_HOME")}
    values = kept | {"PONK_HOME": str(place / "state"), "HOME": str(place / "home"), "NO_COLOR": "1",
                     "PATH": f"{place}/bin:/usr/bin:/bin" + (f":{kept['SPARK_HOME']}/bin" if "SPARK_HOME" in kept else "")}
    (place / "home").mkdir()
    yield values
    subprocess.run([str(ponk), "daemon", "stop"], env=values, cwd=place, capture_output=True, timeout=30, check=False)


def spark_is_here(environment):
    if shutil.which("spark-submit", path=environment["PATH"]):
        return True
    return subprocess.run(["python", "-c", "import pyspark"], env=environment, capture_output=True, check=False).returncode == 0


def submit(ponk, folder, environment):
    return subprocess.run([str(ponk), *COMMAND], cwd=folder, env=environment, capture_output=True, timeout=LIMIT, check=False,
                          stdin=subprocess.DEVNULL)


def success_complaints(shape, folder, environment, done):
    if done.returncode != 0:
        return [f"ended with {done.returncode}: {done.stderr.decode(errors='replace').strip()[-400:]}"]
    try:
        seen = json.loads(done.stdout)
    except ValueError:
        return [f"standard output is not the script's own line alone: {done.stdout[:300]!r}"]
    found = []
    if seen["argv"] != ARGUMENTS:
        found.append(f"arguments arrived as {seen['argv']}")
    if pathlib.Path(seen["cwd"]) == folder.resolve():
        found.append("the run worked in the project folder, not in a copy of its own")
    for key, value in shape.environment.items():
        if key in seen["env"] and seen["env"][key] != value:
            found.append(f"{key} is {seen['env'][key]!r}, not {value!r}")
    share = seen["env"]["AZUREML_NATIVE_SHARE_DIRECTORY"] or ""
    base = (shape.share or "").replace("~", environment["HOME"], 1)
    if not share.endswith("/") or not share.startswith(base):
        found.append(f"AZUREML_NATIVE_SHARE_DIRECTORY is {share!r}; it must begin with {base!r} and end with a slash")
    return found


def failure_complaints(done, words):
    """A failure of ponk's own: a code, a last line that says so, and the thing by its name."""
    text = done.stderr.decode(errors="replace")
    last = text.strip().splitlines()[-1] if text.strip() else ""
    found = [] if done.returncode != 0 else ["ended with 0"]
    if not last.startswith("ponk: error: "):
        found.append(f"the last line on stderr is {last!r}")
    if not any(word in text for word in words):
        found.append(f"names none of {words}: {text[-400:]!r}")
    return found


def remove_share(done):
    """One text names /tmp/ itself as the base of the shared folder: nothing of ours may stay there."""
    with contextlib.suppress(ValueError, KeyError, TypeError, OSError):
        os.removedirs(json.loads(done.stdout)["env"]["AZUREML_NATIVE_SHARE_DIRECTORY"])


def interpreter_of(shape, corpus):
    kind, prefix = shape.files["aml_config/local.runconfig"].split("/")
    text = next((corpus / kind).glob(f"{prefix}.*")).read_text()
    return json.loads(text)["environment"]["python"]["interpreterPath"]


def complaints(shape, corpus, folder, environment, done, spark):
    right = success_complaints(shape, folder, environment, done)
    if shape.outcome is Outcome.RUNS or (shape.outcome is Outcome.PYSPARK and spark):
        return right
    if shape.outcome is Outcome.PYSPARK:
        return failure_complaints(done, ["spark-submit", "pyspark"])
    if shape.outcome is Outcome.INTERPRETER:
        return failure_complaints(done, [interpreter_of(shape, corpus)])
    words = {Outcome.ENVIRONMENT: ["environment", "conda"], Outcome.NO_LOCAL: ["local.runconfig", '"local"', "'local'"]}
    return right and failure_complaints(done, words[shape.outcome])


def chosen_shapes(spark):
    shapes = all_shapes()
    if spark:
        extra = [shape for shape in shapes if shape.outcome is Outcome.PYSPARK][SPARK_RUNS:]
        shapes = [shape for shape in shapes if shape not in extra]
    return shapes


def test_every_text_of_the_corpus_stands_in_a_folder():
    used = {name for shape in all_shapes() for name in shape.files.values()}
    unused = {name for name, entry in EXPECTATIONS.items() if entry["kind"] != "other"} - used
    assert not unused


def test_submit_works_in_every_folder_or_says_exactly_what_is_missing(ponk, corpus, place, environment, table):
    spark = spark_is_here(environment)
    shapes = chosen_shapes(spark)

    def attempt(numbered):
        number, shape = numbered
        folder = make_folder(shape, corpus, place / "projects" / str(number))
        if shape.share not in (None, "~/.azureml/share/"):  # asked about before anything is made there
            subprocess.run([ponk, "allow", "folder", shape.share], cwd=folder, env=environment, check=True, capture_output=True)
        done = submit(ponk, folder, environment)
        remove_share(done)
        return complaints(shape, corpus, folder, environment, done, spark)

    with concurrent.futures.ThreadPoolExecutor(AT_ONCE) as pool:
        results = list(zip(shapes, pool.map(attempt, enumerate(shapes))))
    count = collections.Counter((shape.outcome, not found) for shape, found in results)
    table.append(f"{'folders':>8}{'right':>7}  outcome (Spark is {'here' if spark else 'not here'})")
    table.extend(f"{count[outcome, True] + count[outcome, False]:>8}{count[outcome, True]:>7}  {outcome.value}"
                 for outcome in Outcome)
    wrong = [f"  {shape} ({shape.outcome.value}): {line}" for shape, found in results for line in found]
    assert not wrong, f"{len(wrong)} complaints:\n" + "\n".join(wrong)


def answer(code, stdout, stderr=b""):
    return subprocess.CompletedProcess([], code, stdout, stderr)


def test_a_wrong_outcome_is_noticed(tmp_path):
    """The judge itself: each of these answers is bad and must be called so."""
    line = {"argv": ARGUMENTS, "cwd": "/elsewhere", "env": {"EXAMPLE_ENV_VAR": "a", "AZUREML_NATIVE_SHARE_DIRECTORY": "/h/s/"}}
    shape = Shape("x", Outcome.RUNS, environment={"EXAMPLE_ENV_VAR": "a"}, share="~/s/")

    def judge(done, outcome=Outcome.RUNS):
        shape.outcome = outcome
        return complaints(shape, tmp_path, tmp_path, {"HOME": "/h"}, done, spark=False)

    def log(**changes):
        return json.dumps(line | changes).encode()

    assert not judge(answer(0, log()))
    assert judge(answer(1, log()))
    assert judge(answer(0, b"ponk says hello\n" + log()))
    assert judge(answer(0, log(argv=[])))
    assert judge(answer(0, log(cwd=str(tmp_path))))
    assert judge(answer(0, log(env=line["env"] | {"EXAMPLE_ENV_VAR": "b"})))
    assert judge(answer(0, log(env=line["env"] | {"AZUREML_NATIVE_SHARE_DIRECTORY": "/h/s"})))
    assert not judge(answer(1, b"", b"ponk: error: no spark-submit and no pyspark"), Outcome.PYSPARK)
    assert judge(answer(1, b"", b"ponk: error: it failed"), Outcome.PYSPARK)
    assert judge(answer(1, b"", b"no spark-submit"), Outcome.PYSPARK)
    assert judge(answer(0, log()), Outcome.PYSPARK)
    assert not judge(answer(0, log()), Outcome.NO_LOCAL)
    assert judge(answer(1, b"", b"ponk: error: it failed"), Outcome.NO_LOCAL)
