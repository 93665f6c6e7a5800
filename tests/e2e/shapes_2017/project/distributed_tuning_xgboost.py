# SPDX-License-Identifier: Apache-2.0
import itertools

import numpy as np
import xgboost as xgb
from azureml.logging import get_azureml_logger

logger = get_azureml_logger()
data = xgb.DMatrix(np.zeros((4, 2)), label=[0, 1, 0, 1])
best = None
for depth, rate in itertools.product((2, 4), (0.1, 0.3)):
    found = {}
    booster = xgb.train({'max_depth': depth, 'eta': rate}, data, num_boost_round=depth, evals=[(data, 'train')], evals_result=found)
    score = found['train']['auc'][-1]
    if best is None or score > best[0]:
        best = (score, depth, rate, booster, found['train']['auc'])
logger.log("AUC", best[4])
logger.log("Best Depth", best[1])
best[3].save_model('./outputs/best.model')
