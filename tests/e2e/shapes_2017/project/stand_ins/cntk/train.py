# SPDX-License-Identifier: Apache-2.0
class distributed(object):
    class Communicator(object):
        rank = staticmethod(lambda: 0)
        num_workers = staticmethod(lambda: 1)
        finalize = staticmethod(lambda: None)

    @staticmethod
    def data_parallel_distributed_learner(learner, num_quantization_bits=32):
        return learner
