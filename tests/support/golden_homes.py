# SPDX-License-Identifier: Apache-2.0
"""Folders as earlier versions left them: home-vN.tar.gz and host-vN.tar.gz of tests/golden."""
import fcntl
import os
import pathlib
import struct
import tarfile

GOLDEN = pathlib.Path(__file__).resolve().parents[1] / "golden"


def unpack(archive, home):
    home.mkdir(mode=0o700)
    with tarfile.open(archive) as opened:
        opened.extractall(home)
    return sorted(place.name for place in (home / "runs").iterdir() if not place.name.startswith("."))


def lock(file):
    """As a run's supervisor has it."""
    opened = os.open(file, os.O_RDWR | os.O_CREAT)
    fcntl.fcntl(opened, 37, struct.pack("hhlli", fcntl.F_WRLCK, 0, 0, 0, 0))  # F_OFD_SETLK
    return opened
