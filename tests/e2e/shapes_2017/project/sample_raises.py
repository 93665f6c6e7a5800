# SPDX-License-Identifier: Apache-2.0
from azureml.logging import get_azureml_logger

get_azureml_logger().log('Before', 1)
raise ValueError('the data has no column "label"')
