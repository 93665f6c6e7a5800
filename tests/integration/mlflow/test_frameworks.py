# SPDX-License-Identifier: Apache-2.0
"""Callbacks of frameworks that log through MLflow. They are large: KERAS_PYTHON names a Python that has keras, jax and
mlflow; without it they are not fetched for a test."""
import ast
import os
import pathlib
import subprocess

import pytest

TRAINING = """
import numpy, keras, mlflow
generator = numpy.random.default_rng(0)
x = generator.random((256, 4))
y = (x.sum(axis=1) > 2).astype("float32")
model = keras.Sequential([keras.Input((4,)), keras.layers.Dense(8, activation="relu"), keras.layers.Dense(1)])
model.compile(optimizer="adam", loss="mse", metrics=["mae"])
"""

CALLBACK = TRAINING + """
with mlflow.start_run():
    history = model.fit(x, y, epochs=3, batch_size=64, verbose=0, callbacks=[mlflow.keras.MlflowCallback()])
print("LOSSES", [float(value) for value in history.history["loss"]])
"""

AUTOLOG = TRAINING + """
mlflow.keras.autolog(log_models=False)
model.fit(x, y, epochs=2, batch_size=64, verbose=0)
"""


@pytest.fixture
def keras(ponk):
    """A project whose scripts find Keras as `python`."""
    python = os.environ.get("KERAS_PYTHON")
    if not python:
        pytest.skip("KERAS_PYTHON is not set")
    ponk.environment.update(PATH=f"{pathlib.Path(python).parent}:/usr/bin:/bin", KERAS_BACKEND="jax",
                            MLFLOW_DISABLE_TELEMETRY="true", GIT_PYTHON_REFRESH="quiet")
    found = subprocess.run([python, "-c", "import keras, mlflow"], capture_output=True, text=True, env=ponk.environment)
    if found.returncode != 0:
        pytest.skip(f"{python} cannot import keras and mlflow: {found.stderr[-300:]}")
    return ponk


def test_the_callback_of_keras_logs_into_the_run(keras):
    keras.write("train.py", CALLBACK)
    said = keras.text("submit", "train.py")
    record = keras.json("history", "info", "last")

    losses = ast.literal_eval(said.split("LOSSES ", 1)[1].splitlines()[0])
    assert record["metrics"]["loss"] == pytest.approx(losses[-1]) and "mae" in record["metrics"]
    assert record["params"]["optimizer_beta_1"] == "0.9"


def test_autolog_of_keras_logs_into_the_run(keras):
    keras.write("train.py", AUTOLOG)
    keras.text("submit", "train.py")
    record = keras.json("history", "info", "last")

    assert {"loss", "mae"} <= set(record["metrics"])
    assert record["params"]["epochs"] == "2"
