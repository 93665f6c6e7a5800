# SPDX-License-Identifier: Apache-2.0
"""Reads data preparation packages (.dprep, .dsource) of 2017 and runs their blocks on pandas.

packages.py reads the documents, sources.py the data files; blocks.py has the table of block types,
and the modules beside it do their work. docs/design/data-preparation.md says what each block does.
"""
from ponk.dataprep.errors import PackageError

__all__ = ["PackageError", "load_source", "open_package", "run"]


def open_package(path):
    from ponk.dataprep.packages import Package
    return Package(path)


def load_source(path, spark=None):
    """The data frame of a source, or of the one that the run configuration names in its place."""
    from ponk.dataprep import places
    return run(places.substitute(str(path)), 0, spark)


def run(path, dataflow_idx=0, spark=None):
    """The data frame of one dataflow. Nothing is read or executed when one of its blocks is
    unknown."""
    return open_package(path).dataflow(dataflow_idx).get_dataframe(spark=spark)
