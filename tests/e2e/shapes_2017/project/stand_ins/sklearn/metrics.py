# SPDX-License-Identifier: Apache-2.0
import numpy as np


def confusion_matrix(Y, guessed):
    kinds = sorted(set(Y) | set(guessed))
    return np.array([[sum((Y == a) & (guessed == b)) for b in kinds] for a in kinds])


def mean_squared_error(Y, guessed):
    return float(np.mean((np.asarray(Y) - np.asarray(guessed)) ** 2))


def roc_auc_score(Y, scores):
    Y, scores = np.asarray(Y), np.asarray(scores)
    above = scores[Y == 1][:, None] - scores[Y == 0]
    return float(np.mean((above > 0) + 0.5 * (above == 0)))
