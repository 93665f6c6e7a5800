# SPDX-License-Identifier: Apache-2.0
from _nothing import Nothing

relu = input_variable = parameter = Nothing
