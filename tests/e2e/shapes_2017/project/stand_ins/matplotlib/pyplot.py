# SPDX-License-Identifier: Apache-2.0
import struct
import zlib

from _nothing import Nothing


def chunk(kind, data):
    return struct.pack(">I", len(data)) + kind + data + struct.pack(">I", zlib.crc32(kind + data))


def savefig(path, **more):
    """A black point."""
    with open(path, "wb") as file:
        file.write(b"\x89PNG\r\n\x1a\n" + chunk(b"IHDR", struct.pack(">IIBBBBB", 1, 1, 8, 0, 0, 0, 0)) +
                   chunk(b"IDAT", zlib.compress(b"\0\0")) + chunk(b"IEND", b""))


class Figure(Nothing):
    def savefig(self, path, **more):
        savefig(path)


def figure(*words, **named):
    return Figure()


def __getattr__(name):
    return Nothing()
