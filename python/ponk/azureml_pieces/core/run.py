# SPDX-License-Identifier: Apache-2.0
import ponk
from azureml.logging import RunLogger

__all__ = ["Run"]


class Run(RunLogger):
    """The run that the script is part of."""

    @classmethod
    def get_context(cls, *args, **kwargs):
        return _current

    get_submitted_run = get_context

    @property
    def id(self):
        return ponk.run.id

    def log_list(self, name, value, description=""):
        ponk.log(name, value)

    def log_row(self, name, description="", **columns):
        ponk.log({"%s.%s" % (name, key): value for key, value in columns.items()})

    def log_table(self, name, value, description=""):
        ponk.log({"%s.%s" % (name, key): column for key, column in dict(value).items()})

    def log_image(self, name, path=None, plot=None, description=""):
        ponk.log_image(name, path if plot is None else plot)

    def tag(self, key, value=""):
        ponk.set_tag(key, value)

    def add_properties(self, properties):
        for key, value in dict(properties).items():
            ponk.set_tag(key, value)

    def complete(self):
        pass

    def flush(self, timeout_seconds=300):
        pass


_current = Run()
