# SPDX-License-Identifier: Apache-2.0
import argparse
import json
import os

from azureml.logging import get_azureml_logger
from chainer import training

parser = argparse.ArgumentParser()
parser.add_argument('--epoch', '-e', type=int, default=2)
parser.add_argument('--out', '-o', default='outputs')
args = parser.parse_args()
trainer = training.Trainer(None, (args.epoch, 'epoch'), out=args.out)
trainer.extend(lambda: None, trigger=(1, 'epoch'))
trainer.run()
logger = get_azureml_logger()
for line in json.load(open(os.path.join(args.out, 'log'))):
    logger.log('main/loss', line['main/loss'])
logger.log('accuracy', line['validation/main/accuracy'])
