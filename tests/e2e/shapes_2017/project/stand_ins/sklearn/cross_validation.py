# SPDX-License-Identifier: Apache-2.0
import numpy as np


def train_test_split(X, Y, test_size=0.25, random_state=0):
    order = np.random.RandomState(random_state).permutation(len(X))
    cut = int(len(X) * (1 - test_size))
    return X[order[:cut]], X[order[cut:]], Y[order[:cut]], Y[order[cut:]]
