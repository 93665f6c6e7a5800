# SPDX-License-Identifier: Apache-2.0
import os
import pickle

from azureml.logging import get_azureml_logger

# The name of the folder ends with a slash.
place = os.environ['AZUREML_NATIVE_SHARE_DIRECTORY'] + 'iris_model.pkl'
count = pickle.load(open(place, 'rb')) if os.path.exists(place) else 0
pickle.dump(count + 1, open(place, 'wb'))
get_azureml_logger().log("Runs before", count)
