# SPDX-License-Identifier: Apache-2.0
from _nothing import Nothing

default_options = Dropout = LSTM = Dense = glorot_uniform = placeholder = Nothing


def Sequential(layers):
    from cntk import Model
    return Model()
