# SPDX-License-Identifier: Apache-2.0
def cpu():
    return "cpu"


def gpu(number):
    return "gpu %d" % number


def try_set_default_device(one):
    return one == "cpu"
