# SPDX-License-Identifier: Apache-2.0
"""Writes TensorBoard event files with nothing but the standard library, as scripts of tests need it anywhere."""
import os
import struct
import time


def crc32c(data):
    crc = 0xffffffff
    for byte in bytearray(data):
        crc ^= byte
        for _ in range(8):
            crc = (crc >> 1) ^ (0x82f63b78 if crc & 1 else 0)
    return crc ^ 0xffffffff


def masked(data):
    crc = crc32c(data)
    return struct.pack("<I", (((crc >> 15) | (crc << 17)) + 0xa282ead8) & 0xffffffff)


def varint(value):
    out = bytearray()
    while value >= 0x80:
        out.append(value & 0x7f | 0x80)
        value >>= 7
    out.append(value)
    return bytes(out)


def field(number, data):
    return varint(number * 8 + 2) + varint(len(data)) + data


class EventWriter(object):
    def __init__(self, folder):
        if not os.path.isdir(folder):
            os.makedirs(folder)
        name = "events.out.tfevents.%d.%d.host" % (time.time() * 1000, os.getpid())
        self.file = open(os.path.join(folder, name), "ab")
        self.put(b"\x09" + struct.pack("<d", time.time()) + field(3, b"brain.Event:2"))

    def put(self, event):
        length = struct.pack("<Q", len(event))
        self.file.write(length + masked(length) + event + masked(event))
        self.file.flush()

    def scalar(self, tag, value, step, wall_time=1700000000.5):
        entry = field(1, tag.encode("utf-8")) + b"\x15" + struct.pack("<f", value)
        self.put(b"\x09" + struct.pack("<d", wall_time) + b"\x10" + varint(step) + field(5, field(1, entry)))
