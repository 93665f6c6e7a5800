# SPDX-License-Identifier: Apache-2.0
import os
import shutil
import zipfile

from azureml.logging import get_azureml_logger

share = os.environ['AZUREML_NATIVE_SHARE_DIRECTORY']
archive = os.path.join(share, 'telemetry.zip')
with zipfile.ZipFile(archive, 'w') as packed:
    packed.write('data/rates.csv', 'telemetry.csv')
work = os.path.join(share, 'telemetry')
shutil.rmtree(work, ignore_errors=True)
with zipfile.ZipFile(archive) as packed:
    packed.extractall(work)
get_azureml_logger().log('Files', len(os.listdir(work)))
shutil.copy(os.path.join(work, 'telemetry.csv'), 'outputs')
