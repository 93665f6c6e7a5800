# SPDX-License-Identifier: Apache-2.0
"""azureml.dataprep as of 2017: data preparation packages (.dprep) and sources (.dsource)."""
