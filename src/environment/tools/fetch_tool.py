# SPDX-License-Identifier: Apache-2.0
"""Brings one program: python fetch_tool.py SHA256 TARGET

Its address is in the variable PONK_FETCH_ADDRESS: it may hold a token, and everybody sees arguments.
It gives the program itself, or a tar archive that has one of its name in bin/ (as
micromamba's do). Nothing is there before its checksum is right.
"""
import hashlib
import io
import os
import sys
import tarfile
import urllib.request


def main(digest, target):
    url = os.environ.pop("PONK_FETCH_ADDRESS")
    print("fetching %s" % os.path.basename(target), flush=True)
    with urllib.request.urlopen(url, timeout=60) as answer:
        data = answer.read()
    found = hashlib.sha256(data).hexdigest()
    if found != digest:
        print("what the address gives has the checksum %s, not %s" % (found, digest))
        return 2
    name = os.path.basename(target)
    if tarfile.is_tarfile(io.BytesIO(data)):
        with tarfile.open(fileobj=io.BytesIO(data)) as archive:
            members = [member for member in archive if member.isfile() and member.name.endswith("bin/" + name)]
            if not members:
                print("the archive has no bin/%s" % name)
                return 3
            data = archive.extractfile(members[0]).read()
    with open(target + ".part", "wb") as stream:
        stream.write(data)
    os.chmod(target + ".part", 0o755)
    os.rename(target + ".part", target)
    return 0


if __name__ == "__main__":
    try:
        sys.exit(main(*sys.argv[1:]))
    except OSError as problem:
        print(problem)
        sys.exit(1)
