# SPDX-License-Identifier: Apache-2.0
"""    from dataprep.Package import Package
    with Package.open_package("iris.dprep") as package:
        df = package.dataflows[0].get_dataframe()
"""
import ponk.dataprep

__all__ = ["Package"]


class Package(object):
    @staticmethod
    def open_package(path, *args, **kwargs):
        """The package; its `dataflows` are in the order of the file."""
        return ponk.dataprep.open_package(path)
