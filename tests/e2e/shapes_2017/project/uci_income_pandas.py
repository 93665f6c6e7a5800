# SPDX-License-Identifier: Apache-2.0
import numpy as np
import pandas as pd
from azureml.logging import get_azureml_logger
from sklearn.cross_validation import train_test_split
from sklearn.linear_model import LogisticRegression
from sklearn.metrics import roc_auc_score

run_logger = get_azureml_logger()
frame = pd.read_csv('data/income.csv', names=['age', 'work', 'label'], sep=', ', engine='python', na_values='?').dropna()
X = pd.get_dummies(frame[['age', 'work']]).values.astype(float)
Y = (frame['label'] == '>50K').values.astype(int)
X_train, X_test, Y_train, Y_test = train_test_split(X, Y, test_size=0.5, random_state=1)
model = LogisticRegression().fit(X_train, Y_train)
run_logger.log('rows', len(frame))
run_logger.log('AUC', roc_auc_score(Y, X[:, 0]))
run_logger.log('Curve', list(np.linspace(0, 1, 5)))
frame.groupby('work').mean(numeric_only=True).to_csv('./outputs/by_work.csv')
