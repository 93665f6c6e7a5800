# SPDX-License-Identifier: Apache-2.0
from azureml.assets import get_local_path
from azureml.logging import get_azureml_logger

with open(get_local_path('assets/model.pkl.link')) as f:
    get_azureml_logger().log('Model', f.read())
