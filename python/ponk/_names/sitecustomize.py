# SPDX-License-Identifier: Apache-2.0
"""Defines names for scripts of 2017 that use `os` or `sys` without an import.

Their scripts were executed inside of a program that had imported both. This folder is on PYTHONPATH only of runs
whose script needs it. Python loads this file before the script; the names go into the script's own namespace. Other
programs that the script starts get nothing, except the workers of multiprocessing, which load the script again.
"""
import os
import sys


def _give(names):
    try:
        with open("/proc/self/cmdline", "rb") as file:
            words = [os.fsdecode(word) for word in file.read().split(b"\0")]
    except (OSError, IOError):
        return
    place = os.environ.get("PONK_SCRIPT", "")
    if "--multiprocessing-fork" in words or any("multiprocessing.forkserver" in word for word in words):
        target = sys.modules.get("builtins")
    # The script may be anywhere behind options of Python; a word of '-c' or '-m' is not it.
    elif "-c" not in words[:2] and any(os.path.abspath(word) == place for word in words[1:4] if word):
        target = sys.modules.get("__main__")
    else:
        return
    for name in names:
        if target is not None and not hasattr(target, name):
            setattr(target, name, sys.modules[name])


def _pass_on():
    """This file hides one that the interpreter may have of its own."""
    ours = sys.modules.pop(__name__, None)
    folder = os.path.dirname(os.path.abspath(__file__))
    sys.path[:] = [path for path in sys.path if os.path.abspath(path) != folder]
    try:
        import sitecustomize  # noqa: F401
    except ImportError:
        pass
    finally:
        sys.modules.setdefault(__name__, ours)


_give([name for name in os.environ.get("PONK_GIVEN_NAMES", "").split() if name in ("os", "sys")])
_pass_on()
