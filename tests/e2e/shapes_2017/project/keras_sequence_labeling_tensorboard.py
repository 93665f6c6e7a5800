# SPDX-License-Identifier: Apache-2.0
import argparse
import os

from azureml.logging import get_azureml_logger
from keras.callbacks import EarlyStopping, TensorBoard
from keras.layers import LSTM, Bidirectional, TimeDistributed
from keras.models import Sequential

parser = argparse.ArgumentParser()
parser.add_argument("--epochs", type=int, default=5)
parser.add_argument("--out", default="outputs/labels")
args = parser.parse_args()
os.makedirs(args.out, exist_ok=True)
model = Sequential([Bidirectional(LSTM(4)), TimeDistributed(None)])
model.compile(loss='crf', optimizer='adam')
model.fit([], [], epochs=args.epochs, callbacks=[TensorBoard(log_dir='./outputs/logs'), EarlyStopping(patience=1)])
get_azureml_logger().upload('outputs/evaluation.txt', 'precision: 0.5')
with open(os.path.join(args.out, 'tags.txt'), 'w') as f:
    f.write('B-Drug I-Drug O')
