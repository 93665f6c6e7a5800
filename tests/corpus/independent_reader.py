# SPDX-License-Identifier: Apache-2.0
"""Reads a configuration text without any of ponk's code.

The judge is ruamel.yaml's composer (nodes with their marks) and, for texts that start with a brace, Python's json module.
Scalars are typed here by the schema, not by YAML's own resolver, so that a version stays text and `1` in a Spark
property stays "1".
"""
import json
import re

from ruamel.yaml import YAML
from ruamel.yaml.nodes import MappingNode, ScalarNode, SequenceNode

NULLS = {"", "~", "null", "Null", "NULL"}
TRUE = {"true", "True", "TRUE"}
FALSE = {"false", "False", "FALSE"}

BOOLEANS = {
    "compute": {"sharedVolumes", "nvidiaDocker", "userManagedEnvironment", "cluster", "native"},
    "runconfig-2017": {"PrepareEnvironment", "TrackedRun", "UseSampling", "ManagedEnvironment"},
    "runconfig-2018": {
        "prepareEnvironment", "autoPrepareEnvironment", "userManagedDependencies", "enabled", "sharedVolumes",
        "gpuSupport", "precachePackages", "outputCollection", "snapshotProject", "retainCluster"},
}
INTEGERS = {
    "runconfig-2018": {
        "maxRunDurationSeconds", "nodeCount", "workerCount", "parameterServerCount", "processCountPerNode", "cpuCores",
        "memoryGb", "clusterMaxNodeCount"},
}
# Maps whose entries are the user's own names: what stands there is text, whatever it looks like.
FREE_MAPS = {"configuration", "environmentVariables", "EnvironmentVariables"}
TEXT_KEYS = {
    "compute": {"type", "baseDockerImage", "address", "username", "password", "nativeSharedDirectory", "pythonLocation",
                "sparkSubmitLocation", "yarnDeployMode"},
}


class Unreadable(Exception):
    """A text that is no YAML or JSON; carries the place and the parser's words."""

    def __init__(self, line, column, words):
        super().__init__(f"{line}:{column}: {words}")
        self.line, self.column, self.words = line, column, words


class WrongType(Exception):
    """Values of the wrong type, each as (line, column, key); what could be read comes along."""

    def __init__(self, places, root, schema, values):
        super().__init__(str(places))
        self.places, self.root, self.schema, self.values = places, root, schema, values


def is_json(text):
    return text.lstrip("\ufeff \t\r\n").startswith("{")


def separator_tabs_as_blanks(text):
    """ruamel refuses the tab after `"key":` that YAML 1.2 allows; a blank of the same width keeps every column."""
    return re.sub(r'(?m)^( *(?:"[^"\n]*"|[\w.]+):)\t+(?=\S)', lambda m: m.group(1) + " " * (len(m.group(0)) - len(m.group(1))),
                  text)


def reject_duplicates(pairs):
    keys = [key for key, _ in pairs]
    if len(set(keys)) != len(keys):
        raise ValueError("duplicate key")
    return dict(pairs)


def compose(text):
    """The text's root node; JSON texts must be strict JSON as well."""
    if is_json(text):
        try:
            json.loads(text, object_pairs_hook=reject_duplicates)
        except json.JSONDecodeError as error:
            raise Unreadable(error.lineno, error.colno, error.msg) from error
    try:
        return YAML(pure=True).compose(separator_tabs_as_blanks(text))
    except Exception as error:
        mark = getattr(error, "problem_mark", None)
        raise Unreadable(mark.line + 1, mark.column + 1, error.problem) from error


def place(node):
    return node.start_mark.line + 1, node.start_mark.column + 1


def scalar(node, key, free, schema, wrong):
    raw, plain = node.value, node.style is None
    if plain and raw in NULLS and not free:
        return None
    if free:
        return raw
    if key in BOOLEANS.get(schema, ()):
        if plain and raw in TRUE | FALSE:
            return raw in TRUE
        wrong.append((*place(node), key))
    elif key in INTEGERS.get(schema, ()):
        if plain and re.fullmatch(r"-?\d+", raw):
            return int(raw)
        wrong.append((*place(node), key))
    return raw


def tree(node, schema, wrong, key=None, free=False):
    """The document's own tree; (line, column, key) of each wrongly typed value goes into `wrong`."""
    if isinstance(node, ScalarNode):
        return scalar(node, key, free, schema, wrong)
    if key in TEXT_KEYS.get(schema, ()):
        wrong.append((*place(node), key))
    if isinstance(node, SequenceNode):
        return [tree(item, schema, wrong, key=None, free=free) for item in node.value]
    assert isinstance(node, MappingNode)
    result = {}
    for key_node, value_node in node.value:
        assert key_node.value not in result, "duplicate key"
        result[key_node.value] = tree(value_node, schema, wrong, key_node.value, free=key in FREE_MAPS)
    return result


def schema_of(folder, root):
    if folder != "runconfig":
        return folder
    keys = {key.value for key, _ in root.value}
    return "runconfig-2017" if keys & {"Target", "TrackedRun"} else "runconfig-2018"


def read(folder, text):
    """(root node, schema, values) or Unreadable or WrongType."""
    root = compose(text)
    schema, wrong = schema_of(folder, root), []
    values = json.loads(text) if folder in ("project", "other") and is_json(text) else tree(root, schema, wrong)
    if wrong:
        raise WrongType(wrong, root, schema, values)
    return root, schema, values


def positions(node, path=()):
    """Every (path, key node or None, value node) of a document, in reading order."""
    if isinstance(node, MappingNode):
        for key, value in node.value:
            yield path + (key.value,), key, value
            yield from positions(value, path + (key.value,))
    elif isinstance(node, SequenceNode):
        for index, item in enumerate(node.value):
            yield path + (index,), None, item
            yield from positions(item, path + (index,))
