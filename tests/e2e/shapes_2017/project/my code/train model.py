# SPDX-License-Identifier: Apache-2.0
import sys

from azureml.logging import get_azureml_logger

print(sys.argv)
get_azureml_logger().log('Arguments', len(sys.argv) - 1)
