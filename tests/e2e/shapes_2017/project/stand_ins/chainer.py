# SPDX-License-Identifier: Apache-2.0
import json
import os


class training(object):
    class Trainer(object):
        def __init__(self, updater, stop, out):
            self.epochs, self.out, self.extensions = stop[0], out, []

        def extend(self, extension, **more):
            self.extensions.append(extension)

        def run(self):
            os.makedirs(self.out, exist_ok=True)
            log = [{"epoch": n, "main/loss": 1.0 / n, "validation/main/accuracy": 1 - 1.0 / (2 * n)} for n in range(1, self.epochs + 1)]
            json.dump(log, open(os.path.join(self.out, "log"), "w"))
