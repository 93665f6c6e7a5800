# SPDX-License-Identifier: Apache-2.0
"""A script whose every byte, duration and exit code follow from its arguments.

    oracle.py ATTEMPT SEED FOLDER

It writes the log that `expected(seed)` describes, to stdout and stderr in turn, and leaves marks in
FOLDER, outside of everything that ponk knows: ATTEMPT.start gets a line per start (two lines are a
run started twice), ATTEMPT.first appears just before the first log byte, ATTEMPT.end holds the exit
code just before the end.
"""
import os
import random
import sys
import time
import zlib


def expected(seed):
    """The pieces of the log, the pauses before each, and the exit code."""
    dice = random.Random(seed)
    silent = dice.uniform(0.05, 0.5)
    pieces, pauses = [], [silent]
    for sequence in range(dice.randint(5, 60)):
        length = dice.choice((0, 1, 7, 80, 80, 80, 4096, 65537)) if dice.random() < 0.5 else dice.randint(0, 200)
        body = bytes(dice.getrandbits(8) for _ in range(min(length, 4096))).replace(b"\n", b"\0")
        body = (body * (length // max(len(body), 1) + 1))[:length]
        pieces.append(b"%06d %08x %s\n" % (sequence, zlib.crc32(body), body))
        pauses.append(dice.choice((0, 0, 0.001, 0.01, 0.05)))
    if dice.random() < 0.3:
        pieces[-1] = pieces[-1][:-1]  # a last line without its newline
    code = dice.choice((0, 0, 0, 1, 2, 3, 42, 127, 200, 255))
    return pieces, pauses, code


def mark(folder, name, text):
    handle = os.open(os.path.join(folder, name), os.O_WRONLY | os.O_CREAT | os.O_APPEND, 0o600)
    os.write(handle, text.encode())
    os.close(handle)


def write_all(handle, data):
    while data:
        data = data[os.write(handle, data) :]


def main(attempt, seed, folder):
    mark(folder, attempt + ".start", "%d\n" % os.getpid())
    pieces, pauses, code = expected(seed)
    time.sleep(pauses[0])
    mark(folder, attempt + ".first", "")
    for index, piece in enumerate(pieces):
        write_all(1 + index % 2, piece)
        time.sleep(pauses[index + 1])
    mark(folder, attempt + ".end", "%d\n" % code)
    os._exit(code)


if __name__ == "__main__":
    main(sys.argv[1], int(sys.argv[2]), sys.argv[3])
