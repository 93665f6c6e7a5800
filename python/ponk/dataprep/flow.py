# SPDX-License-Identifier: Apache-2.0
"""The data between two blocks."""
import pandas as pd


class Flow(object):
    """Rows with unique labels. A cell whose conversion failed is missing in `frame`, and `errors`
    has its original value: {column: {label: value}}. Labels of rows that are gone do no harm."""

    def __init__(self, frame, errors=None, paths=None):
        self.frame = frame
        self.errors = errors or {}
        self.paths = paths

    def keep(self, mask):
        return Flow(self.frame[mask], self.errors, self.paths)

    def has_error(self, column):
        return pd.Series(self.frame.index.isin(list(self.errors.get(column, ()))),
                         index=self.frame.index)

    def is_missing(self, column):
        return self.frame[column].isnull() & ~self.has_error(column)

    def replace(self, column, values, errors):
        """The same rows with other values in a column. `errors` are its failed cells."""
        frame = self.frame.copy(deep=False)  # the flow before it is not used any more
        frame[column] = values
        others = {name: cells for name, cells in self.errors.items() if name != column}
        if errors:
            others[column] = errors
        return Flow(frame, others, self.paths)


def fresh(frame):
    """A flow of new rows: what a join, a summary or custom code made."""
    return Flow(frame.reset_index(drop=True))
