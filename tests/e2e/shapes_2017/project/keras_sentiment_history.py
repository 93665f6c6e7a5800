# SPDX-License-Identifier: Apache-2.0
import pickle

import matplotlib
matplotlib.use('Agg')
from azureml.logging import get_azureml_logger
from keras.layers import LSTM, Dense, Embedding
from keras.models import Sequential
from keras.preprocessing import Tokenizer
from matplotlib import pyplot as plt

texts = ["a good film", "a bad film"]
tokenizer = Tokenizer()
tokenizer.fit_on_texts(texts)
model = Sequential([Embedding(10, 4), LSTM(4), Dense(1)])
history = model.fit(tokenizer.texts_to_sequences(texts), [1, 0], epochs=4, validation_split=0.5)
logger = get_azureml_logger()
for name in ('loss', 'acc', 'val_loss', 'val_acc'):
    logger.log(name, history.history[name])
plt.plot(history.history['acc'])
plt.legend(['train', 'test'], loc='upper left')
plt.savefig('outputs/accuracy.png')
with open('outputs/tokenizer.pickle', 'wb') as handle:
    pickle.dump(tokenizer, handle, protocol=pickle.HIGHEST_PROTOCOL)
