#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Checks the shape of the source tree: tools/check_layers.py [ROOT]

  1. A file below src/FOLDER includes only its own folder and those its row in MAY_USE lists, and a
     CMakeLists.txt depends on nothing else. Within a folder that has subfolders the same holds between
     these, by the rows in INSIDE (unit tests may use all of their own folder).
  2. A third-party header appears only in its home folder (tests may use the test libraries).
  3. Every file has an SPDX line, every header `#pragma once`; nothing is called utils, core or common.
  4. A file over 500 lines is a warning, over 800 an error.
  5. No paths of one machine and no registry hosts in what we ship.
  6. The tables themselves have no loops.
Prints each problem as file:line: message and exits 1 when there is one.
"""
import os
import pathlib
import re
import subprocess
import sys

GROUND = {"base"}
LOW = GROUND | {"os", "model"}
MIDDLE = LOW | {"config", "query", "output", "db", "net", "ssh", "dockerapi"}

# Row: what the folder and its subfolders may include besides themselves.
MAY_USE = {
    "base": set(),
    "os": GROUND,
    # Written by the daemon, read by the CLI.
    "audit": GROUND | {"os"},
    "model": GROUND,
    "config": LOW,
    "query": LOW,
    "output": LOW | {"query"},
    "db": LOW,
    "net": LOW,
    # What the daemon and the relay of a run have in common of MLflow's API.
    "mlflow": LOW | {"net"},
    "relay": LOW | {"net", "mlflow"},
    "ssh": LOW,
    "dockerapi": LOW | {"net"},
    "store": LOW | {"db", "query"},
    "importer": LOW | {"config", "db", "query", "store"},
    "snapshot": LOW | {"config", "db", "ssh"},
    "secrets": LOW | {"db"},
    "environment": LOW | {"config", "db", "net", "ssh", "dockerapi", "snapshot"},
    "gpu": LOW | {"db", "net", "ssh", "dockerapi"},
    "executor": LOW | {"config", "net", "ssh", "dockerapi", "snapshot", "environment", "gpu"},
    # The program on other machines: executors of that machine behind a connection.
    "agent": LOW | {"config", "net", "dockerapi", "snapshot", "environment", "executor", "gpu_monitor"},
    "launch": LOW | {"config", "net", "executor"},
    "engine": MIDDLE | {"store", "snapshot", "secrets", "environment", "gpu", "executor", "launch"},
    "api": MIDDLE | {"audit", "mlflow", "store", "importer", "snapshot", "secrets", "environment", "gpu", "executor", "launch", "engine"},
    "webui": LOW | {"net", "api"},
    "daemon": MIDDLE | {"audit", "mlflow", "store", "importer", "snapshot", "secrets", "environment", "gpu", "executor", "launch", "engine",
                        "api", "webui"},
    "cli": LOW | {"audit", "config", "query", "output", "net", "ssh"},
    # Programs of their own: the stub is libc and nothing of ours but plain values.
    "stub": set(),
    # A role of two programs, beside each run with GPUs: starts it by the means of the executors.
    "gpu_monitor": LOW | {"dockerapi", "gpu", "executor"},
}
# Row: what a subfolder may include of its siblings. "." is the folder itself; "a/b" without a row of its own has that of "a".
INSIDE = {
    "config": {
        "text": set(),
        "schema": {"text"},
        "files": {"schema", "text"},
        "git": set(),
        "ignore": {"git"},
        "project": {"files", "ignore", "schema", "text"},
        "packages": {"files", "project", "text"},
        "consents": {"files", "project"},
        "script": {"files", "packages", "project", "text"},
    },
    "query": {
        ".": set(),
        "search": {"."},
    },
    "environment": {
        "address": set(),
        "spec": {"address"},
        "cache": {"spec"},
        "tools": {"address", "spec"},
        "build": {"cache", "spec", "tools"},
        "installed": {"address", "build", "spec", "tools"},
        ".": {"build", "cache", "spec", "tools"},
    },
    "store": {
        ".": set(),
        "rows": {"."},
        "points": {".", "rows"},
        "schema": set(),
        "search": {".", "points", "rows"},
        "history": {".", "points", "rows", "schema", "search"},
        "models": {"history", "rows", "search"},
        "tracking": {".", "history", "models", "points", "rows", "search"},
        "copy": {".", "history", "models", "points", "rows", "tracking"},
    },
    "gpu": {
        ".": set(),
        "container": {"."},
        "lease": {"."},
        "nvml": set(),
        "probe": {"."},
        "verdict": {"."},
    },
    "executor": {
        "job": set(),
        "run_directory": {"job"},
        ".": {"job", "run_directory"},
        "environments": {".", "job", "run_directory"},
        "events": {"job", "run_directory"},
        "supervisor": {"job", "run_directory"},
        "gpu": {"job", "run_directory", "supervisor"},
        "docker": {".", "environments", "events", "gpu", "job", "run_directory", "supervisor"},
        "process": {"environments", "events", "job", "run_directory", "supervisor"},
        "local": {".", "environments", "events", "gpu", "job", "process", "run_directory", "supervisor"},
        "slurm": {".", "environments", "events", "gpu", "job", "process", "run_directory", "supervisor"},
        "remote/wire": {"job"},
        "remote/link": {"job", "remote/wire"},
        "remote": {".", "job", "remote/link", "remote/wire", "run_directory"},
    },
    "engine": {
        "context": set(),
        "plan": {"context"},
        "queue": {"plan"},
        "secrets": {"context", "plan"},
        "tracked": {"context", "secrets"},
        "files": {"context", "plan", "secrets", "tracked"},
        "run": {"context", "plan", "secrets", "tracked"},
        ".": {"context", "files", "plan", "queue", "run", "secrets"},
        "maintenance": {"context", "files", "plan"},
    },
    "api": {
        "access": set(),
        "http": {"access"},
        "mlflow": {"access", "http"},
        "native": {"access", "http"},
        ".": {"access", "http", "mlflow", "native"},
        "mlflow/artifacts": {"http", "mlflow"},
        "mlflow/registry": {"http", "mlflow"},
        "mlflow/tracking": {"http", "mlflow", "mlflow/artifacts"},
    },
    "cli": {
        "syntax": set(),
        "terminal": set(),
        "client": {"syntax", "terminal"},
        "projects": {"client", "terminal"},
        "completion": {"client", "projects", "syntax"},
        "commands": {"client", "completion", "syntax"},
        ".": {"client", "commands", "syntax", "terminal"},
        "runs": {"client", "syntax", "terminal"},
        "hosts": {"client", "runs", "syntax", "terminal"},
        "gpus": {"client", "hosts", "runs"},
        # A folder for each noun; none knows another.
        **{"commands/" + noun: {"client", "commands", "gpus", "hosts", "projects", "runs", "syntax", "terminal"}
           for noun in ("asset", "audit", "check", "computetarget", "daemon", "disk", "doctor", "environment", "experiment", "gpu", "history",
                        "project", "runconfiguration", "secret", "session", "token")},
    },
}
ANYTHING = {"main.cpp"}  # parses nothing, starts a role: may see everything

# A header by its beginning, and the folders that may include it. fmt and expected are the
# vocabulary of base/ and go wherever base/ goes.
HOMES = {
    "fmt/": {"*"},
    "tl/": {"*"},
    "openssl/": {"base", "secrets", "net"},
    "zstd": {"snapshot", "store"},
    "libfyaml": {"config"},
    "sqlite3": {"db"},
    "boost/": {"net"},
    "CLI/": {"cli"},
    "minizip/": {"engine"},
    "zlib": {"api", "engine"},
    "pugixml": {"gpu"},
    "toml++/": {"config"},
    "re2/": {"api"},
    "curl/": set(),
    "spdlog/": {"daemon"},
    "simdjson": {"api"},
    "nlohmann/": set(),
    "yaml-cpp/": set(),
    "nvml": {"gpu"},
    "gtest/": {"test"},
    "gmock/": {"test"},
    "rapidcheck": {"test"},
    "benchmark/": {"bench"},
}

INCLUDE = re.compile(r'^\s*#\s*include\s+([<"])([^>"]+)[>"]')
MODULE = re.compile(r"ponk_module\(\s*([a-z_/]+)(.*?)\)", re.DOTALL)
KEYWORDS = {"SOURCES", "TESTS", "DEPENDS", "LIBRARIES"}
FORBIDDEN_NAMES = re.compile(r"(^|/)(core|common|misc)/|(^|[/_-])(utils?|misc)(\.|[_-][^/]*$|$)")
# Split so that this file does not name what it forbids.
FORBIDDEN_TEXT = [
    (re.compile(r"/(home|Users)/(?!ann\b|alice\b|bob\b|user\b|me\b|you\b)[a-z0-9_.-]+/|/root/[.\w]"), "a path of one machine"),
    (re.compile(r"\b(docker\.i" + r"o|quay\.i" + r"o|gcr\.i" + r"o|ghcr\.i" + r"o|nvcr\.i" + r"o|[a-z0-9-]+\.azurecr\.i" + r"o)/"), "a registry host"),
    (re.compile(r"\b(pypi\.or" + r"g|pythonhosted\.or" + r"g|registry\.npmjs\.or" + r"g|crates\.i" + r"o)\b"), "a registry host"),
]
# Texts as keys of a table: whoever chooses them must not choose the buckets, too.
FIXED_HASH = re.compile(r"\bunordered_(multi)?(map|set)<\s*(const )?std::string(_view)?\b|\bstd::hash<std::string")
KEYED_HASH = "src/base/keyed_hash"
SOURCE = (".cpp", ".hpp", ".c", ".h")
SPDX_SUFFIXES = SOURCE + (".py", ".sh", ".cmake", ".sql", ".S", ".ts", ".tsx", ".fish")
SPDX_NAMES = {"CMakeLists.txt", "Makefile"}
# Texts from elsewhere, data, and tests whose matter is such words.
NOT_OURS = ("third_party/", "tests/golden/", "tests/corpus/", "fuzz/seeds/")
GENEROUS = ("docs/corpus", "src/config/")  # whose matter is such names


class Problems:
    def __init__(self):
        self.errors = 0

    def error(self, path, line, message):
        self.errors += 1
        print("%s:%d: %s" % (path, line, message))

    def warn(self, path, line, message):
        print("%s:%d: warning: %s" % (path, line, message))


def tracked_files(root):
    """What git knows or would add; without git, everything but build/ and .cache/."""
    command = ["git", "-C", root, "ls-files", "-z", "--cached", "--others", "--exclude-standard"]
    try:
        listing = subprocess.run(command, stdout=subprocess.PIPE, stderr=subprocess.DEVNULL, check=True).stdout
        names = [os.fsdecode(name) for name in listing.split(b"\0") if name]
    except (OSError, subprocess.CalledProcessError):
        names = []
        for folder, folders, files in os.walk(root):
            folders[:] = [name for name in folders if name not in ("build", ".cache", ".git", "__pycache__")]
            names += [os.path.relpath(os.path.join(folder, name), root) for name in files]
    return sorted(name for name in set(names) if os.path.isfile(os.path.join(root, name)))


def folder_of(path):
    """src/executor/local/x.cpp -> executor/local; src/main.cpp -> '' """
    return "/".join(path.split("/")[1:-1])


def known_folder(folder):
    top, sub = split(folder)
    return top in MAY_USE and (sub == "." or row_inside(top, sub)[0] in INSIDE.get(top, {}))


def split(folder):
    """store/points -> store, points; store -> store, '.' """
    top, _, rest = folder.partition("/")
    return top, rest or "."


def row_inside(top, sub):
    """The row of a subfolder, or of the nearest one above it."""
    rows = INSIDE.get(top, {})
    while sub not in rows and "/" in sub:
        sub = sub.rpartition("/")[0]
    return sub, rows.get(sub, set())


def may_include(user, used):
    (user_top, user_sub), (used_top, used_sub) = split(user), split(used)
    if user_top != used_top:
        return used_top in MAY_USE.get(user_top, set())
    mine, row = row_inside(user_top, user_sub)
    other, _ = row_inside(used_top, used_sub)
    return mine == other or other in row


def is_test(path):
    return path.endswith(("_test.cpp", "_test_support.hpp", "_contract.hpp", "_contract.cpp", "_rows.hpp")) or path.startswith("tests/")


def check_table(name, rows, problems):
    done, open_rows = set(), []

    def visit(row):
        if row in open_rows:
            problems.error("tools/check_layers.py", 1, "%s has a loop: %s" % (name, " -> ".join(open_rows + [row])))
            return
        if row in done:
            return
        open_rows.append(row)
        for used in sorted(rows.get(row, ())):
            if used not in rows:
                problems.error("tools/check_layers.py", 1, "%s: '%s' uses '%s', which has no row" % (name, row, used))
            visit(used)
        open_rows.pop()
        done.add(row)

    for row in rows:
        visit(row)


def check_includes(path, lines, problems):
    folder = folder_of(path)
    top = folder.split("/")[0]
    anything = path.startswith("src/") and os.path.basename(path) in ANYTHING and not folder
    for number, line in enumerate(lines, 1):
        match = INCLUDE.match(line)
        if not match:
            continue
        header = match.group(2)
        used = os.path.dirname(header)
        if match.group(1) == '"' and path.startswith("src/") and not anything:
            if header.endswith(".inc"):
                continue  # generated beside its only user
            if used == "doubles" and is_test(path):
                continue  # tests/doubles
            if not used:
                problems.error(path, number, 'include "%s" by its way from src/, "%s/%s"' % (header, folder, header))
            elif not known_folder(used):
                problems.error(path, number, "'%s' is no folder of the table in tools/check_layers.py" % used)
            elif is_test(path) and split(used)[0] == top:
                continue
            elif not may_include(folder, used):
                problems.error(path, number, "'%s' may not use '%s' (tools/check_layers.py has the table)" % (folder, used))
        for beginning, homes in HOMES.items():
            if not header.startswith(beginning) or "*" in homes or top in homes:
                continue
            if "test" in homes and is_test(path) or "bench" in homes and path.startswith("bench/"):
                continue
            if is_test(path) and not path.startswith("src/"):
                continue
            problems.error(path, number, "<%s> belongs to %s only" % (header, ", ".join(sorted(homes)) or "nobody"))


def check_module(path, text, problems):
    for match in MODULE.finditer(text):
        name, words = match.group(1), match.group(2).split()
        part = None
        for word in words:
            if word in KEYWORDS:
                part = word
            elif part == "DEPENDS" and not may_include(name, word):
                line = text[: match.start()].count("\n") + 1
                problems.error(path, line, "module '%s' may not depend on '%s'" % (name, word))


def check_text(path, lines, problems):
    name = os.path.basename(path)
    if path.endswith(SPDX_SUFFIXES) or name in SPDX_NAMES:
        if not any("SPDX-License-Identifier:" in line for line in lines[:3]):
            problems.error(path, 1, "no SPDX line among the first three")
    if path.endswith((".hpp", ".h")) and not any(line.strip() == "#pragma once" for line in lines[:5]):
        problems.error(path, 1, "no '#pragma once' among the first five lines")
    if path.endswith(SOURCE + (".py",)):
        if len(lines) > 800:
            problems.error(path, 800, "%d lines: split it by use case, 800 is the end" % len(lines))
        elif len(lines) > 500:
            problems.warn(path, 500, "%d lines: aim under 300" % len(lines))
    for number, line in enumerate(lines, 1):
        if path.startswith("src/") and not path.startswith(KEYED_HASH) and FIXED_HASH.search(line):
            problems.error(path, number, "a hash with a fixed seed: take KeyedMap or KeyedSet of base/keyed_hash.hpp")
        for pattern, what in FORBIDDEN_TEXT:
            if pattern.search(line) and not path.startswith(GENEROUS):
                problems.error(path, number, "%s: '%s'" % (what, pattern.search(line).group(0)))


def check_commands(root, problems):
    """Each command is in the list, else nobody can call it."""
    folder = pathlib.Path(root) / "src/cli/commands"
    if not (folder / "commands.cpp").exists():
        return
    listed = set(re.findall(r"&(cmd_\w+)", (folder / "commands.cpp").read_text()))
    for path in sorted(folder.rglob("*.cpp")):
        for name in re.findall(r"^constinit const Command (cmd_\w+)", path.read_text(), re.M):
            if name not in listed:
                problems.error(path.relative_to(root), 1, "'%s' is not in the list of src/cli/commands/commands.cpp" % name)


def main(root):
    problems = Problems()
    check_table("MAY_USE", MAY_USE, problems)
    for top, rows in INSIDE.items():
        check_table("INSIDE, " + top, rows, problems)
    count = 0
    for path in tracked_files(root):
        if path.startswith(NOT_OURS) or path == "LICENSE":
            continue
        count += 1
        stem = os.path.basename(path)
        if path.startswith(("src/", "tests/", "tools/", "fuzz/", "bench/")) and FORBIDDEN_NAMES.search(path):
            problems.error(path, 1, "a name that gathers everything: name it after what it does")
        try:
            with open(os.path.join(root, path), encoding="utf-8") as stream:
                text = stream.read()
        except UnicodeDecodeError:
            continue  # data
        lines = text.splitlines()
        if path.startswith("src/") and path.endswith(SOURCE) and folder_of(path) and not known_folder(folder_of(path)):
            problems.error(path, 1, "'src/%s' is no folder of the table in tools/check_layers.py" % folder_of(path))
        if path.endswith(SOURCE):
            check_includes(path, lines, problems)
        if stem == "CMakeLists.txt":
            check_module(path, text, problems)
        check_text(path, lines, problems)
    check_commands(root, problems)
    print("%d files looked at, %d errors" % (count, problems.errors))
    return 1 if problems.errors else 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1] if len(sys.argv) > 1 else os.path.join(os.path.dirname(os.path.abspath(__file__)), "..")))
