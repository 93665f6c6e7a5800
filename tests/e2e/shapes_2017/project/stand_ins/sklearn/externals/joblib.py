# SPDX-License-Identifier: Apache-2.0
import pickle


def dump(value, path):
    with open(path, "wb") as file:
        pickle.dump(value, file)


def load(path):
    with open(path, "rb") as file:
        return pickle.load(file)
