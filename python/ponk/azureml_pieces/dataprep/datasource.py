# SPDX-License-Identifier: Apache-2.0
"""    from azureml.dataprep.datasource import load_datasource
    df = load_datasource("iris.dsource")
"""
import ponk.dataprep

__all__ = ["load_datasource"]


def load_datasource(path, secrets=None, spark=None):
    return ponk.dataprep.load_source(path, spark)
