# SPDX-License-Identifier: Apache-2.0
"""azureml.datacollector as of 2017: scoring scripts kept the inputs and predictions of a deployed
service with it. In a run there is no such service."""
import sys

__all__ = ["ModelDataCollector"]


class ModelDataCollector(object):
    _said = False

    def __init__(self, model_name, identifier="default", feature_names=None, **more):
        self.model_name = model_name
        self.identifier = identifier

    def collect(self, input_data, user_correlation_id=""):
        """Keeps nothing, as runs outside of the service did, and says so once."""
        if not ModelDataCollector._said:
            ModelDataCollector._said = True
            sys.stderr.write("azureml.datacollector: collect() keeps nothing in a run; "
                             "ponk.log_table or a file in ./outputs keeps data\n")
        return ""
