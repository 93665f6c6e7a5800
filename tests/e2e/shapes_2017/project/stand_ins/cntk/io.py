# SPDX-License-Identifier: Apache-2.0
INFINITELY_REPEAT = -1


def StreamDef(field, shape, is_sparse=False, transforms=()):
    return field


def StreamDefs(**fields):
    return fields


class CTFDeserializer(object):
    """Lines such as "|labels 0 1 |features 1 2"."""

    def __init__(self, path, streams):
        self.rows = [dict(part.split(None, 1) for part in line.split("|")[1:]) for line in open(path)]
        self.streams = dict(streams)


class MinibatchSource(object):
    def __init__(self, source, randomize=True, max_sweeps=INFINITELY_REPEAT):
        self.rows, self.streams = source.rows, source.streams

    def next_minibatch(self, size, input_map=None):
        return {name: [row[field] for row in self.rows[:size]] for name, field in self.streams.items()}
