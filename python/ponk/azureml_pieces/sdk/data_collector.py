# SPDX-License-Identifier: Apache-2.0
"""The name of azureml.logging in the first builds of 2017:

    from azureml.sdk import data_collector
    run_logger = data_collector.current_run()
    run_logger.log("Accuracy", 0.93)
    run_logger.metrics.custom_scalar("Accuracy", 0.93)
"""
from azureml.logging import RunLogger

__all__ = ["current_run"]


class _Metrics(object):
    def __init__(self, logger):
        self._logger = logger

    def custom_scalar(self, name, value):
        return self._logger.log(name, value)


class _FirstLogger(RunLogger):
    def __init__(self):
        self.metrics = _Metrics(self)


_current = _FirstLogger()


def current_run(*args, **kwargs):
    return _current
