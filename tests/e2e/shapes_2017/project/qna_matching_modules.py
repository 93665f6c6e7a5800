# SPDX-License-Identifier: Apache-2.0
import warnings

from azureml.logging import get_azureml_logger
from modules.ranking import Ranking

warnings.filterwarnings("ignore")
run_logger = get_azureml_logger()
ranking = Ranking(seed=1)
for k in (1, 3, 10):
    run_logger.log("Top %d" % k, ranking.at(k))
ranking.save('./outputs/ranking.pkl')
