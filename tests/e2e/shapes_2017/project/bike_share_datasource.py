# SPDX-License-Identifier: Apache-2.0
from azureml.dataprep import datasource
from azureml.logging import get_azureml_logger

df = datasource.load_datasource('Churn.dsource')
get_azureml_logger().log("Columns", df.shape[1])
df.to_csv('outputs/bikes.csv', index=False)
