# SPDX-License-Identifier: Apache-2.0
"""What `check` has to say, or may say, about a text that can be read.

A finding that the specification names is a `must`; one that is sensible but not promised is a `may`, so that the test can
tell an invented warning from a useful one. Rules only state what was seen by reading; single cases are in review.py.
"""
import re

from independent_reader import place, positions

GONE_IMAGE = "microsoft/mmlspark"
GONE_PYTHON = "python=3.5.2"
GONE_WHEEL_HOST = "https://cntk.ai/"
GONE_NAMES = {"tensorflow-gpu"}
GONE_PIP_NAMES = GONE_NAMES | {"sklearn"}
# Hosts of the vendor that are gone or moved, and addresses with a signature, which expired years ago.
DOUBTFUL_HOSTS = ("azuremldownloads.", "rserverdistribution.", "azuremlsdktestpypi.", "mmlspark.azureedge.net",
                  "azuremlbuild.", "spark-packages.org", "pypi.python.org", "&sig=")
DOUBTFUL_NAMES = re.compile(
    r"azureml|azure-ml|azure-storage$|azure-storage==|azure$|azure-mgmt-batchai|keras-gpu|tensorflow==1|"
    r"fix_yahoo_finance|futures$|opencv==|ggplot$|h2o_pysparkling|dltk$|image$|python=3\.6|numpy==1|scipy==1\.0\.0b1|"
    r"matplotlib==1|torch==1\.0\.0|keras==2|h5py==2|pandas=0|nltk=3|libpng=1\.2|ipykernel=4|scikit-learn=")
STANDARD_LIBRARY = {"io", "os", "json", "pickle"}
DOCKER_TYPES = {"remotedocker", "virtualmachine", "localdocker", "docker"}
OLD_RUNCONFIG_KEYS = {"Description", "CondaFile", "ManagedEnvironment"}


def must(kind, node, word):
    line, column = place(node)
    return {"class": kind, "line": line, "column": column, "must": True, "mentions": word}


def may(kind, node):
    line, column = place(node)
    return {"class": kind, "line": line, "column": column}


def image_findings(node, used):
    if node.value.startswith(GONE_IMAGE):
        yield must("gone-image", node, "mmlspark") if used else may("gone-image", node)
    elif node.value.startswith("mcr.microsoft.com/azureml/") or node.value.startswith("continuumio/"):
        yield may("gone-image", node)


def compute_findings(root, values):
    at = {path[0]: (key, value) for path, key, value in positions(root) if len(path) == 1}
    if values.get("baseDockerImage"):
        image = at["baseDockerImage"][1]
        yield from image_findings(image, used=True)
        if "gpu" in image.value and not values.get("nvidiaDocker"):
            yield must("gpu-image-without-flag", image, "nvidiaDocker")
    elif "baseDockerImage" in values:
        yield may("missing-value", at["baseDockerImage"][1])
    for key in ("address", "username", "password"):
        if key in values and values[key] is None:
            finding = must("missing-value", at[key][0], key) if key == "address" else may("missing-value", at[key][0])
            # An empty value has no place of its own: its line is the key's, any column is good.
            yield finding | {"column": None}
    if values.get("password"):
        yield may("secret-reference", at["password"][1])
    for key in ("cluster", "native", "sparkSubmitLocation"):
        if key in values:
            yield may("old-key", at[key][0])
            yield may("old-key", at[key][1])
    if values.get("nativeSharedDirectory") and values.get("sharedVolumes") is False:
        yield may("shared-directory-unused", at["nativeSharedDirectory"][1])
        yield may("shared-directory-unused", at["sharedVolumes"][1])
    if "type" not in values:
        yield {"class": "missing-type", "line": None, "column": None}
    else:
        yield may("synonym-or-unbuilt-type", at["type"][1])
    if values.get("type") in DOCKER_TYPES and "baseDockerImage" not in values:
        yield {"class": "missing-value", "line": None, "column": None}


def runconfig_findings(root, values, schema):
    if schema == "runconfig-2017" and "Framework" not in values:
        yield {"class": "framework-missing", "line": None, "column": None, "must": True, "mentions": "Framework"}
    docker_used = bool(values.get("environment", {}).get("docker", {}).get("enabled"))
    for path, key, value in positions(root):
        name = path[-1]
        if name in ("Target", "target"):
            yield may("dangling-target", value)
        elif name in ("CondaDependenciesFile", "SparkDependenciesFile", "condaDependenciesFile", "interpreterPath"):
            yield may("missing-file", value)
        elif name in OLD_RUNCONFIG_KEYS:
            yield may("old-key", key)
            yield may("old-key", value)
        elif name == "baseImage":
            yield from image_findings(value, docker_used)
        elif isinstance(value.value, str) and any(host in value.value for host in DOUBTFUL_HOSTS):
            yield may("gone-host", value)


def conda_findings(root):
    for path, _, value in positions(root):
        if path[0] != "dependencies" or not isinstance(value.value, str):
            continue
        text, in_pip = value.value, "pip" in path
        if text == GONE_PYTHON:
            yield must("gone-python", value, "3.5.2")
        elif text.startswith(GONE_WHEEL_HOST):
            yield must("gone-wheel", value, "cntk")
        elif text in (GONE_PIP_NAMES if in_pip else GONE_NAMES):
            yield must("gone-package", value, text)
        elif DOUBTFUL_NAMES.match(text) or any(host in text for host in DOUBTFUL_HOSTS):
            yield may("gone-package", value)
        elif text in STANDARD_LIBRARY:
            yield may("standard-library", value)
        elif text.startswith("/"):
            yield may("local-wheel", value)
        if in_pip and re.match(r"^[\w.-]+=[^=]", text):
            yield may("pip-single-equals", value)
        if re.search(r"==[^ ]*#", text):
            yield may("comment-in-version", value)
        if not in_pip and text.startswith("https://"):
            yield may("wheel-outside-pip", value)


def spark_findings(root):
    for _, _, value in positions(root):
        if isinstance(value.value, str) and any(host in value.value for host in DOUBTFUL_HOSTS):
            yield may("gone-host", value)


def findings(folder, root, schema, values):
    if folder == "compute":
        yield from compute_findings(root, values)
    elif folder == "runconfig":
        yield from runconfig_findings(root, values, schema)
    elif folder == "conda":
        yield from conda_findings(root)
    elif folder == "spark":
        yield from spark_findings(root)
