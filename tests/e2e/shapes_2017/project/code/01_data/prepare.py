# SPDX-License-Identifier: Apache-2.0
import csv


def prepare(path):
    with open(path) as file:
        rows = [[float(field) for field in row] for row in csv.reader(file)]
    return [row[:1] for row in rows], [row[1] for row in rows]
