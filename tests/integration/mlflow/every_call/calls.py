# SPDX-License-Identifier: Apache-2.0
"""Calls that are made and noted."""
import json

from mlflow import MlflowClient
from mlflow.tracking._model_registry.client import ModelRegistryClient
from mlflow.tracking._tracking_service.client import TrackingServiceClient
from plain import FOLDER, URI, plain, text_of

called = set()
kept = {}


def call(name, action, keep=None):
    """`name` is Class.method, behind it maybe a blank and what is special about this call."""
    called.add(name.split()[0])
    try:
        value = action()
        kept[keep] = value
        answer = {"answer": plain(value)}
    except Exception as error:  # whatever it is, both servers must cause the same
        code = getattr(error, "error_code", None)
        answer = {"error": type(error).__name__, "code": code, "message": text_of(str(error))[:600]}
    print(json.dumps({"call": name, **answer}, sort_keys=True, default=str), flush=True)


class Kept:
    """What an earlier call gave; a word that names nothing where it failed."""
    def __getattr__(self, name):
        return kept.get(name)

    def id(self, name, attribute):
        return getattr(kept.get(name), attribute, None) or "none"


k = Kept()
c = MlflowClient()
