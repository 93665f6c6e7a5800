# SPDX-License-Identifier: Apache-2.0
"""A virtual environment that has mlflow."""
import os
import subprocess

ROOT = os.path.join(os.path.dirname(os.path.abspath(__file__)), "..")


def mlflow_environment():
    """The Python of a virtual environment that has mlflow, made once in .cache."""
    folder = os.path.realpath(os.path.join(ROOT, ".cache", "mlflow"))
    python = os.path.join(folder, "bin", "python")
    if not os.path.exists(os.path.join(folder, "complete")):
        print("    installing mlflow into .cache/mlflow (once) …", flush=True)
        subprocess.run(["/usr/bin/python3", "-m", "venv", "--clear", folder], check=True)
        subprocess.run([python, "-m", "pip", "install", "-q", "--disable-pip-version-check", "mlflow"], check=True,
                       timeout=570)
        with open(os.path.join(folder, "complete"), "w"):
            pass
    return folder
