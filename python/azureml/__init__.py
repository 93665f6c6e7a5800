# SPDX-License-Identifier: Apache-2.0
"""The part of the predecessor's package that scripts of 2017 and 2018 use inside a run.

A real `azureml` package of the user is not hidden: its folders come before ours for everything
except `azureml.logging`, whose own implementation needs a service that no longer exists.
"""
import os as _os
import sys as _sys

_here = _os.path.dirname(_os.path.abspath(__file__))


def _other_folders():
    """Folders called azureml elsewhere on the path: a package that is really installed."""
    found = []
    for entry in _sys.path:
        folder = _os.path.join(_os.path.abspath(entry or "."), "azureml")
        if folder != _here and folder not in found and _os.path.isdir(folder):
            found.append(folder)
    return found


# Here lies nothing but `logging`; the rest of ours lies aside and is looked at last.
__path__ = [_here] + _other_folders() + [
    _os.path.join(_os.path.dirname(_here), "ponk", "azureml_pieces")]
