# SPDX-License-Identifier: Apache-2.0
"""Two small pictures as PNG files, with the standard library alone."""
import struct
import zlib

WHITE, BLACK, BLUE, GREY = (255, 255, 255), (30, 30, 30), (31, 119, 180), (210, 210, 210)


class Canvas:
    def __init__(self, width, height):
        self.width, self.height = width, height
        self.rows = [bytearray(WHITE * width) for _ in range(height)]

    def fill(self, left, top, right, bottom, colour):
        for y in range(max(top, 0), min(bottom, self.height)):
            span = max(0, min(right, self.width) - max(left, 0))
            start = max(left, 0) * 3
            self.rows[y][start : start + span * 3] = bytes(bytearray(colour)) * span

    def line(self, x0, y0, x1, y1, colour):
        steps = max(abs(x1 - x0), abs(y1 - y0), 1)
        for i in range(steps + 1):
            x, y = x0 + (x1 - x0) * i // steps, y0 + (y1 - y0) * i // steps
            self.fill(x, y, x + 2, y + 2, colour)

    def save(self, path):
        def chunk(kind, body):
            check = zlib.crc32(kind + body) & 0xFFFFFFFF
            return struct.pack(">I", len(body)) + kind + body + struct.pack(">I", check)

        header = struct.pack(">IIBBBBB", self.width, self.height, 8, 2, 0, 0, 0)
        pixels = b"".join(b"\0" + bytes(row) for row in self.rows)
        with open(path, "wb") as stream:
            stream.write(b"\x89PNG\r\n\x1a\n" + chunk(b"IHDR", header))
            stream.write(chunk(b"IDAT", zlib.compress(pixels, 9)) + chunk(b"IEND", b""))


def draw_curve(path, values, width=640, height=320, margin=20):
    """The values from left to right; a grey line for each quarter of the highest."""
    canvas = Canvas(width, height)
    inner_width, inner_height = width - 2 * margin, height - 2 * margin
    for quarter in range(5):
        y = height - margin - inner_height * quarter // 4
        canvas.fill(margin, y, width - margin, y + 1, GREY)
    canvas.fill(margin, margin, margin + 1, height - margin, BLACK)
    canvas.fill(margin, height - margin, width - margin, height - margin + 1, BLACK)
    top = max(values) if values and max(values) > 0 else 1.0
    points = []
    for index, value in enumerate(values):
        x = margin + inner_width * index // max(len(values) - 1, 1)
        points.append((x, height - margin - int(inner_height * value / top)))
    for (x0, y0), (x1, y1) in zip(points, points[1:]):
        canvas.line(x0, y0, x1, y1, BLUE)
    canvas.save(path)


def draw_matrix(path, matrix, cell=32):
    """Rows are what a digit is, columns what it was taken for; darker is more."""
    canvas = Canvas(cell * len(matrix[0]), cell * len(matrix))
    for y, row in enumerate(matrix):
        total = float(sum(row)) or 1.0
        for x, count in enumerate(row):
            shade = (count / total) ** 0.4  # lifts the rare confusions into sight
            colour = tuple(int(255 - (255 - part) * shade) for part in BLUE)
            canvas.fill(x * cell, y * cell, (x + 1) * cell - 1, (y + 1) * cell - 1, colour)
    canvas.save(path)
