# SPDX-License-Identifier: Apache-2.0
class DMatrix(object):
    def __init__(self, data, label=None):
        self.data, self.label = data, label


class Booster(object):
    def save_model(self, path):
        open(path, "w").write("trees")


def train(params, dtrain, num_boost_round, evals, evals_result, verbose_eval=False):
    for _, name in evals:
        evals_result[name] = {"auc": [1 - 1.0 / (round + 2) for round in range(num_boost_round)]}
    return Booster()
