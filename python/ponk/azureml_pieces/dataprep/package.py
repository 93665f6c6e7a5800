# SPDX-License-Identifier: Apache-2.0


def _refuse(path):
    raise NotImplementedError(
        "'%s' cannot be run: data preparation packages (.dprep, .dsource) needed the application "
        "they were made with; read the data itself, e.g. with pandas.read_csv" % path)


def run(path, dataflow_idx=0, secrets=None, spark=None):
    _refuse(path)
