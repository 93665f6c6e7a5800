# SPDX-License-Identifier: Apache-2.0
import numpy as np


class mnist(object):
    @staticmethod
    def load_data():
        pixels = np.arange(40 * 28 * 28).reshape(40, 28, 28) % 256
        return (pixels[:30], np.arange(30) % 10), (pixels[30:], np.arange(10))
