# SPDX-License-Identifier: Apache-2.0
"""The same runs for every page: many small ones, one of many metrics, one of a very long metric with planted spikes.

    page_data.py FOLDER RUNS METRICS POINTS     event files of TensorBoard; NumPy is needed
"""
import json
import os
import sqlite3
import sys

import load_values

# Each has its own run, named so in every program.
WIDE, LONG = "wide", "long"
POINTS_OF_WIDE = 100
SPIKES, SPIKE = 1000, 100.0
PIECE = 1 << 20


def wide_key(number):
    return "layer.%03d/%s" % (number // 10, "abcdefghij"[number % 10])


def run_id(name):
    return name.encode().hex().ljust(32, "0")


class Data:
    def __init__(self, runs, metrics, points):
        self.runs, self.metrics, self.points = runs, metrics, points
        # None at an end, and never at a round number.
        self.spikes = range(points // SPIKES // 2 + 7, points, points // SPIKES) if points >= SPIKES * 20 else range(points // 2, points, points)

    def series(self):
        """(wide run's key, step, value) of all of its points."""
        for number in range(self.metrics):
            for step in range(POINTS_OF_WIDE):
                yield wide_key(number), step, number / self.metrics + 1.0 / (step + 1)

    def long_values(self, first, count):
        """The long metric's values from a step on."""
        return [SPIKE if step in self.spikes else step * 7919 % 1000 / 1000 for step in range(first, first + count)]

    def long_pieces(self):
        for first in range(0, self.points, PIECE):
            yield first, self.long_values(first, min(PIECE, self.points - first))


def fill_mlflow(server, data):
    """Straight into the tables that the server made; its API would take hours."""
    experiment = server.make_experiment("page")
    server.add_runs(experiment, data.runs)
    with sqlite3.connect(server.database) as database:
        database.execute("PRAGMA synchronous = OFF")
        for number, name in enumerate((WIDE, LONG)):
            database.execute(
                "INSERT INTO runs(run_uuid, name, source_type, source_name, entry_point_name, user_id, status, start_time,"
                " end_time, deleted_time, source_version, lifecycle_stage, artifact_uri, experiment_id)"
                " VALUES(?, ?, 'UNKNOWN', '', '', '', 'FINISHED', ?, ?, NULL, '', 'active', '', ?)",
                (run_id(name), name, *[load_values.FIRST_TIME + (data.runs + number) * 10**3] * 2, int(experiment)))
            database.execute("INSERT INTO tags(key, value, run_uuid) VALUES('mlflow.runName', ?, ?)", (name, run_id(name)))
        insert = "INSERT INTO metrics(key, value, timestamp, step, is_nan, run_uuid) VALUES(?, ?, ?, ?, 0, ?)"
        latest = "INSERT INTO latest_metrics(key, value, timestamp, step, is_nan, run_uuid) VALUES(?, ?, ?, ?, 0, ?)"
        at = load_values.FIRST_TIME
        database.executemany(insert, ((key, value, at + step, step, run_id(WIDE)) for key, step, value in data.series()))
        database.executemany(latest, ((key, value, at + step, step, run_id(WIDE)) for key, step, value in data.series()
                                      if step == POINTS_OF_WIDE - 1))
        for first, values in data.long_pieces():
            database.executemany(insert, (("loss", value, at + step, step, run_id(LONG))
                                          for step, value in enumerate(values, first)))
        last = data.points - 1
        database.execute(latest, ("loss", data.long_values(last, 1)[0], at + last, last, run_id(LONG)))
    return experiment


class Crc32c:
    """Of many records of one length at once."""

    def __init__(self):
        import numpy
        self.numpy = numpy
        table = numpy.arange(256, dtype=numpy.uint32)
        for _ in range(8):
            table = (table >> 1) ^ numpy.where(table & 1, numpy.uint32(0x82F63B78), numpy.uint32(0))
        self.table = table

    def masked(self, rows):
        crc = self.numpy.full(len(rows), 0xFFFFFFFF, dtype=self.numpy.uint32)
        for column in range(rows.shape[1]):
            crc = self.table[(crc ^ rows[:, column]) & 0xFF] ^ (crc >> 8)
        crc = ~crc
        return ((crc >> 15) | (crc << 17)) + self.numpy.uint32(0xA282EAD8)


class EventFile:
    """TensorBoard's event file: records of a length, its checksum, an Event message and its checksum."""

    def __init__(self, folder):
        import numpy
        self.numpy, self.crc = numpy, Crc32c()
        os.makedirs(folder)
        self.stream = open(os.path.join(folder, "events.out.tfevents.1700000000.host"), "wb")
        # wall_time = 1.7e9, file_version = "brain.Event:2"
        self.records(numpy.frombuffer(b"\x09" + numpy.float64(1.7e9).tobytes() + b"\x1a\x0dbrain.Event:2", numpy.uint8).reshape(1, -1))

    def records(self, rows):
        numpy = self.numpy
        length = numpy.frombuffer(numpy.uint64(rows.shape[1]).tobytes(), numpy.uint8).reshape(1, 8)
        head = numpy.concatenate([length, self.crc.masked(length).view(numpy.uint8).reshape(1, 4)], axis=1)
        tail = self.crc.masked(numpy.ascontiguousarray(rows)).view(numpy.uint8).reshape(-1, 4)
        self.stream.write(numpy.concatenate([numpy.repeat(head, len(rows), axis=0), rows, tail], axis=1).tobytes())

    def scalars(self, tag, first, values):
        """Points of one tag with the steps from first on; steps whose varints have one length are written at once."""
        numpy = self.numpy
        steps = numpy.arange(first, first + len(values), dtype=numpy.uint64)
        for size in range(1, 6):
            low, high = 0 if size == 1 else 1 << 7 * (size - 1), 1 << 7 * size
            chosen = (steps >= low) & (steps < high)
            if not chosen.any():
                continue
            part = steps[chosen]
            step = numpy.stack([((part >> numpy.uint64(7 * at)) & numpy.uint64(127)).astype(numpy.uint8) | (128 if at < size - 1 else 0)
                                for at in range(size)], axis=1)
            wall = numpy.full(len(part), 1.7e9) + part / 1000.0
            name = tag.encode()
            value = b"\x0a" + bytes([len(name)]) + name + b"\x15"
            summary = b"\x2a" + bytes([len(value) + 6]) + b"\x0a" + bytes([len(value) + 4]) + value
            columns = [self.fixed(b"\x09", part), wall.view(numpy.uint8).reshape(-1, 8), self.fixed(b"\x10", part), step,
                       self.fixed(summary, part), numpy.asarray(values)[chosen].astype(numpy.float32).view(numpy.uint8).reshape(-1, 4)]
            self.records(numpy.concatenate(columns, axis=1))

    def fixed(self, text, rows):
        return self.numpy.repeat(self.numpy.frombuffer(text, self.numpy.uint8).reshape(1, -1), len(rows), axis=0)


def fill_tensorboard(folder, data):
    wide = EventFile(os.path.join(folder, WIDE))
    for number in range(data.metrics):
        wide.scalars(wide_key(number), 0, [number / data.metrics + 1.0 / (step + 1) for step in range(POINTS_OF_WIDE)])
    wide.stream.close()
    long = EventFile(os.path.join(folder, LONG))
    for first, values in data.long_pieces():
        long.scalars("loss", first, values)
    long.stream.close()


def fill_trackio(databases, data):
    """Rows of the tables that trackio.init made, in a project for each run: a line of JSON for each step."""
    insert = "INSERT INTO metrics(run_id, timestamp, run_name, step, metrics) VALUES(?, '2024-01-01T00:00:00+00:00', ?, ?, ?)"
    with sqlite3.connect(databases[WIDE]) as database:
        for step in range(POINTS_OF_WIDE):
            values = {wide_key(number): number / data.metrics + 1.0 / (step + 1) for number in range(data.metrics)}
            database.execute(insert, (run_id(WIDE), WIDE, step, json.dumps(values)))
    with sqlite3.connect(databases[LONG]) as database:
        database.execute("PRAGMA synchronous = OFF")
        for first, values in data.long_pieces():
            database.executemany(insert, ((run_id(LONG), LONG, step, '{"loss": %r}' % value) for step, value in enumerate(values, first)))


if __name__ == "__main__":
    fill_tensorboard(sys.argv[1], Data(*map(int, sys.argv[2:])))
