# SPDX-License-Identifier: Apache-2.0
"""    generate_schema(run_func=run, inputs={"input_df": SampleDefinition(DataTypes.PANDAS, df)},
                    filepath="service_schema.json")
"""
import inspect
import json
import os

__all__ = ["generate_schema"]


def generate_schema(run_func, inputs=None, outputs=None, filepath=None):
    """The types of a scoring function as JSON: its arguments in `input`, its results in `output`.
    The pickled part that the hosted service needed is not written."""
    wanted = list(inspect.signature(run_func).parameters)
    given = sorted(inputs or {})
    if sorted(wanted) != given:
        raise ValueError("the function '%s' has the arguments (%s), but the samples in 'inputs' are for "
                         "(%s)" % (run_func.__name__, ", ".join(wanted), ", ".join(given)))
    schema = {}
    for name, samples in (("input", inputs), ("output", outputs)):
        if samples:
            schema[name] = {key: {"swagger": one.swagger, "type": one.type}
                            for key, one in samples.items()}
    if filepath is not None:
        folder = os.path.dirname(os.path.abspath(filepath))
        if not os.path.isdir(folder):
            os.makedirs(folder)
        with open(filepath, "w") as file:
            json.dump(schema, file)
    return schema
