# SPDX-License-Identifier: Apache-2.0
import json


class History(object):
    def __init__(self):
        self.history = {}


class Sequential(object):
    def __init__(self, layers=()):
        self.layers = list(layers)

    def add(self, layer):
        self.layers.append(layer)

    def compile(self, **more):
        pass

    def fit(self, x, y, epochs=1, callbacks=(), **more):
        """The loss is 1, 1/2, 1/3 …"""
        past = History()
        for callback in callbacks:
            callback.model = self
            callback.on_train_begin()
        for epoch in range(epochs):
            loss = 1.0 / (epoch + 1)
            logs = {"loss": loss, "acc": 1 - loss / 2, "val_loss": loss * 2, "val_acc": 1 - loss}
            for name, value in logs.items():
                past.history.setdefault(name, []).append(value)
            for callback in callbacks:
                callback.on_epoch_end(epoch, logs)
        return past

    def evaluate(self, x, y, **more):
        return [0.25, 0.875]

    def predict(self, x):
        return [[0.9, 0.1] for _ in x]

    def to_json(self):
        return json.dumps({"layers": len(self.layers)})

    def save(self, path):
        open(path, "w").write(self.to_json())

    save_weights = save


def load_model(path):
    model = Sequential()
    model.layers = [None] * json.load(open(path))["layers"]
    return model
