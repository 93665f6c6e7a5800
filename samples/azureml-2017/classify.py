# SPDX-License-Identifier: Apache-2.0
# Logistic regression in the manner of 2017: azureml.logging, the shared folder by string
# concatenation, a model in ./outputs. Nothing here knows ponk.
import math
import os
import pickle
import random
import sys

from azureml.logging import get_azureml_logger

run_logger = get_azureml_logger()

# regularization rate, as first argument
reg = 0.01
if len(sys.argv) > 1:
    reg = float(sys.argv[1])
print("Regularization rate is {}".format(reg))
run_logger.log("Regularization Rate", reg)

os.makedirs('./outputs', exist_ok=True)

# two clouds of points that overlap a little
random.seed(42)
points = []
for label, centre in ((0, -1.0), (1, 1.0)):
    for _ in range(200):
        points.append((random.gauss(centre, 1.0), random.gauss(centre, 1.0), label))
random.shuffle(points)
train, test = points[:300], points[300:]

w = [0.0, 0.0, 0.0]
losses = []
for epoch in range(50):
    loss = 0.0
    for x, y, label in train:
        p = 1.0 / (1.0 + math.exp(-(w[0] * x + w[1] * y + w[2])))
        loss -= math.log(max(p if label else 1.0 - p, 1e-12))
        for i, value in enumerate((x, y, 1.0)):
            w[i] -= 0.05 * ((p - label) * value + reg * w[i])
    losses.append(loss / len(train))

right = sum(1 for x, y, label in test if (w[0] * x + w[1] * y + w[2] > 0) == bool(label))
accuracy = right / float(len(test))
print("Accuracy is {}".format(accuracy))
run_logger.log("Accuracy", accuracy)
run_logger.log("Loss", losses)

with open('./outputs/model.pkl', 'wb') as f:
    pickle.dump(w, f)

# what outlives a run goes to the shared folder; its name ends with a slash
share = os.environ.get('AZUREML_NATIVE_SHARE_DIRECTORY')
if share:
    with open(share + 'last_model.pkl', 'wb') as f:
        pickle.dump(w, f)
    print("Model kept as {}".format(share + 'last_model.pkl'))
