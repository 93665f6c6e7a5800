# SPDX-License-Identifier: Apache-2.0
from _nothing import Nothing

learning_rate_schedule = momentum_schedule = momentum_sgd = sgd = Nothing
