# SPDX-License-Identifier: Apache-2.0
"""Images made by a real engine of our own."""
import http.server
import json
import os
import subprocess
import tarfile
import threading

import pytest

from conftest import BASE, versions
from wheels import write_wheel

MARKER = "marker-5f1c9a"


@pytest.fixture
def images(bench, engine):
    """Offline: wheels lie in a folder, steps have no network."""
    wheels = os.path.join(bench.root, "wheels")
    os.makedirs(wheels)
    for version in ("1.0", "2.0"):
        write_wheel(wheels, "tinytool", version)
    bench.variables.update(PIP_NO_INDEX="1", PIP_FIND_LINKS=wheels, PONK_BUILD_NETWORK="none")
    bench.request = {"socket": engine.socket, "base": BASE, "target": "docker"}
    return bench


def run(engine, answer, *words):
    return engine.docker("run", "--rm", "--network", "none", answer["record"]["image"], *words)


def everything_in(engine, image, folder):
    """All bytes of the image: layers and configuration."""
    path = os.path.join(folder, "image.tar")
    subprocess.run(engine.words("save", "-o", path, image), check=True)
    with tarfile.open(path) as outer:
        for member in outer:
            if not member.isfile():
                continue
            yield outer.extractfile(member).read()


def test_the_images_own_python_serves_offline_and_is_found_again(images, engine):
    images.pip("tinytool==1.0")
    answer = images.prepare(**images.request)
    record = answer["record"]
    assert answer["built"] and record["builder"] == "venv in the image"
    assert record["image"].startswith("sha256:") and versions(answer) == {"tinytool": "1.0"}
    assert run(engine, answer, record["interpreter"], "-c", "import tinytool; print(tinytool.__version__)") == "1.0"
    assert not images.prepare(**images.request)["built"]
    # Another home, the same engine: the image is known by its label, its list is inside.
    images.home += "-other"
    os.makedirs(images.home)
    assert images.call(action="check", **images.request)["ready"]
    adopted = images.prepare(**images.request)
    assert not adopted["built"] and adopted["record"]["lock_digest"] == record["lock_digest"]
    # Removed behind our back.
    engine.docker("rmi", "ponk-env:" + record["key"])
    again = images.prepare(**images.request)
    assert again["built"] and again["reason"] == "built because its image was removed from the engine"


def test_remove_takes_the_image_along_but_not_while_a_container_has_it(images, engine):
    images.pip("tinytool==2.0")
    record = images.prepare(**images.request)["record"]
    container = engine.docker("create", "--network", "none", record["image"], "true")
    refused = images.call(action="remove", name=record["key"], socket=engine.socket)
    assert refused["kind"] == "conflict"
    engine.docker("rm", container)
    images.call(action="remove", name=record["key"], socket=engine.socket)
    assert engine.docker("images", "-q", "ponk-env:" + record["key"]) == ""
    assert images.call(action="list") == []


def test_a_user_of_the_base_stays_and_the_environment_is_for_everyone(images, engine):
    engine.variant("ponk-test-user:1", "useradd -m somebody", ["USER somebody"])
    images.pip("tinytool==1.0")
    answer = images.prepare(**dict(images.request, base="ponk-test-user:1"))
    assert run(engine, answer, "sh", "-c", "id -un; python -c 'import tinytool, sys; print(sys.prefix)'") == "somebody\n/opt/ponk/env"


class Index(http.server.BaseHTTPRequestHandler):
    """A package index that wants a login."""
    wheel = b""
    seen = []

    def do_GET(self):
        self.seen.append(self.headers.get("Authorization", ""))
        if not self.seen[-1]:
            self.send_response(401)
            self.send_header("WWW-Authenticate", "Basic realm=index")
            self.end_headers()
            return
        name = "privatetool-1.0-py3-none-any.whl"
        body = self.wheel if self.path.split("?")[0].endswith(".whl") else (
            "<html><body><a href='/files/%s?sig=%s-signature'>%s</a></body></html>" % (name, MARKER, name)).encode()
        self.send_response(200)
        self.send_header("Content-Type", "text/html")
        self.send_header("Content-Length", str(len(body)))
        self.end_headers()
        self.wfile.write(body)

    def log_message(self, *_):
        pass


@pytest.fixture
def index(tmp_path):
    with open(write_wheel(str(tmp_path), "privatetool", "1.0"), "rb") as stream:
        Index.wheel = stream.read()
    server = http.server.ThreadingHTTPServer(("127.0.0.1", 0), Index)
    threading.Thread(target=server.serve_forever, daemon=True).start()
    yield server.server_address[1]
    server.shutdown()


def test_settings_reach_the_build_and_nothing_of_them_stays(images, engine, index, tmp_path):
    bundle = tmp_path / "bundle.pem"
    bundle.write_text("%s-certificate\n" % MARKER)
    images.variables.pop("PIP_NO_INDEX")
    images.variables.update(
        PIP_INDEX_URL="http://ann:%s-login@127.0.0.1:%d/simple" % (MARKER, index), PIP_TRUSTED_HOST="127.0.0.1",
        PIP_CLIENT_CERT=str(bundle), no_proxy="127.0.0.1", HTTPS_PROXY="http://u:%s-proxy@127.0.0.1:9" % MARKER,
        PONK_BUILD_NETWORK="host")
    images.variables.pop("PIP_FIND_LINKS")
    del images.variables["PIP_CLIENT_CERT"]
    images.variables["REQUESTS_CA_BUNDLE"] = str(bundle)
    images.variables["PIP_CERT"] = "/etc/ssl/certs/ca-certificates.crt"
    images.pip("privatetool", "http://ann:%s-direct@127.0.0.1:%d/files/privatetool-1.0-py3-none-any.whl?sig=%s-query"
               % (MARKER, index, MARKER))
    answer = images.prepare(**images.request)
    assert versions(answer) == {"privatetool": "1.0"}
    assert any(Index.seen)
    assert MARKER not in json.dumps(answer) and MARKER not in images.progress
    assert MARKER not in engine.docker("history", "--no-trunc", answer["record"]["image"])
    assert MARKER not in engine.docker("inspect", answer["record"]["image"])
    for data in everything_in(engine, answer["record"]["image"], str(tmp_path)):
        assert MARKER.encode() not in data


def test_a_failing_step_names_the_package_and_the_next_step(images):
    images.pip("no-such-package-of-ours")
    answer = images.call(**images.request)
    assert "No matching distribution found for no-such-package-of-ours" in answer["error"]
    assert "name and version" in answer["hint"]


def test_cancelling_a_build_leaves_no_image(images, engine):
    images.variables.update(PONK_BUILD_NETWORK="host")
    images.variables.pop("PIP_NO_INDEX")
    images.pip("--index-url http://10.255.255.1/simple", "--retries 100", "tinytool-that-hangs")
    process = images.start(**images.request)
    for line in process.stderr:
        if "RUN" in line:
            break
    process.terminate()
    assert images.finish(process, 60)["kind"] == "cancelled"
    assert engine.docker("ps", "-aq", "--filter", "label=ponk.probe") == ""


def test_an_image_without_python_or_conda_gets_a_prefix_that_was_linked_outside(images, engine, channel, pypi):
    engine.variant("ponk-test-bare:1", "rm -f /usr/bin/python* /usr/bin/pip* /usr/local/bin/pip*")
    request = dict(images.request, base="ponk-test-bare:1")
    images.variables.pop("PIP_NO_INDEX")  # py-rattler comes from PyPI
    text = "channels: [\"%s\"]\ndependencies:\n  - python=3.5.2\n  - numpy\n  - pip:\n    - --no-index\n    - tinytool==%s\n"
    images.conda(text % (channel, "1.0"))
    answer = images.prepare(**request)
    assert answer["record"]["builder"] == "rattler" and versions(answer)["python"] == "3.5.2"
    assert run(engine, answer, "/opt/ponk/env/bin/where") == "/opt/ponk/env"
    assert run(engine, answer, "python", "-c", "import numpy, tinytool; print(numpy.__version__, tinytool.__version__)") == "1.13.3 1.0"
    images.conda(text % (channel, "2.0"))
    changed = images.prepare(**request)
    assert changed["built"] and "COPY prefix /opt/ponk/env (cached)" in images.progress


def test_an_image_without_a_shell_works_too(images, engine, channel, pypi):
    engine.variant("ponk-test-shellless:1", "rm -f /usr/bin/python* && rm -f /bin/sh /bin/dash /bin/bash")
    images.variables.pop("PIP_NO_INDEX")
    images.conda("channels: [\"%s\"]\ndependencies:\n  - python=3.6.2\n  - numpy\n" % channel)
    answer = images.prepare(**dict(images.request, base="ponk-test-shellless:1"))
    assert run(engine, answer, "python", "-c", "import numpy; print(numpy.__version__)") == "1.13.3"


STAND_IN_CONDA = r"""
mkdir -p /home/user/anaconda3/bin
cat > /home/user/anaconda3/bin/conda <<'END'
#!/bin/sh
for word in "$@"; do case $last in --prefix) prefix=$word;; --file) file=$word;; esac; last=$word; done
echo "conda makes $prefix"
/usr/bin/python3 -m venv "$prefix" && mkdir "$prefix/conda-meta" && mkdir -p "$CONDA_PKGS_DIRS"
grep numpy "$file" && echo '{"name": "numpy", "version": "1.13.3", "build": "0", "url": "https://h.example/t/MARKER/numpy"}' > "$prefix/conda-meta/numpy.json"
cp "$file" "$CONDA_PKGS_DIRS/"
END
chmod 755 /home/user/anaconda3/bin/conda
""".replace("MARKER", MARKER)


def test_an_image_that_carries_its_own_conda_uses_it_and_a_changed_pip_list_leaves_that_layer(images, engine, tmp_path):
    """A stand-in: no channel of the real one can be reached here."""
    engine.variant("ponk-test-conda:1", STAND_IN_CONDA)
    request = dict(images.request, base="ponk-test-conda:1")
    text = "channels: [\"https://h.example/t/%s/main\"]\ndependencies:\n  - numpy\n  - pip:\n    - tinytool==%s\n"
    images.conda(text % (MARKER, "1.0"))
    answer = images.prepare(**request)
    assert answer["record"]["builder"] == "conda in the image" and "anaconda3" in answer["record"]["choice"]
    assert versions(answer) == {"numpy": "1.13.3", "tinytool": "1.0"}
    assert MARKER not in json.dumps(answer)
    # The stand-in itself, in the base, holds the marker: so look at our own layers.
    assert "yes" == run(engine, answer, "sh", "-c", "grep -rlq %s /opt/ponk || echo yes" % MARKER)
    images.conda(text % (MARKER, "2.0"))
    changed = images.prepare(**request)
    assert changed["reason"] == "built because the pip list changed: added 'tinytool==2.0', removed 'tinytool==1.0'"
    cached = [line for line in images.progress.splitlines() if "create.sh" in line]
    assert cached and all("(cached)" in line for line in cached)


def test_pypi_is_reached_behind_a_private_certificate_authority(bench, engine, pypi):
    """With the certificate bundle and the network of this machine."""
    bench.variables["PONK_BUILD_NETWORK"] = "host"
    bench.pip("six==1.16.0")
    answer = bench.prepare(socket=engine.socket, base=BASE)
    assert versions(answer) == {"six": "1.16.0"}
