# SPDX-License-Identifier: Apache-2.0
"""The first name of azureml.dataprep: dataprep.Package.

A package of the same name that the user really installed takes this one's place.
"""
import importlib.machinery as _machinery
import importlib.util as _util
import os as _os
import sys as _sys


def _installed():
    ours = _os.path.dirname(_os.path.dirname(_os.path.abspath(__file__)))
    others = [entry for entry in _sys.path if _os.path.abspath(entry or ".") != ours]
    found = _machinery.PathFinder.find_spec(__name__, others)
    return found if found is not None and found.loader is not None and found.origin else None


_found = _installed()
if _found is not None:
    _real = _util.module_from_spec(_found)
    _sys.modules[__name__] = _real
    _found.loader.exec_module(_real)
