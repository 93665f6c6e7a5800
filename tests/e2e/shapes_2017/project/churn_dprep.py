# SPDX-License-Identifier: Apache-2.0
import pickle

from azureml.dataprep.package import run
from azureml.logging import get_azureml_logger

logger = get_azureml_logger()
df = run('Churn Data.dprep', dataflow_idx=0)
churned = df[df['churn'] == 'yes']
logger.log("Churned", len(churned))
logger.log("Mean Age", churned['age'].mean())
with open('./outputs/model.pkl', 'wb') as f:
    pickle.dump(dict(churned['age']), f)
