# SPDX-License-Identifier: Apache-2.0
import pickle

__version__ = "0.3.0"


class cuda(object):
    is_available = staticmethod(lambda: False)


def save(value, path):
    with open(path, "wb") as file:
        pickle.dump(value, file)


def load(path):
    with open(path, "rb") as file:
        return pickle.load(file)
