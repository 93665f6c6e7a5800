# SPDX-License-Identifier: Apache-2.0
import os

from azureml.logging import get_azureml_logger
from keras import backend as K
from keras.models import Sequential, load_model

account, key = os.environ['STORAGE_ACCOUNT'], os.environ['STORAGE_KEY']
logger = get_azureml_logger()
logger.log('Account', account)
logger.log('Key Length', len(key))
model = Sequential()
path = os.path.join(os.environ['AZUREML_NATIVE_SHARE_DIRECTORY'], 'model.h5')
model.save(path)
K.clear_session()
print(len(load_model(path).layers), 'layers')
with open('outputs/model_path.txt', 'w') as f:
    f.write(path)
