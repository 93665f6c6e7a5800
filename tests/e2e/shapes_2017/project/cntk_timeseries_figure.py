# SPDX-License-Identifier: Apache-2.0
import math

import cntk as C
import matplotlib
matplotlib.use('Agg')
import matplotlib.pyplot as plt
from azureml.logging import get_azureml_logger

series = [math.sin(step / 5) for step in range(50)]
trainer = C.Trainer(C.layers.Sequential([C.layers.LSTM(5)]), (None, None), [C.learners.sgd()])
run_logger = get_azureml_logger()
for epoch in range(3):
    trainer.train_minibatch(series)
    run_logger.log("mse", trainer.previous_minibatch_loss_average).wait()
fig, axes = plt.subplots(1, 2)
axes[0].plot(series)
plt.savefig('outputs/predictions.png')
