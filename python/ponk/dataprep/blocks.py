# SPDX-License-Identifier: Apache-2.0
"""What each type of block does. A function gets the step and the data before it, and returns the
data after it."""
from ponk.dataprep import columns, combining, conversions, custom, filters, sources

_PREFIX = "Microsoft.DPrep."

BLOCKS = {
    "DataSourceBlock": sources.data_source,
    "ParseDelimitedBlock": sources.parse_delimited,
    "HandlePathColumnBlock": sources.handle_path_column,
    "ReferenceActivityBlock": combining.reference,
    "TwoWayJoin": combining.join,
    "SummarizeBlock": combining.summarize,
    "WriteToCsvBlock": combining.write_csv,
    "SetColumnTypesBlock": conversions.set_column_types,
    "ConvertColumnFieldTypeBlock": conversions.convert_to_number,
    "SampleBlock": columns.sample,
    "ColumnRenameBlock": columns.rename,
    "DeleteColumnBlock": columns.delete,
    "KeepColumnBlock": columns.keep,
    "SelectRowsOnDistinctValuesInColumnBlock": columns.distinct,
    "ReplaceErrorsForNumberColumnBlock": columns.replace_errors,
    "ReplaceMissingNumberValuesBlock": columns.replace_missing_numbers,
    "ReplaceMissingStringValuesBlock": columns.replace_missing_texts,
    "FilterNumberColumnBlock": filters.filter_numbers,
    "FilterStringColumnBlock": filters.filter_texts,
    "AddCustomColumnBlock": custom.add_column,
    "CustomBlock": custom.transform,
}

# These begin a flow; the others need data.
_FIRST = ("DataSourceBlock", "ReferenceActivityBlock", "TwoWayJoin")


def function_of(step):
    """The function for a step; an error when there is none."""
    name = step.short_type
    if name.endswith("Inspector"):
        return lambda step, flow: flow  # it only draws
    if name in BLOCKS:
        return BLOCKS[name] if name in _FIRST else _with_data(BLOCKS[name])
    column = step.arguments.get("columnId") if isinstance(step.arguments, dict) else None
    if column is None and step.arguments.get("columnIds"):
        column = ", ".join(map(str, step.arguments["columnIds"]))
    if "ByExample" in name:
        why = ("blocks 'by example' are programs for the engine of the desktop application, which "
               "no longer exists; compute the column in the script, or with an "
               "AddCustomColumnBlock in its place")
    else:
        why = "this type of block is not supported; do its work in the script"
    raise step.error(why, column)


def _with_data(function):
    def checked(step, flow):
        if flow is None:
            raise step.error("no block before it reads data")
        if isinstance(flow, sources.Files) and function is not sources.parse_delimited:
            raise step.error("the files before it have not been parsed; only delimited text is "
                             "supported")
        return function(step, flow)
    return checked
