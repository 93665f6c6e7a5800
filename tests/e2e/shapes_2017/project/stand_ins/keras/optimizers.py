# SPDX-License-Identifier: Apache-2.0
from _nothing import Nothing

Adam = Adadelta = SGD = Nothing
