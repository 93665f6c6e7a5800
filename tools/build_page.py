#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Builds the page and packs it for the program: tools/build_page.py --out FILE --report FILE [--cache DIR] web
                                                tools/build_page.py --out FILE --report FILE --without REASON

The page is web/dist when that is there and no source is newer (a release's sources have it), else what
`npm ci` and `npm run build` make of a copy of web/ in DIR/page, with tools/node.sh. What was built is kept in
DIR/page by the hash of its sources, so that every build of the same sources takes it from there. Where there
is no Node.js, or packages cannot be fetched, the packed file says so, and so does 'ponk ui'; a page that does
not compile is an error. src/webui/page_files.hpp has the format. The report (docs/design/report.md) is built with
the page and is no part of it; its file is empty where there is no page.
"""
import argparse
import fcntl
import gzip
import hashlib
import json
import os
import pathlib
import re
import shutil
import struct
import subprocess
import sys

NODE = pathlib.Path(__file__).resolve().with_name("node.sh")
TYPES = {".html": "text/html; charset=utf-8", ".js": "text/javascript; charset=utf-8", ".mjs": "text/javascript; charset=utf-8",
         ".css": "text/css; charset=utf-8", ".json": "application/json", ".svg": "image/svg+xml", ".png": "image/png",
         ".woff2": "font/woff2", ".txt": "text/plain; charset=utf-8", ".webmanifest": "application/manifest+json"}
NOT_SOURCES = {"node_modules", "dist"}
REPORT = "report.html"
HASHED = re.compile(r"^assets/.*-[A-Za-z0-9_-]{8,}\.[a-z0-9]+$")


class Missing(Exception):
    """Why there can be no page."""


def pack(dist, missing=""):
    entries, bodies, at = [], [], 0
    for path in sorted(dist.rglob("*")) if dist else []:
        name = path.relative_to(dist).as_posix()
        if not path.is_file() or name == REPORT:
            continue
        raw = path.read_bytes()
        body = gzip.compress(raw, 9, mtime=0)
        entries.append({"name": name, "type": TYPES.get(path.suffix, "application/octet-stream"),
                        "etag": hashlib.sha256(raw).hexdigest()[:32], "at": at, "size": len(body),
                        "hashed": bool(HASHED.match(name))})
        bodies.append(body)
        at += len(body)
    index = json.dumps({"missing": missing, "files": entries}, separators=(",", ":")).encode()
    return b"PNKPAGE1" + struct.pack("<I", len(index)) + index + b"".join(bodies)


def sources(web):
    for path in sorted(web.rglob("*")):
        if path.is_file() and path.relative_to(web).parts[0] not in NOT_SOURCES:
            yield path


def hash_of(web):
    digest = hashlib.sha256(pathlib.Path(__file__).read_bytes())
    for path in sources(web):
        digest.update(path.relative_to(web).as_posix().encode() + b"\0" + hashlib.sha256(path.read_bytes()).digest())
    return digest.hexdigest()[:32]


def npm(words, work, environment, log):
    with open(log, "ab") as out:
        return subprocess.run([NODE, "npm", *words], cwd=work, env=environment, stdin=subprocess.DEVNULL, stdout=out, stderr=out,
                              timeout=1800).returncode == 0


def build(web, cache):
    """The folder with the built page."""
    work, log = cache / "work", cache / "build.log"
    log.write_bytes(b"")
    work.mkdir(exist_ok=True)
    for path in work.iterdir():
        if path.name != "node_modules":
            shutil.rmtree(path) if path.is_dir() else path.unlink()
    for path in sources(web):
        target = work / path.relative_to(web)
        target.parent.mkdir(parents=True, exist_ok=True)
        shutil.copyfile(path, target)
    environment = dict(os.environ, CI="1", npm_config_cache=str(cache / "npm"), npm_config_audit="false", npm_config_fund="false",
                       npm_config_update_notifier="false")
    stamp, lock = work / "node_modules" / ".installed", (work / "package-lock.json").read_bytes()
    if not stamp.exists() or stamp.read_bytes() != lock:
        if not npm(["ci"], work, environment, log):
            raise Missing("Node.js or packages of npm could not be fetched when it was built")
        stamp.write_bytes(lock)
    if not npm(["run", "build"], work, environment, log):
        sys.stderr.write(log.read_text(errors="replace"))
        sys.exit("build_page.py: the page does not build")
    if not (work / "dist" / "index.html").exists():
        sys.exit("build_page.py: the build of the page made no dist/index.html")
    return work / "dist"


def packed_page(web, cache):
    """The page as it is embedded, and the report."""
    built = web / "dist" / "index.html"
    if built.exists() and (web / "dist" / REPORT).exists() and all(path.stat().st_mtime <= built.stat().st_mtime for path in sources(web)):
        return pack(web / "dist"), (web / "dist" / REPORT).read_bytes()
    if not (web / "package-lock.json").exists():
        raise Missing("the sources have no page")
    cache.mkdir(parents=True, exist_ok=True)
    with open(cache / "lock", "w") as lock:
        fcntl.flock(lock, fcntl.LOCK_EX)
        kept, report = (cache / (hash_of(web) + ending) for ending in (".pack", ".report"))
        if not kept.exists() or not report.exists():
            dist = build(web, cache)
            write_whole(report, (dist / REPORT).read_bytes())
            write_whole(kept, pack(dist))
        return kept.read_bytes(), report.read_bytes()


def write_whole(path, content):
    part = path.with_suffix(".part")
    part.write_bytes(content)
    part.rename(path)


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("--out", required=True, type=pathlib.Path)
    parser.add_argument("--report", required=True, type=pathlib.Path)
    parser.add_argument("--cache", type=pathlib.Path, default=pathlib.Path(".cache"))
    parser.add_argument("--without", default="")
    parser.add_argument("web", nargs="?", type=pathlib.Path)
    words = parser.parse_args()
    try:
        if words.without or not words.web:
            raise Missing(words.without or "no sources were named")
        packed, report = packed_page(words.web, words.cache / "page")
    except Missing as reason:
        if not words.without:
            print("build_page.py: the program gets no page: %s" % reason, file=sys.stderr)
        packed, report = pack(None, str(reason)), b""
    words.out.write_bytes(packed)
    words.report.write_bytes(report)


if __name__ == "__main__":
    main()
