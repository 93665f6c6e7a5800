# SPDX-License-Identifier: Apache-2.0
import os
import pickle
import sys

import matplotlib
matplotlib.use('agg')
import matplotlib.pyplot as plt
from azureml.logging import get_azureml_logger
from sklearn.linear_model import LogisticRegression
from sklearn.metrics import confusion_matrix
from sklearn.model_selection import train_test_split

from iris_data import read_iris

run_logger = get_azureml_logger()
os.makedirs('./outputs', exist_ok=True)
X, Y = read_iris()
X_train, X_test, Y_train, Y_test = train_test_split(X, Y, test_size=0.35, random_state=0)
reg = float(sys.argv[1]) if len(sys.argv) > 1 else 0.01
clf = LogisticRegression(C=1 / reg).fit(X_train, Y_train)
run_logger.log("Regularization Rate", reg)
run_logger.log("Accuracy", clf.score(X_test, Y_test))
print(confusion_matrix(Y_test, clf.predict(X_test)).shape)
with open('./outputs/model.pkl', 'wb') as f:
    pickle.dump(clf, f)
clf2 = pickle.load(open('./outputs/model.pkl', 'rb'))
print("Predicted class is {}".format(clf2.predict([[0.1, 3, 1, 0]])))
plt.figure(figsize=(6, 4))
plt.imshow([[1]], interpolation='nearest')
plt.savefig("./outputs/cm.png")
fig = plt.figure()
fig.savefig("./outputs/roc.png", bbox_inches='tight')
