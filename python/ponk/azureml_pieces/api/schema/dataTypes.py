# SPDX-License-Identifier: Apache-2.0


class DataTypes(object):
    STANDARD = 0
    NUMPY = 1
    SPARK = 2
    PANDAS = 3
