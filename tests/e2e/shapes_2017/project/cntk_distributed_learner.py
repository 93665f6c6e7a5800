# SPDX-License-Identifier: Apache-2.0
import cntk
from azureml.logging import get_azureml_logger
from cntk.train import distributed

learner = distributed.data_parallel_distributed_learner(cntk.sgd([], 0.1), num_quantization_bits=1)
if distributed.Communicator.rank() == 0:
    get_azureml_logger().log('Workers', distributed.Communicator.num_workers())
distributed.Communicator.finalize()
