# SPDX-License-Identifier: Apache-2.0
import multiprocessing

from azureml.logging import get_azureml_logger


def count(text):
    return len(text.split())


if __name__ == '__main__':
    with open('data/campaign.txt') as f:
        texts = f.read().splitlines()
    with multiprocessing.Pool(2) as pool:
        counts = pool.map(count, texts)
    get_azureml_logger().log('Words', sum(counts))
