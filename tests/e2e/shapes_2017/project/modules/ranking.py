# SPDX-License-Identifier: Apache-2.0
import pickle


class Ranking(object):
    def __init__(self, seed):
        self.seed = seed

    def at(self, k):
        return 1 - 1.0 / (k + self.seed)

    def save(self, path):
        with open(path, 'wb') as file:
            pickle.dump(self, file)
