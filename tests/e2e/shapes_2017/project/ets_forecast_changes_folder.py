# SPDX-License-Identifier: Apache-2.0
import os
import statistics

from azureml.logging import get_azureml_logger

os.chdir('data')
values = [float(line.split(',')[1]) for line in open('rates.csv')]
forecast = values[0]
for value in values[1:]:
    forecast = 0.5 * forecast + 0.5 * value
get_azureml_logger().log('Forecast', forecast)
get_azureml_logger().log('Deviation', statistics.pstdev(values))
os.chdir('..')
with open('outputs/forecast.txt', 'w') as f:
    f.write(str(forecast))
