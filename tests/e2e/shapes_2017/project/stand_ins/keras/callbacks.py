# SPDX-License-Identifier: Apache-2.0
class Callback(object):
    model = None

    def on_train_begin(self, logs=None):
        pass

    def on_epoch_end(self, epoch, logs=None):
        pass


class EarlyStopping(Callback):
    def __init__(self, **more):
        pass


class ModelCheckpoint(Callback):
    def __init__(self, filepath, **more):
        self.filepath = filepath

    def on_epoch_end(self, epoch, logs=None):
        self.model.save(self.filepath.format(epoch=epoch, **logs))


class TensorBoard(Callback):
    def __init__(self, log_dir, **more):
        from event_writer import EventWriter
        self.writer = EventWriter(log_dir)

    def on_epoch_end(self, epoch, logs=None):
        for name, value in sorted(logs.items()):
            self.writer.scalar(name, value, epoch)
