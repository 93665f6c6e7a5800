# SPDX-License-Identifier: Apache-2.0
"""Tells a run's relay in which experiment MLflow's client is.

MLflow asks for an experiment by its name with one and the same call, to go there and to look at it. With these
headers the relay need not guess which was meant (docs/design/relay.md). MLflow's client loads this by itself: the
folder ponk_in_run-1.dist-info beside this package names it as an entry point.
"""
import os
import sys
from urllib.parse import quote


class ExperimentHeaders(object):
    def in_context(self):
        """Only where the run's relay is asked, and the client says what we need in a way that we know."""
        uri = sys.modules["mlflow"].get_tracking_uri()
        return bool(os.environ.get("PONK_RUN_ID")) and uri.startswith("http://127.0.0.1:") and _active() is not None

    def request_headers(self):
        headers = {"X-Ponk-Experiment": _active()}
        name = os.environ.get("MLFLOW_EXPERIMENT_NAME")
        if name:
            headers["X-Ponk-Experiment-Name"] = quote(name, safe="")
        return headers


def _active():
    """The id of the experiment that runs go to; None: this client keeps it elsewhere."""
    fluent = sys.modules.get("mlflow.tracking.fluent")
    active = getattr(fluent, "_active_experiment_id", False)
    if active is None:
        active = os.environ.get("MLFLOW_EXPERIMENT_ID")
    return active if isinstance(active, str) and active.isdigit() else None
