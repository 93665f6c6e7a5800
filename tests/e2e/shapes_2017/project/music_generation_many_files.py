# SPDX-License-Identifier: Apache-2.0
import os
import random
import sys

from azureml.logging import get_azureml_logger

random.seed(int(sys.argv[1]))
for song in range(20):
    folder = os.path.join('outputs', 'songs', str(song % 3))
    os.makedirs(folder, exist_ok=True)
    with open(os.path.join(folder, 'song%02d.mid' % song), 'wb') as f:
        f.write(b'MThd' + bytes(random.randrange(256) for _ in range(50)))
get_azureml_logger().log('Songs', 20)
