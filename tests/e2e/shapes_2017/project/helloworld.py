# SPDX-License-Identifier: Apache-2.0
import platform
import time

from azureml.logging import get_azureml_logger

logger = get_azureml_logger()
begin = time.time()
print('hello from Zürich, Python', platform.python_version().split('.')[0])
logger.log('Amazing Stat', 42)
logger.log('Duration', time.time() - begin)
