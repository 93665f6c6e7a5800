# SPDX-License-Identifier: Apache-2.0
"""azureml.logging as of 2017:

    from azureml.logging import get_azureml_logger
    run_logger = get_azureml_logger()
    run_logger.log("Accuracy", 0.93)
    run_logger.log("Loss", [0.9, 0.5, 0.3])
    run_logger.log("Accuracy", 0.94).wait()
"""
import os

import ponk
from ponk import _images
from ponk import _journal

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
        _upload(path, text)
        return _Stored()

    def upload_file(self, name, path=None):
        """upload_file(name, path), or upload_file(path) under its own name."""
        if path is None:
            ponk.log_artifact(name)
        else:
            ponk.log_artifact(path, name)
        return _Stored()


@_journal.never_fails
def _upload(path, text):
    if not ponk.run.outputs:
        return
    relative = _images.safe_name(path)
    if relative.startswith("outputs/"):
        relative = relative[len("outputs/"):]
    target = os.path.join(ponk.run.outputs, relative)
    _images.make_folder(os.path.dirname(target))
    with open(target, "wb") as out:
        out.write(text if isinstance(text, bytes) else str(text).encode("utf-8"))
    ponk.log_artifact(target)


_logger = RunLogger()


def get_azureml_logger(*args, **kwargs):
    """The logger of this run; the same object each time, as it was."""
    return _logger
