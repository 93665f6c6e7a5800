# SPDX-License-Identifier: Apache-2.0
from sklearn.cross_validation import train_test_split  # noqa: F401
