# SPDX-License-Identifier: Apache-2.0
"""Virtual environments with what is measured beside ponk."""
import os
import subprocess

ROOT = os.path.join(os.path.dirname(os.path.abspath(__file__)), "..")


def environment_with(name, packages):
    """The folder of a virtual environment with these packages of PyPI, made once in .cache."""
    folder = os.path.realpath(os.path.join(ROOT, ".cache", name))
    if not os.path.exists(os.path.join(folder, "complete")):
        print("    installing %s into .cache/%s (once) …" % (", ".join(packages), name), flush=True)
        subprocess.run(["/usr/bin/python3", "-m", "venv", "--clear", folder], check=True)
        subprocess.run([os.path.join(folder, "bin", "python"), "-m", "pip", "install", "-q", "--disable-pip-version-check", *packages],
                       check=True, timeout=570)
        with open(os.path.join(folder, "complete"), "w"):
            pass
    return folder


def mlflow_environment():
    return environment_with("mlflow", ["mlflow"])
