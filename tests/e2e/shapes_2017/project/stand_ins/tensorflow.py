# SPDX-License-Identifier: Apache-2.0
import os
import sys

from _nothing import Nothing

__version__ = "1.4.0"
float32 = "float32"


class Session(Nothing):
    """Each look at the graph gives 1, 1/2, 1/3 …"""
    looks = 0

    def run(self, what, feed_dict=None):
        if feed_dict is None:
            return None
        self.looks += 1
        return [None, 1.0 / self.looks]


class app(object):
    flags = None

    @staticmethod
    def run(main=None, argv=None):
        sys.exit((main or sys.modules["__main__"].main)(argv or sys.argv))


class Saver(object):
    def save(self, session, path, global_step=0):
        folder = os.path.dirname(path)
        os.makedirs(folder, exist_ok=True)
        name = "%s-%d" % (path, global_step)
        for ending in (".index", ".meta", ".data-00000-of-00001"):
            open(name + ending, "w").write("x")
        open(os.path.join(folder, "checkpoint"), "w").write(name)
        return name


class FileWriter(object):
    def __init__(self, folder, graph=None):
        from event_writer import EventWriter
        self.writer = EventWriter(folder)

    def add_summary(self, values, step):
        for name, value in values.items():
            self.writer.scalar(name, value, step)

    def close(self):
        pass


class train(object):
    Saver = Saver
    GradientDescentOptimizer = Nothing


class summary(object):
    FileWriter = FileWriter


class gfile(object):
    Exists = staticmethod(os.path.exists)
    ListDirectory = staticmethod(os.listdir)


def device(name):
    print("device placement: " + name)
    return Nothing()


def __getattr__(name):
    return Nothing()
