# SPDX-License-Identifier: Apache-2.0
"""A small conda channel made on the spot, with stand-ins of what 2017's files pin.

Its `python` packages carry the numbers of old releases and hold the interpreter of this machine, as an
environment of its own (pyvenv.cfg), so that programs in the environment truly run.
"""
import glob
import hashlib
import io
import json
import os
import sys
import tarfile
import zipfile

PLACEHOLDER = "/opt/anaconda1anaconda2anaconda3anaconda4anaconda5anaconda6anaconda7"
INTERPRETER = "/usr/bin/python3.11"
SITE = "lib/python3.11/site-packages"


def pip_wheel():
    found = glob.glob("/usr/share/python-wheels/pip-*.whl")
    found += glob.glob(os.path.join(os.path.dirname(os.__file__), "ensurepip", "_bundled", "pip-*.whl"))
    return found[0] if found else None


def missing():
    """Why the channel cannot be made here; None when it can."""
    if not os.path.exists(INTERPRETER):
        return "no %s, which the channel's python packages hold" % INTERPRETER
    return None if pip_wheel() else "no wheel of pip (package python3-venv)"


class Package:
    def __init__(self, name, version, depends=(), build="0"):
        self.index = {"name": name, "version": version, "build": build, "build_number": 0, "depends": list(depends),
                      "arch": "x86_64", "platform": "linux", "subdir": "linux-64", "license": "Apache-2.0",
                      "timestamp": 1500000000000}
        self.files = []  # (path, bytes or link target, mode, kind)

    def file(self, path, data, mode=0o644, placeholder=False):
        self.files.append((path, data if isinstance(data, bytes) else data.encode(), mode, "prefix" if placeholder else "file"))
        return self

    def link(self, path, target):
        self.files.append((path, target, 0o777, "link"))
        return self

    def archive_name(self):
        return "%s-%s-%s.tar.bz2" % (self.index["name"], self.index["version"], self.index["build"])

    def paths(self):
        entries = []
        for path, data, _, kind in self.files:
            if kind == "link":
                entries.append({"_path": path, "path_type": "softlink"})
                continue
            entry = {"_path": path, "path_type": "hardlink", "sha256": hashlib.sha256(data).hexdigest(),
                     "size_in_bytes": len(data)}
            if kind == "prefix":
                entry.update(file_mode="text", prefix_placeholder=PLACEHOLDER)
            entries.append(entry)
        return {"paths": entries, "paths_version": 1}

    def write(self, folder):
        info = [("info/index.json", json.dumps(self.index).encode()),
                ("info/paths.json", json.dumps(self.paths()).encode()),
                ("info/files", "".join(path + "\n" for path, _, _, _ in self.files).encode())]
        target = os.path.join(folder, self.archive_name())
        with tarfile.open(target, "w:bz2", compresslevel=1) as archive:
            def add(path, data, mode):
                entry = tarfile.TarInfo(path)
                entry.mode = mode
                if isinstance(data, str):
                    entry.type, entry.linkname = tarfile.SYMTYPE, data
                    archive.addfile(entry)
                else:
                    entry.size = len(data)
                    archive.addfile(entry, io.BytesIO(data))
            for path, data in info:
                add(path, data, 0o644)
            for path, data, mode, _ in self.files:
                add(path, data, mode)
        with open(target, "rb") as stream:
            data = stream.read()
        return dict(self.index, md5=hashlib.md5(data).hexdigest(), sha256=hashlib.sha256(data).hexdigest(), size=len(data))


def python_package(version):
    with open(INTERPRETER, "rb") as stream:
        program = stream.read()
    return (Package("python", version)
            .file("bin/python3.11", program, 0o755)
            .link("bin/python", "python3.11")
            .link("bin/python3", "python3.11")
            .file("pyvenv.cfg", "home = /usr/bin\ninclude-system-site-packages = false\nversion = 3.11\n")
            .file("bin/where", "#!%s/bin/python\nimport sys; print(sys.prefix)\n" % PLACEHOLDER, 0o755, placeholder=True))


def pip_package():
    package = Package("pip", "9.0.1", ["python"])
    with zipfile.ZipFile(pip_wheel()) as wheel:
        for name in wheel.namelist():
            if not name.endswith("/"):
                package.file("%s/%s" % (SITE, name), wheel.read(name))
    return package


def module_package(name, version, depends):
    return Package(name, version, depends).file("%s/%s.py" % (SITE, name), "__version__ = %r\n" % version)


def make_channel(folder):
    """Returns the channel's address."""
    packages = [python_package("3.5.2"), python_package("3.6.2"), pip_package(),
                module_package("ipykernel", "4.6.1", ["python"]),
                module_package("numpy", "1.13.3", ["python >=3.5"]),
                module_package("numpy", "1.11.0", ["python 3.5.*"]),
                module_package("needsfuture", "1.0", ["python >=4"])]
    platform = os.path.join(folder, "linux-64")
    os.makedirs(platform)
    os.makedirs(os.path.join(folder, "noarch"))
    listing = {package.archive_name(): package.write(platform) for package in packages}
    for subdir, content in (("linux-64", listing), ("noarch", {})):
        with open(os.path.join(folder, subdir, "repodata.json"), "w") as stream:
            json.dump({"info": {"subdir": subdir}, "packages": content, "packages.conda": {}, "repodata_version": 1}, stream)
    return "file://" + folder


if __name__ == "__main__":
    print(make_channel(sys.argv[1]))
