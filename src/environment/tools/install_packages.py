# SPDX-License-Identifier: Apache-2.0
"""Installs pip's part of an environment and writes down everything that is in it.

Started by the environment's own interpreter, on this machine or inside an image's build:
    python install_packages.py PLAN.json
    python install_packages.py --clean PREFIX    only the secrets that installers noted go
Any Python that an environment may have must understand it, down to 2.7. Standard library only.
"""
from __future__ import print_function

import glob
import io
import json
import os
import re
import shutil
import subprocess
import sys
import tempfile

LOGIN = re.compile(r"(://)[^/@\s\"'?#]+@")
QUERY = re.compile(r"(://[^\s\"'?#<>]*)\?[^\s\"'#<>]*")
TOKEN = re.compile(r"(://[^\s\"'?#]*?/t/)[^/\s\"']+")


def clean(text):
    """The text whose addresses let nobody in."""
    return TOKEN.sub(r"\1***", QUERY.sub(r"\1?***", LOGIN.sub(r"\1***@", text)))


def read_text(path):
    with io.open(path, encoding="utf-8") as stream:
        return stream.read()


def write_text(path, text):
    if isinstance(text, bytes):  # Python 2 makes bytes of JSON
        text = text.decode("utf-8")
    with io.open(path, "w", encoding="utf-8") as stream:
        stream.write(text)


def call(words, environment):
    sys.stdout.flush()
    code = subprocess.call(words, env=environment)
    if code != 0:
        sys.exit(code if code > 0 else 1)


def normal(name):
    return re.sub(r"[-_.]+", "-", name).lower()


def from_report(path):
    packages = []
    for item in json.loads(read_text(path)).get("install", []):
        about, metadata = item.get("download_info", {}), item["metadata"]
        archive = about.get("archive_info") or {}
        hashes = dict(archive.get("hashes") or {})
        if not hashes and "=" in (archive.get("hash") or ""):
            kind, value = archive["hash"].split("=", 1)
            hashes[kind] = value
        package = {"manager": "pip", "name": normal(metadata["name"]), "version": metadata["version"],
                   "source": about.get("url", ""), "direct": bool(item.get("is_direct"))}
        version_control = about.get("vcs_info")
        if version_control:
            package["source"] = "%s+%s@%s" % (version_control["vcs"], about["url"], version_control["commit_id"])
        if "sha256" in hashes:
            package["sha256"] = [hashes["sha256"]]
        packages.append(package)
    return packages


def from_compiled(path):
    """Requirements with hashes, as uv writes them."""
    packages = []
    for line in read_text(path).splitlines():
        word = line.strip().rstrip("\\").strip()
        match = re.match(r"--hash=sha256:([0-9a-f]{64})", word)
        if match and packages:
            packages[-1].setdefault("sha256", []).append(match.group(1))
        elif word.startswith("# from ") and packages and not packages[-1]["direct"]:
            packages[-1]["source"] = word[len("# from "):]
        elif word and not word.startswith(("#", "-")):
            requirement = word.split(" ; ")[0].split(" --hash")[0].strip()
            if " @ " not in requirement and "/" in requirement:  # a file, by its path alone
                name = requirement.rsplit("/", 1)[-1].split("-")[0]
                requirement = "%s @ file://%s" % (name, requirement)
            if " @ " in requirement:
                name, source = requirement.split(" @ ", 1)
                packages.append({"manager": "pip", "name": normal(name), "version": "",
                                 "source": source.split(" ")[0], "direct": True})
            elif "==" in requirement:
                name, version = requirement.split("==", 1)
                packages.append({"manager": "pip", "name": normal(name.split("[")[0]), "version": version,
                                 "source": "", "direct": False})
    return packages


def from_freeze(interpreter, environment):
    words = [interpreter, "-m", "pip", "freeze", "--disable-pip-version-check"]
    packages = []
    for line in subprocess.check_output(words, env=environment).decode("utf-8").splitlines():
        if "==" in line:
            name, version = line.strip().split("==", 1)
            packages.append({"manager": "pip", "name": normal(name), "version": version, "source": "",
                             "direct": False})
    return packages


def metadata_folders(prefix):
    return (glob.glob(os.path.join(prefix, "lib", "python*", "site-packages", "*.dist-info")) +
            glob.glob(os.path.join(prefix, "lib64", "python*", "site-packages", "*.dist-info")))


def installed_versions(prefix):
    versions = {}
    for folder in metadata_folders(prefix):
        stem = os.path.basename(folder)[:-len(".dist-info")]
        if "-" in stem:
            name, version = stem.rsplit("-", 1)
            versions[normal(name)] = version
    return versions


def conda_packages(prefix):
    packages = []
    for path in glob.glob(os.path.join(prefix, "conda-meta", "*.json")):
        record = json.loads(read_text(path))
        package = {"manager": "conda", "name": record.get("name", ""), "version": record.get("version", ""),
                   "build": record.get("build", record.get("build_string", "")), "source": record.get("url", ""),
                   "direct": False}
        if record.get("sha256"):
            package["sha256"] = [record["sha256"]]
        if record.get("md5"):
            package["md5"] = record["md5"]
        packages.append(package)
    return packages


def hide_secrets(prefix):
    """Installers note where packages came from; what lets one in there must not stay."""
    paths = glob.glob(os.path.join(prefix, "conda-meta", "*.json")) + [os.path.join(prefix, "conda-meta", "history")]
    paths += [os.path.join(folder, "direct_url.json") for folder in metadata_folders(prefix)]
    for path in paths:
        if os.path.isfile(path):
            text = read_text(path)
            if clean(text) != text:
                os.chmod(path, 0o644)
                write_text(path, clean(text))


def install_by_pip(plan, requirements, environment, folder):
    report = os.path.join(folder, "report.json")
    interpreter = plan["python"]
    words = [interpreter, "-m", "pip", "install", "--disable-pip-version-check", "--no-input",
             "--progress-bar", "off", "-r", requirements]
    if plan.get("cache") == "no":
        words.append("--no-cache-dir")
    if plan.get("locked"):
        words.append("--no-deps")
    version = subprocess.check_output([interpreter, "-m", "pip", "--version"], env=environment).decode("utf-8")
    numbers = tuple(int(part) for part in re.findall(r"\d+", version.split(" ")[1])[:2])
    if numbers < (19, 0):
        words.remove("--no-input")
    if numbers >= (22, 2):
        call(words + ["--report", report], environment)
        return from_report(report)
    call(words, environment)
    return from_freeze(interpreter, environment)


def install_by_uv(plan, requirements, environment, folder):
    exact = os.path.join(folder, "exact.txt")
    common = ["--python", plan["python"]]
    if plan.get("locked"):
        call([plan["uv"], "pip", "install", "--no-deps"] + common + ["-r", requirements], environment)
        return plan["locked"]
    call([plan["uv"], "pip", "compile", "--quiet", "--generate-hashes", "--emit-index-annotation", "--no-header",
          "--emit-index-url", "--emit-find-links"] + common + [requirements, "-o", exact], environment)
    call([plan["uv"], "pip", "install", "--no-deps"] + common + ["-r", exact], environment)
    return from_compiled(exact)


def main(path):
    plan = json.loads(read_text(path))
    environment = dict(os.environ)
    for name, value in plan.get("environment", {}).items():
        environment[str(name)] = str(value)
    packages = []
    folder = tempfile.mkdtemp()
    try:
        if plan.get("create"):
            call(plan["create"], environment)
        if plan["lines"]:
            requirements = os.path.join(folder, "requirements.txt")
            write_text(requirements, "".join(line + u"\n" for line in plan["lines"]))
            install = install_by_uv if plan["installer"] == "uv" else install_by_pip
            packages = install(plan, requirements, environment, folder)
    finally:
        shutil.rmtree(folder, ignore_errors=True)
    versions = installed_versions(plan["prefix"])
    for package in packages:
        package["version"] = package["version"] or versions.get(package["name"], "")
        if package["source"].startswith("file:"):
            package["source"] = "file:" + package["source"][len("file:"):].split("#")[0].rsplit("/", 1)[-1]
    packages += conda_packages(plan["prefix"])
    for package in packages:
        package["source"] = clean(package["source"])
        if "sha256" in package:
            package["sha256"].sort()
    packages.sort(key=lambda package: (package["manager"], package["name"]))
    hide_secrets(plan["prefix"])
    about = subprocess.check_output([plan["python"], "-c", "import platform; print(platform.python_version())"])
    lock = {"format": 1, "platform": plan["platform"], "python": about.decode("ascii").strip(), "packages": packages}
    write_text(plan["lock"], json.dumps(lock, sort_keys=True))


if __name__ == "__main__":
    if sys.argv[1] == "--clean":
        hide_secrets(sys.argv[2])
    else:
        main(sys.argv[1])
