#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Packs a folder of samples into one zip: tools/pack_samples.py samples out.zip

The same tree gives the same bytes: names sorted, times fixed, modes 0644 or 0755. Nothing is
compressed (the one large file is so already), so a reader needs no decoder. index.json is checked first, so that a sample which
names a missing folder never reaches a binary.
"""
import json
import os
import stat
import sys
import zipfile

SKIPPED = {"outputs", "__pycache__"}


def check(folder):
    with open(os.path.join(folder, "index.json"), encoding="utf-8") as stream:
        samples = json.load(stream)["samples"]
    for sample in samples:
        script = os.path.join(folder, sample["folder"], sample["script"])
        if not os.path.isfile(script):
            sys.exit("index.json: sample '%s' names '%s', which is not there" % (sample["name"], script))


def main(folder, destination):
    check(folder)
    paths = []
    for root, folders, files in os.walk(folder):
        folders[:] = sorted(name for name in folders if name not in SKIPPED)
        paths += [os.path.join(root, name) for name in files]
    temporary = destination + ".new"
    with zipfile.ZipFile(temporary, "w") as archive:
        for path in sorted(paths):
            executable = os.stat(path).st_mode & stat.S_IXUSR
            entry = zipfile.ZipInfo(os.path.relpath(path, folder), (1980, 1, 1, 0, 0, 0))
            entry.create_system = 3
            entry.external_attr = (stat.S_IFREG | (0o755 if executable else 0o644)) << 16
            entry.compress_type = zipfile.ZIP_STORED
            with open(path, "rb") as stream:
                archive.writestr(entry, stream.read())
    os.replace(temporary, destination)


if __name__ == "__main__":
    if len(sys.argv) != 3:
        sys.exit(__doc__)
    main(sys.argv[1], sys.argv[2])
