# SPDX-License-Identifier: Apache-2.0
import csv
import glob
import os

from azureml.logging import get_azureml_logger

found = {}
for folder, _, names in os.walk('data/tiles'):
    for name in names:
        found.setdefault(os.path.basename(folder), []).append(os.path.getsize(os.path.join(folder, name)))
with open('outputs/tiles.csv', 'w', newline='') as f:
    csv.writer(f).writerows(sorted((kind, len(sizes), sum(sizes)) for kind, sizes in found.items()))
get_azureml_logger().log('Tiles', len(glob.glob('data/tiles/*/*.tif')))
