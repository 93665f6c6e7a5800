# SPDX-License-Identifier: Apache-2.0
import sys

from azureml.logging import get_azureml_logger

get_azureml_logger().log('R2', 0.125)
with open('outputs/partial.txt', 'w') as f:
    f.write('half')
sys.exit(3)
