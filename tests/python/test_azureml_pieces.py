# SPDX-License-Identifier: Apache-2.0
"""Further modules of 2017 that scoring and training scripts import."""
import json
import os
import subprocess
import sys

import pytest

from dprep_maker import SOURCE


@pytest.fixture
def script(tmp_path):
    def run(text, path=SOURCE):
        environment = {"PATH": "/usr/bin:/bin", "PYTHONPATH": path, "PYTHONDONTWRITEBYTECODE": "1", "PONK_RUN_ID": "0" * 32,
                       "PONK_RUN_DIRECTORY": str(tmp_path)}
        os.makedirs(str(tmp_path / "journal"), exist_ok=True)
        return subprocess.run([sys.executable, "-c", text], env=environment, timeout=60, stdout=subprocess.PIPE,
                              stderr=subprocess.STDOUT, cwd=str(tmp_path)).stdout.decode()
    return run


SCHEMA = """if True:
    import json
    import numpy as np
    from azureml.api.schema.dataTypes import DataTypes
    from azureml.api.schema.sampleDefinition import SampleDefinition
    from azureml.api.realtime.services import generate_schema

    def run(input_df):
        return "x"
"""


def test_schemas_of_values_and_arrays(script, tmp_path):
    pytest.importorskip("numpy", reason="one sample is an array")
    said = script(SCHEMA + """
    inputs = {"input_df": SampleDefinition(DataTypes.NUMPY, np.array([[1.0, 2.0]]))}
    outputs = {"o": SampleDefinition(DataTypes.STANDARD, [True]), "d": SampleDefinition(DataTypes.STANDARD, {"q": 1})}
    made = generate_schema(run_func=run, inputs=inputs, outputs=outputs, filepath="outputs/schema.json")
    assert made == json.load(open("outputs/schema.json"))""")
    assert said == ""
    assert json.loads((tmp_path / "outputs" / "schema.json").read_text()) == {
        "input": {"input_df": {"type": 1, "swagger": {
            "type": "array", "items": {"type": "array", "items": {"type": "number", "format": "double"}}, "example": [[1.0, 2.0]]}}},
        "output": {
            "o": {"type": 0, "swagger": {"type": "array", "items": {"type": "boolean"}, "example": [True]}},
            "d": {"type": 0, "swagger": {"type": "object", "additionalProperties": {"type": "object"}, "example": {"q": 1}}}}}


def test_schemas_of_frames(script):
    pytest.importorskip("pandas", reason="the sample is a data frame")
    said = script(SCHEMA + """
    import pandas as pd
    df = pd.DataFrame({'a': [1.5, None], 'b': ['x', 'y'], 'c': [1, 2], 'd': pd.to_datetime(['2017-01-01', '2017-01-02'])})
    swagger = generate_schema(run, {"input_df": SampleDefinition(DataTypes.PANDAS, df)})["input"]["input_df"]["swagger"]
    print(json.dumps(swagger["items"]["properties"], sort_keys=True))
    print(swagger["example"][1]["a"], swagger["example"][0]["c"], swagger["example"][0]["d"][:10])""")
    assert said.splitlines() == [
        '{"a": {"format": "double", "type": "number"}, "b": {"type": "string"}, '
        '"c": {"format": "int64", "type": "integer"}, "d": {"format": "date-time", "type": "string"}}',
        "None 1 2017-01-01"]


def test_samples_have_to_fit_the_function(script):
    said = script(SCHEMA.replace("import numpy as np", "") + """
    try:
        generate_schema(run, {"other": SampleDefinition(DataTypes.STANDARD, 1)})
    except ValueError as problem:
        print(problem)
    try:
        SampleDefinition("pandas", 1)
    except ValueError as problem:
        print(problem)""")
    assert "'run' has the arguments (input_df), but the samples in 'inputs' are for (other)" in said
    assert "needs one of DataTypes" in said


def test_an_installed_sdk_wins(script, tmp_path):
    api = tmp_path / "site" / "azureml" / "api"
    api.mkdir(parents=True)
    (api / "__init__.py").write_text("REAL = 1")
    assert script("from azureml.api import REAL; print(REAL)", "%s:%s" % (SOURCE, tmp_path / "site")) == "1\n"


def test_link_files_stand_for_files(script, tmp_path):
    (tmp_path / "assets").mkdir()
    (tmp_path / "assets" / "model.pkl").write_text("m")
    said = script("from azureml.assets import get_local_path\nprint(open(get_local_path('assets\\\\model.pkl.link')).read())\n"
                  "get_local_path('none.link')")
    assert "m\n" in said and "there is no '%s'" % (tmp_path / "none") in said and "put the file itself there" in said


@pytest.mark.parametrize("package", ["azureml.sdk", "azureml_sdk"])
def test_the_first_logger(script, tmp_path, package):
    said = script("from %s import data_collector\nrun_logger = data_collector.current_run()\nrun_logger.log('a', 1)\n"
                  "run_logger.metrics.custom_scalar('Accuracy', 0.5)" % package)
    assert said == ""
    journal = b"".join(path.read_bytes() for path in (tmp_path / "journal").iterdir())
    assert b'"a"' in journal and b'"Accuracy"' in journal


def test_collected_data_is_said_to_be_lost_once(script):
    said = script("from azureml.datacollector import ModelDataCollector\nc = ModelDataCollector('model.pkl', identifier='inputs')\n"
                  "c.collect([1]); c.collect([2])")
    assert said.count("keeps nothing in a run") == 1 and said.count("\n") == 1
