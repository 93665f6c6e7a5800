# SPDX-License-Identifier: Apache-2.0
class ProgressPrinter(object):
    def __init__(self, freq=1, tag="", num_epochs=1, rank=None):
        self.freq, self.tag = freq, tag

    def on_write(self, number, loss):
        if number % self.freq == 0:
            print("%s Minibatch[%d]: loss = %.4f" % (self.tag, number, loss))


class graph(object):
    @staticmethod
    def find_by_name(model, name):
        return model


def log_number_of_parameters(model):
    print("Training 2 parameters")
