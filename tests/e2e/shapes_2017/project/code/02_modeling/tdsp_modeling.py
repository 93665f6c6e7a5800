# SPDX-License-Identifier: Apache-2.0
import os
import sys

sys.path.append(os.path.join(os.getcwd(), "code", "01_data"))
from azureml.logging import get_azureml_logger
from prepare import prepare
from sklearn.externals import joblib
from sklearn.linear_model import LinearRegression

logger = get_azureml_logger()
X, Y = prepare(os.path.join('data', 'rates.csv'))
model = LinearRegression().fit(X, Y)
logger.log("slope", round(float(model.coef_[0]), 6))
joblib.dump(model, os.path.join('outputs', 'model.pkl'))
