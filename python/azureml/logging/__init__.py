# SPDX-License-Identifier: Apache-2.0
"""azureml.logging as of 2017:

    from azureml.logging import get_azureml_logger
    run_logger = get_azureml_logger()
    run_logger.log("Accuracy", 0.93)
    run_logger.log("Loss", [0.9, 0.5, 0.3])
    run_logger.log("Accuracy", 0.94).wait()
"""
import ponk

__all__ = ["get_azureml_logger", "RunLogger"]


class _Stored(object):
    """What a call returns. The record is in the journal already, so there is nothing to wait for."""

    def wait(self, timeout=None):
        return self

    def result(self, timeout=None):
        return None

    def done(self):
        return True

    def __enter__(self):
        return self

    def __exit__(self, *problem):
        return False


class RunLogger(object):
    def log(self, name, value="", *rest, **named):
        """A number, a text, or a list of numbers (drawn as a chart). Several values after the name
        are a list, too."""
        if rest:
            value = [value] + list(rest)
        ponk.log(str(name), value, step=named.get("step"))
        return _Stored()

    def upload(self, path, text):
        """Keeps a text (or bytes) as a file of the run."""
        ponk.log_text(text, path)
        return _Stored()

    def upload_file(self, name, path=None):
        """upload_file(name, path), or upload_file(path) under its own name."""
        if path is None:
            ponk.log_artifact(name)
        else:
            ponk.log_artifact(path, name)
        return _Stored()


_logger = RunLogger()


def get_azureml_logger(*args, **kwargs):
    """The logger of this run; the same object each time, as it was."""
    return _logger
