# SPDX-License-Identifier: Apache-2.0
from azureml_sdk import data_collector
from dataprep.Package import Package

run_logger = data_collector.current_run()
with Package.open_package('Churn Data.dprep') as pkg:
    df = pkg.dataflows[0].get_dataframe()
run_logger.metrics.custom_scalar("Rows", df.shape[0])
run_logger.log("Accuracy", 0.5)
