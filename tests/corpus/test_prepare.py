# SPDX-License-Identifier: Apache-2.0
"""Projects of 2017 with a container target: `ponk check` passes or says exactly why not, and `experiment prepare` works once the
base image, which is gone, is replaced by the tests' own. Packages that no index has any more are named before anything is built.

Every distinct list of packages is examined; a few are built, all with PONK_CORPUS_BUILD=1 (hours)."""
import concurrent.futures
import contextlib
import json
import os
import pathlib
import re
import shutil
import subprocess
import sys
import tempfile

import pytest

from shapes import EXPECTATIONS, texts

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parents[1] / "integration" / "docker"))
import engine as engines  # noqa: E402

LIMIT = 580
SETTINGS = ("PIP_", "UV_", "SSL_CERT_FILE", "REQUESTS_CA_BUNDLE", "HTTPS_PROXY", "HTTP_PROXY", "NO_PROXY")
# Only Python itself or small pure packages: what today's image can still install.
SMALL = {"python", "pip", "six", "requests", "ipykernel", "pyyaml", "nose", "tqdm", "flask"}


@contextlib.contextmanager
def private_home():
    folder = pathlib.Path(tempfile.mkdtemp(prefix="pc", dir="/tmp"))  # short: it holds a socket
    kept = {key: value for key, value in os.environ.items() if key.startswith(SETTINGS)}
    yield folder, kept | {"PONK_HOME": str(folder / "state"), "HOME": str(folder), "NO_COLOR": "1", "LANG": "C.UTF-8",
                          "PATH": "/usr/bin:/bin", "PONK_ENV_FREE_SPACE": "0", "PONK_BUILD_NETWORK": "host"}
    shutil.rmtree(folder, ignore_errors=True)


@pytest.fixture(scope="module")
def bench(ponk):
    """Calls of ponk with a home and, where one can be had, an engine of their own."""
    reason = engines.missing()
    if reason:
        pytest.skip(reason)
    with private_home() as (folder, environment):
        ours = engines.Engine(tempfile.mkdtemp(prefix="pd", dir="/tmp"))
        try:
            ours.start()
            ours.load_base()
            environment["DOCKER_HOST"] = f"unix://{ours.socket}"
            subprocess.run([str(ponk), "allow", "--any-project", "docker-argument", "--network=host"], env=environment, check=True,
                           capture_output=True, cwd=folder)
            yield folder, lambda project, *words: subprocess.run(
                [str(ponk), *words], cwd=project, env=environment, capture_output=True, timeout=LIMIT, stdin=subprocess.DEVNULL)
        finally:
            subprocess.run([str(ponk), "daemon", "stop"], env=environment, capture_output=True, timeout=60)
            ours.stop()
            ours.remove()


def text_of(corpus, name):
    kind, prefix = name.split("/")
    return next((corpus / kind).glob(f"{prefix}.*")).read_bytes()


def container_targets():
    return texts("compute", lambda _, entry: not entry["ok"] or entry["meaning"]["type"] in ("localdocker", "remotedocker"))


def container_configurations():
    return texts("runconfig", lambda _, entry: entry["file"] != "local.runconfig")


def distinct_conda(corpus):
    """Files that ask for different things, as the reader understands them."""
    seen = {}
    for name in texts("conda"):
        entry = EXPECTATIONS[name]
        lines = [line.partition("#")[0].strip() for line in text_of(corpus, name).decode(errors="replace").splitlines()]
        seen.setdefault("\n".join(filter(None, lines)) if entry["ok"] else name, name)
    return list(seen.values())


def test_check_passes_or_says_exactly_why_not(corpus, ponk, tmp_path, table):
    """Each target and each run configuration once, around each other's first."""
    conda = texts("conda")
    cases = []
    for number, compute in enumerate(container_targets()):
        cases.append((compute, container_configurations()[number % len(container_configurations())], conda[number % len(conda)]))
    for number, runconfig in enumerate(container_configurations()):
        cases.append((container_targets()[number % len(container_targets())], runconfig, conda[-1 - number % len(conda)]))
    complaints, passed = [], 0
    for number, (compute, runconfig, packages) in enumerate(cases):
        folder = tmp_path / str(number) / "aml_config"
        folder.mkdir(parents=True)
        (folder / "docker.compute").write_bytes(text_of(corpus, compute))
        (folder / "docker.runconfig").write_bytes(text_of(corpus, runconfig))
        (folder / "conda_dependencies.yml").write_bytes(text_of(corpus, packages))
        done = subprocess.run([str(ponk), "check", "-o", "json"], cwd=folder.parent, capture_output=True, timeout=60,
                              env={"HOME": str(tmp_path), "PATH": "/usr/bin:/bin"}, stdin=subprocess.DEVNULL)
        found = json.loads(done.stdout or "[]")
        found = found if isinstance(found, list) else found.get("diagnostics", [])
        errors = [one for one in found if one["severity"] == "error"]
        passed += not errors
        if bool(errors) != (done.returncode != 0):
            complaints.append(f"{compute} {runconfig} {packages}: exit code {done.returncode}, {len(errors)} errors")
        complaints += [f"{compute} {runconfig}: {one}" for one in errors if not one["file"] or not one["message"]]
    table.append(f"check of projects with a container target: {len(cases)}, {passed} pass, {len(cases) - passed} have exact errors")
    assert not complaints, "\n".join(complaints[:20])


def write_project(folder, conda):
    (folder / "aml_config").mkdir(parents=True)
    (folder / "aml_config/docker.compute").write_text(f"type: localdocker\nbaseDockerImage: {engines.IMAGE}\nbuildNetwork: host\n")
    (folder / "aml_config/docker.runconfig").write_text("Target: docker\nFramework: Python\nPrepareEnvironment: true\n")
    (folder / "aml_config/conda_dependencies.yml").write_bytes(conda)
    return folder


def test_every_list_of_packages_is_examined(corpus, bench, table):
    folder, call = bench

    def examine(name):
        project = write_project(folder / "examine" / name.replace("/", "-"), text_of(corpus, name))
        done = call(project, "experiment", "prepare", "-c", "docker", "--check", "-o", "json")
        return name, done.returncode, done.stdout, done.stderr.decode(errors="replace")

    names = distinct_conda(corpus)
    with concurrent.futures.ThreadPoolExecutor(2) as pool:
        results = list(pool.map(examine, names))
    complaints, builders = [], {}
    for name, code, out, said in results:
        if not EXPECTATIONS[name]["ok"]:
            if code == 0 or not re.search(r"conda_dependencies\.yml:\d+:\d+", said):
                complaints.append(f"{name}: a broken file gives {code}: {said[-300:]}")
            continue
        if code not in (0, 65, 66, 69) or "ponk: error:" not in said and code != 0:
            complaints.append(f"{name}: {code}: {said[-400:]}")
            continue
        if code in (0, 66) and out:
            builder = json.loads(out).get("builder") or "an error that names what is missing"
            builders[builder] = builders.get(builder, 0) + 1
    table.append(f"lists of packages examined: {len(results)}; builders {builders}")
    assert not complaints, "\n".join(complaints[:20])


def pip_names(corpus):
    """Names in pip's lists of all files that can be read."""
    names = set()
    for name in texts("conda", lambda _, entry: entry["ok"]):
        for line in re.findall(r"^\s*-\s*([A-Za-z][\w.-]*)", text_of(corpus, name).decode(errors="replace").partition("pip:")[2], re.M):
            names.add(line.lower().replace("_", "-").replace(".", "-"))
    return sorted(names - {"pip", "python", "http", "https", "git"})  # the last three begin addresses


def is_on_index(name):
    done = subprocess.run([sys.executable, "-m", "pip", "index", "versions", "--pre", name], capture_output=True, text=True,
                          timeout=120)
    if done.returncode == 0:
        return True
    return False if "No matching distribution" in done.stderr else None


def test_names_that_no_index_has_any_more_are_named(corpus, ponk, tmp_path, table):
    if is_on_index("six") is None:
        pytest.skip("PyPI cannot be asked")
    names = pip_names(corpus)
    with concurrent.futures.ThreadPoolExecutor(4) as pool:
        there = dict(zip(names, pool.map(is_on_index, names)))
    gone = [name for name, known in there.items() if known is False]
    project = write_project(tmp_path / "p", ("name: x\ndependencies:\n  - python\n  - pip:\n" +
                                             "".join(f"    - {name}\n" for name in gone)).encode())
    done = subprocess.run([str(ponk), "check"], cwd=project, capture_output=True, text=True, timeout=60,
                          env={"HOME": str(tmp_path), "PATH": "/usr/bin:/bin"})
    silent = [name for name in gone if f"'{name}" not in done.stdout + done.stderr]
    table.append(f"names in pip's lists: {len(names)}, gone from the index {len(gone)}, of which not told before a build: {silent}")
    assert not silent, silent


def test_some_are_built_and_all_on_request(corpus, bench, table):
    folder, call = bench
    everything = os.environ.get("PONK_CORPUS_BUILD") == "1"
    chosen = []
    for name in distinct_conda(corpus):
        entry = EXPECTATIONS[name]
        if not entry["ok"]:
            continue
        words = {line.lower() for line in re.findall(r"^\s*-\s*([A-Za-z][\w.-]*)", text_of(corpus, name).decode(errors="replace"), re.M)}
        small = words - {"conda-forge", "defaults", "anaconda"} <= SMALL and "ipykernel" not in words
        if everything or (small and len(chosen) < 2):
            chosen.append(name)
    if not chosen:
        pytest.skip("no list is small enough to be built by the way; PONK_CORPUS_BUILD=1 builds all")
    built, failed = [], {}
    for name in chosen:
        project = write_project(folder / "build" / name.replace("/", "-"), text_of(corpus, name))
        done = call(project, "experiment", "prepare", "-c", "docker", "--substitute", "-o", "json")
        said = done.stderr.decode(errors="replace")
        if done.returncode == 0:
            built.append(name)
            assert call(project, "experiment", "prepare", "-c", "docker", "--substitute", "--check").returncode == 0, name
        else:
            failed[name] = said.strip().splitlines()[-1][:200]
            assert "ponk: error:" in said, (name, said[-500:])
    table.append(f"environments built: {len(built)} of {len(chosen)}; {failed}")
    assert built or everything, failed
