# SPDX-License-Identifier: Apache-2.0
from _nothing import Nothing
from cntk import device, io, layers, learners, logging, ops, train  # noqa: F401

__version__ = "2.2"


class UnitType(object):
    minibatch, sample = "minibatch", "sample"


class Communicator(object):
    rank = staticmethod(lambda: 0)


class Model(Nothing):
    def save(self, path):
        open(path, "w").write("cntk")

    clone = lambda self, *words: self


class Trainer(object):
    """The average loss is 1, 1/2, 1/3 …"""
    seen = 0
    previous_minibatch_evaluation_average = 0.125

    def __init__(self, model, criteria, learners, writers=()):
        self.writers = [writers] if hasattr(writers, "on_write") else list(writers)

    def train_minibatch(self, data):
        self.seen += 1
        for writer in self.writers:
            writer.on_write(self.seen, self.previous_minibatch_loss_average)

    def test_minibatch(self, data):
        return 0.125

    @property
    def previous_minibatch_loss_average(self):
        return 1.0 / self.seen


def load_model(path):
    open(path).close()
    return Model()


def combine(outputs):
    return Model()


def Function(model):
    return Model()


def __getattr__(name):
    return Nothing()
