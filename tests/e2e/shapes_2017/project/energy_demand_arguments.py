# SPDX-License-Identifier: Apache-2.0
import argparse

from azureml.logging import get_azureml_logger

parser = argparse.ArgumentParser()
parser.add_argument('--model', choices=['ets', 'forest'], default='ets')
parser.add_argument('--lags', type=int, nargs='+', default=[1])
parser.add_argument('--verbose', action='store_true')
args = parser.parse_args()
run_logger = get_azureml_logger()
run_logger.log('Model', args.model)
run_logger.log('Lags', len(args.lags))
run_logger.log('MAPE', sum(args.lags) / 100)
with open('./outputs/%s_results.txt' % args.model, 'w') as out:
    print(args, file=out)
