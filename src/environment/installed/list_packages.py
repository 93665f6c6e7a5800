# SPDX-License-Identifier: Apache-2.0
"""Prints which distributions the imports of this interpreter find, without importing them.

Started by that interpreter, on this machine or in a container of an image. One fact on a line, fields separated by tabs:
    python VERSION PROGRAM | prefix FOLDER | folder FOLDER | conda NAME VERSION BUILD | pip NAME VERSION SOURCE | end
Any Python that a script may have must understand it, down to 2.7. Modules that take long to load are not used.
"""
import os
import sys

if sys.path[:1] == [""]:
    del sys.path[0]  # the folder of the run: its files are not packages, nor modules of ours


def show(*fields):
    line = "\t".join(field.replace("\t", " ").replace("\n", " ") for field in fields) + "\n"
    if isinstance(line, bytes):  # Python 2
        sys.stdout.write(line)
    else:
        sys.stdout.buffer.write(line.encode("utf-8", "surrogateescape"))


def first_lines(path, wanted):
    """The fields of a metadata file's head."""
    found = {}
    try:
        with open(path, "rb") as stream:
            for line in stream:
                name, colon, value = line.decode("utf-8", "replace").partition(":")
                if not colon or len(found) == len(wanted):
                    break
                if name in wanted:
                    found[name] = value.strip()
    except (IOError, OSError):
        pass
    return found


def described(folder, entry):
    """Name and version of one entry, by its own name where that tells both."""
    stem, suffix = os.path.splitext(entry)
    if suffix == ".dist-info":
        parts = stem.rsplit("-", 1)
        if len(parts) == 2:
            return parts
    parts = stem.split("-")
    if suffix == ".egg-info" and len(parts) > 2 and parts[2].startswith("py"):
        return parts[:2]
    path = os.path.join(folder, entry)
    name = "METADATA" if suffix == ".dist-info" else "PKG-INFO"
    about = first_lines(os.path.join(path, name) if os.path.isdir(path) else path, ("Name", "Version"))
    return about.get("Name", parts[0]), about.get("Version", "0")


def source_of(path):
    """Where a distribution came from that no index served."""
    try:
        with open(os.path.join(path, "direct_url.json"), "rb") as stream:
            text = stream.read().decode("utf-8", "replace")
    except (IOError, OSError):
        return ""
    import json
    try:
        about = json.loads(text)
        control = about.get("vcs_info")
        if control:
            return "%s+%s@%s" % (control["vcs"], about["url"], control["commit_id"])
        return ("editable+" if about.get("dir_info", {}).get("editable") else "") + about["url"]
    except (ValueError, KeyError, AttributeError):
        return ""


def main():
    show("python", "%d.%d.%d" % sys.version_info[:3], sys.executable or "")
    show("prefix", sys.prefix)
    seen = set()
    for folder in sys.path:
        if not folder or not os.path.isdir(folder):
            continue
        try:
            entries = os.listdir(folder)
        except OSError:
            continue
        distributions = sorted(entry for entry in entries if entry.endswith((".dist-info", ".egg-info")))
        if distributions or folder.endswith("-packages"):
            show("folder", folder)
        for entry in distributions:
            name, version = described(folder, entry)
            key = name.lower().replace("_", "-").replace(".", "-")
            if key not in seen:  # the first on the path is the one that is imported
                seen.add(key)
                show("pip", key, version, source_of(os.path.join(folder, entry)))
    conda = os.path.join(sys.prefix, "conda-meta")
    if os.path.isdir(conda):
        show("folder", conda)
        for entry in sorted(os.listdir(conda)):
            parts = os.path.splitext(entry)[0].rsplit("-", 2)
            if entry.endswith(".json") and len(parts) == 3:
                show("conda", *parts)
    show("end")


main()
