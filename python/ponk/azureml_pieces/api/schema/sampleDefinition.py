# SPDX-License-Identifier: Apache-2.0
"""Sample data of a web service, and the type that follows from it in the words of Swagger."""
from azureml.api.schema.dataTypes import DataTypes

_EXAMPLE_ROWS = 3
_PLAIN = ((bool, {"type": "boolean"}), (int, {"type": "integer", "format": "int64"}),
          (float, {"type": "number", "format": "double"}), (str, {"type": "string"}))
_KINDS = {"b": {"type": "boolean"}, "M": {"type": "string", "format": "date-time"}}


class SampleDefinition(object):
    def __init__(self, input_type, sample_data):
        describe = {DataTypes.STANDARD: _of_value, DataTypes.NUMPY: _of_array,
                    DataTypes.SPARK: _of_spark, DataTypes.PANDAS: _of_frame}.get(input_type)
        if describe is None:
            raise ValueError("SampleDefinition needs one of DataTypes as its first argument, not %r"
                             % (input_type,))
        self.type = input_type
        self.swagger = describe(sample_data)


def _of_value(value):
    for kind, words in _PLAIN:
        if isinstance(value, kind):
            return dict(words, example=value)
    if isinstance(value, dict):
        return {"type": "object", "additionalProperties": {"type": "object"}, "example": value}
    if isinstance(value, (list, tuple)):
        first = _of_value(value[0]) if value else {"type": "object"}
        first.pop("example", None)
        return {"type": "array", "items": first, "example": list(value)}
    return {"type": "object", "example": str(value)}


def _of_kind(dtype):
    if dtype.kind in "iu":
        return {"type": "integer", "format": "int%d" % (8 * dtype.itemsize)}
    if dtype.kind == "f":
        return {"type": "number", "format": "float" if dtype.itemsize == 4 else "double"}
    return dict(_KINDS.get(dtype.kind, {"type": "string"}))


def _of_array(array):
    words = _of_kind(array.dtype)
    for _ in array.shape:
        words = {"type": "array", "items": words}
    return dict(words, example=array[:_EXAMPLE_ROWS].tolist())


def _of_frame(frame):
    import json
    columns = {str(name): _of_kind(kind) for name, kind in frame.dtypes.items()}
    rows = frame.head(_EXAMPLE_ROWS).to_json(orient="records", date_format="iso")
    return {"type": "array", "items": {"type": "object", "properties": columns},
            "example": json.loads(rows)}


def _of_spark(frame):
    return _of_frame(frame.limit(_EXAMPLE_ROWS).toPandas())
