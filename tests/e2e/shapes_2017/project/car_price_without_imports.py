# SPDX-License-Identifier: Apache-2.0
# The predecessor had 'os' and 'sys' in the namespace of scripts.
from azureml.logging import get_azureml_logger

if not os.path.exists('./outputs/cars'):  # noqa: F821
    os.makedirs('./outputs/cars')  # noqa: F821
with open('./outputs/cars/price.txt', 'w') as file:
    file.write(sys.argv[1])  # noqa: F821
get_azureml_logger().log('Price', float(sys.argv[1]))  # noqa: F821
