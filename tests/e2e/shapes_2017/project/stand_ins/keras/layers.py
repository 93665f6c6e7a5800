# SPDX-License-Identifier: Apache-2.0
from _nothing import Nothing

Dense = Dropout = Flatten = Conv2D = MaxPooling2D = Embedding = LSTM = Bidirectional = TimeDistributed = Activation = Nothing
