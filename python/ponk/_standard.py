# SPDX-License-Identifier: Apache-2.0
"""Modules of the standard library, also where the project has a file of the same name."""
import importlib
import os
import sys


def _is_of(name, module):
    return name == module or name.startswith(module + ".")


def _without(module):
    """Takes the module and what belongs to it out of the table of modules."""
    return {name: sys.modules.pop(name) for name in list(sys.modules) if _is_of(name, module)}


def standard(module):
    """Python's own module. A script that imports its own file of that name still gets that."""
    library = os.path.dirname(os.path.abspath(os.__file__))
    folder = sys.path[0] if sys.path else ""
    known = getattr(sys.modules.get(module), "__file__", None)
    hidden = any(os.path.exists(os.path.join(folder, module + end)) for end in (".py", os.path.join("", "__init__.py")))
    if known and os.path.abspath(known).startswith(library + os.sep) or not (known or hidden):
        return importlib.import_module(module)
    theirs = _without(module)
    path = sys.path
    sys.path = [library, os.path.join(library, "lib-dynload")]
    try:
        return importlib.import_module(module)
    finally:
        sys.path = path
        _without(module)
        sys.modules.update(theirs)
