# SPDX-License-Identifier: Apache-2.0
"""    from azureml.dataprep import package
    df = package.run("iris.dprep", dataflow_idx=0)
"""
import ponk.dataprep

__all__ = ["run", "submit", "run_on_data"]


def run(package_path, dataflow_idx=0, secrets=None, spark=None):
    """The data frame of one dataflow of a package."""
    return ponk.dataprep.run(package_path, dataflow_idx, spark)


def submit(package_path, dataflow_idx=0, secrets=None, spark=None):
    """The same for its effects only: what its blocks write."""
    ponk.dataprep.run(package_path, dataflow_idx, spark=False)


def run_on_data(user_config, package_path, dataflow_idx=0, secrets=None, spark=None):
    raise NotImplementedError(
        "run_on_data('%s') is not supported: write the rows to the file that the package's "
        "source names, then call run()" % package_path)
