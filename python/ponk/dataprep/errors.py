# SPDX-License-Identifier: Apache-2.0
import sys


class PackageError(Exception):
    """A package that cannot be run, with the place in it."""


class DataPrepError(Exception):
    """The value of a cell whose conversion or expression failed, as custom code sees it."""

    def __init__(self, properties=None):
        Exception.__init__(self, properties)
        for name, value in dict(properties or {}).items():
            setattr(self, name, value)

    def __bool__(self):
        return False


def notice(text):
    sys.stderr.write("azureml.dataprep: %s\n" % text)


def need_pandas(path):
    try:
        import pandas
        return pandas
    except ImportError:
        raise ImportError(
            "'%s' needs the package pandas, which '%s' does not have; add '- pandas' to the "
            "dependencies in aml_config/conda_dependencies.yml (the conda list or its pip list) "
            "and run 'ponk experiment prepare -c TARGET', or install it for this Python: "
            "'%s -m pip install pandas'" % (path, sys.executable, sys.executable))
