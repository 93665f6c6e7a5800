# SPDX-License-Identifier: Apache-2.0
import os

import keras
from azureml.logging import get_azureml_logger
from keras.callbacks import Callback, ModelCheckpoint
from keras.datasets import mnist
from keras.layers import Conv2D, Dense, Dropout, Flatten, MaxPooling2D
from keras.models import Sequential

run_logger = get_azureml_logger()


class LogEpochs(Callback):
    def on_epoch_end(self, epoch, logs={}):
        run_logger.log("Loss", logs.get('loss'))
        run_logger.log("Validation Accuracy", logs.get('val_acc'))


(x_train, y_train), (x_test, y_test) = mnist.load_data()
model = Sequential([Conv2D(32, (3, 3)), MaxPooling2D(), Dropout(0.25), Flatten()])
model.add(Dense(10, activation='softmax'))
model.compile(loss=keras.losses if hasattr(keras, 'losses') else 'categorical_crossentropy', optimizer=keras.optimizers.Adadelta())
model.fit(x_train, keras.utils.to_categorical(y_train, 10), batch_size=8, epochs=3, verbose=0,
          callbacks=[LogEpochs(), ModelCheckpoint(os.path.join('outputs', 'weights.{epoch:02d}-{val_loss:.2f}.hdf5'))])
score = model.evaluate(x_test, keras.utils.to_categorical(y_test, 10), verbose=0)
run_logger.log("Test Accuracy", score[1])
model.save(os.path.join('outputs', 'model.h5'))
