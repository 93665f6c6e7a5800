# SPDX-License-Identifier: Apache-2.0
import numpy as np


class LogisticRegression(object):
    """The nearest of the classes' centres."""

    def __init__(self, C=1.0, **more):
        self.C = C

    def fit(self, X, Y):
        X, Y = np.asarray(X, float), np.asarray(Y)
        self.classes_ = np.unique(Y)
        self.centers = np.array([X[Y == kind].mean(axis=0) for kind in self.classes_])
        return self

    def predict(self, X):
        away = np.abs(np.asarray(X, float)[:, None, :] - self.centers).sum(axis=2)
        return self.classes_[away.argmin(axis=1)]

    def score(self, X, Y):
        return float(np.mean(self.predict(X) == np.asarray(Y)))


class LinearRegression(object):
    def fit(self, X, Y):
        self.coef_ = np.linalg.lstsq(np.c_[np.asarray(X, float), np.ones(len(X))], np.asarray(Y, float), rcond=None)[0]
        return self

    def predict(self, X):
        return np.c_[np.asarray(X, float), np.ones(len(X))] @ self.coef_
