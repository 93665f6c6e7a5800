# SPDX-License-Identifier: Apache-2.0
"""The little of azureml.core (2018) that a script needs inside its run: Run.get_context() and
the logging calls of that object. Whatever manages a cloud workspace is not here."""
from azureml.core.run import Run

__all__ = ["Run"]


def __getattr__(name):
    if name.startswith("__"):
        raise AttributeError(name)
    raise ImportError(
        "ponk offers azureml.core.Run to scripts, not azureml.core.%s; install the package "
        "azureml-core if the script needs it" % name)
