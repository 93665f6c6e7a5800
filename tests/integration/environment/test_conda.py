# SPDX-License-Identifier: Apache-2.0
"""conda packages from a channel made here, linked by py-rattler from PyPI."""
import glob
import hashlib
import http.server
import json
import os
import stat
import threading

import pytest

from conftest import versions

FILE_2017 = "channels:\n  - %s\ndependencies:\n  - python=3.5.2\n  - ipykernel=4.6.1\n  - numpy\n"


@pytest.fixture
def conda_bench(bench, channel, pypi):
    bench.conda(FILE_2017 % channel)
    return bench


def test_a_file_of_2017_gets_its_pins_and_the_lock_repeats_them(conda_bench):
    answer = conda_bench.prepare()
    assert answer["record"]["builder"] == "rattler"
    assert versions(answer) == {"python": "3.5.2", "ipykernel": "4.6.1", "numpy": "1.13.3"}
    assert all(package["sha256"] and package["md5"] for package in answer["lock"]["packages"])
    assert "CONDA_PREFIX" in answer["variables"]
    # A program that knew its prefix only after linking.
    prefix = answer["record"]["prefix"]
    assert conda_bench.python(answer, "import subprocess; print(subprocess.check_output(%r).decode())" % (prefix + "/bin/where")) == prefix
    conda_bench.home += "-other"
    os.makedirs(conda_bench.home)
    os.symlink(os.path.realpath(conda_bench.home[:-6] + "/tools"), conda_bench.home + "/tools")
    repeated = conda_bench.prepare(lock=answer["lock"])
    assert repeated["record"]["lock_digest"] == answer["record"]["lock_digest"]


def test_pip_packages_go_on_top(conda_bench, channel):
    conda_bench.conda(FILE_2017 % channel + "  - pip:\n    - six==1.16.0\n")
    answer = conda_bench.prepare()
    assert versions(answer)["six"] == "1.16.0" and versions(answer)["pip"] == "9.0.1"
    assert conda_bench.python(answer, "import six, numpy, sys; print(numpy.__version__, sys.prefix)") == \
        "1.13.3 " + answer["record"]["prefix"]


def test_a_python_that_is_not_at_hand_comes_from_conda(conda_bench, channel):
    conda_bench.conda("channels: [\"%s\"]\ndependencies:\n  - python=3.6.2\n  - pip:\n    - six\n" % channel)
    answer = conda_bench.prepare()
    assert versions(answer)["python"] == "3.6.2" and "available: " in answer["record"]["choice"]


def test_a_conflict_is_explained(conda_bench, channel):
    conda_bench.conda("channels: [\"%s\"]\ndependencies:\n  - python=3.5.2\n  - needsfuture\n" % channel)
    answer = conda_bench.call()
    assert "needsfuture" in answer["error"] and "python >=4" in answer["error"] and "Relax" in answer["hint"]


def test_a_lock_whose_package_changed_is_refused(conda_bench):
    lock = conda_bench.prepare()["lock"]
    wrong = json.loads(json.dumps(lock))
    for package in wrong["packages"]:
        package["sha256"], package["md5"] = ["0" * 64], "0" * 32
    assert "error" in conda_bench.call(lock=wrong)


def stand_in(folder, name, body):
    path = os.path.join(folder, name)
    with open(path, "w") as stream:
        stream.write("#!/bin/sh\n" + body)
    os.chmod(path, os.stat(path).st_mode | stat.S_IXUSR)


def test_a_conda_tool_that_is_there_goes_first_and_sees_no_secret_in_its_arguments(bench, tmp_path):
    """No channel can be reached here, so the tool is a stand-in: what matters is how it is called."""
    tools = tmp_path / "bin"
    tools.mkdir()
    for name, call in (("micromamba", "create --yes --prefix P --file F"), ("conda", "env create --prefix P --file F")):
        for old in tools.iterdir():
            old.unlink()
        seen = tmp_path / (name + ".seen")
        stand_in(str(tools), name,
                 'echo "$@" > %s\nfor word in "$@"; do case $last in --prefix) prefix=$word;; --file) file=$word;; esac; last=$word; done\n'
                 'cat "$file" >> %s\n/usr/bin/python3 -m venv "$prefix" && mkdir "$prefix/conda-meta" && '
                 'echo \'{"name": "numpy", "version": "1.13.3", "build": "0", "url": "https://u:marker-x@h.example/numpy"}\' '
                 '> "$prefix/conda-meta/numpy.json"\n' % (seen, seen))
        bench.path = "%s:/usr/bin:/bin" % tools
        bench.conda("channels: [\"https://h.example/t/marker-%s/main\"]\ndependencies:\n  - python=3.5.2\n  - numpy\n" % name)
        bench.home = str(tmp_path / name)
        answer = bench.prepare()
        words, text = seen.read_text().split("\n", 1)
        assert answer["record"]["builder"] == name
        shape = words.split(" ")
        assert [shape[at] for at in range(len(shape)) if shape[at - 1] not in ("--prefix", "--file")] == \
            [word for word in call.split(" ") if word not in ("P", "F")]
        assert "marker" not in words and "marker" in text and "python=3.5.2" in text
        assert "marker" not in json.dumps(answer) and "marker" not in bench.progress
        with open(answer["record"]["prefix"] + "/conda-meta/numpy.json") as stream:
            assert "marker" not in stream.read()


def test_a_token_in_the_address_of_a_tool_is_in_no_command_line(bench, tmp_path):
    token = b"marker-0123456789"
    stand_in(str(tmp_path), "micromamba",
             'while [ "$1" != --prefix ]; do shift; done\n/usr/bin/python3 -m venv "$2" && mkdir "$2/conda-meta"\n')
    program = (tmp_path / "micromamba").read_bytes()
    seen = []

    class Handler(http.server.BaseHTTPRequestHandler):
        def do_GET(self):
            for place in glob.glob("/proc/[0-9]*/cmdline"):
                try:
                    with open(place, "rb") as stream:
                        seen.append(stream.read())
                except OSError:
                    pass
            self.send_response(200)
            self.end_headers()
            self.wfile.write(program)

        def log_message(self, *_):
            pass

    server = http.server.HTTPServer(("127.0.0.1", 0), Handler)
    threading.Thread(target=server.serve_forever, daemon=True).start()
    try:
        bench.home = str(tmp_path / "home-of-its-own")
        bench.conda("dependencies:\n  - numpy\n")
        bench.variables.update(no_proxy="*", PONK_CONDA="http://127.0.0.1:%d/micromamba?sig=%s#sha256=%s" % (
            server.server_port, token.decode(), hashlib.sha256(program).hexdigest()))
        answer = bench.prepare()
    finally:
        server.shutdown()
        server.server_close()
    assert answer["built"] and any(b"fetch_tool.py" in words for words in seen)
    assert not [words for words in seen if token in words]


def test_a_tool_named_by_its_address_is_fetched_once_and_only_with_its_checksum(bench, tmp_path):
    served = tmp_path / "micromamba"
    stand_in(str(tmp_path), "micromamba",
             'while [ "$1" != --prefix ]; do shift; done\n/usr/bin/python3 -m venv "$2" && mkdir "$2/conda-meta"\n')
    digest = hashlib.sha256(served.read_bytes()).hexdigest()
    bench.home = str(tmp_path / "home-of-its-own")
    bench.conda("dependencies:\n  - numpy\n")
    bench.variables["PONK_CONDA"] = "file://%s" % served
    assert "checksum" in bench.call()["error"]
    bench.variables["PONK_CONDA"] = "file://%s#sha256=%s" % (served, "0" * 64)
    assert "has the checksum" in bench.call()["error"]
    bench.variables["PONK_CONDA"] = "file://%s#sha256=%s" % (served, digest)
    assert bench.prepare()["built"]
    served.unlink()
    bench.conda("dependencies:\n  - scipy\n")
    assert bench.prepare()["built"]
