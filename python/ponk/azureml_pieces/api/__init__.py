# SPDX-License-Identifier: Apache-2.0
"""azureml.api as of 2017: schemas of web services. The package azure-ml-api-sdk (PyPI) has all of it
and takes this one's place when it is installed."""
