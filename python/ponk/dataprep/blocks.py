# SPDX-License-Identifier: Apache-2.0
"""What each type of block does. A function gets the step and the data before it, and returns the
data after it."""
from ponk.dataprep import columns, combining, conversions, custom, filters, sources
from ponk.dataprep.errors import notice

# Function, and the arguments that it knows.
BLOCKS = {
    "DataSourceBlock": (sources.data_source, "path"),
    "ParseDelimitedBlock": (
        sources.parse_delimited, "columnHeadersMode fileEncoding handleQuotedLineBreaks preview "
                                 "separator skipRows skipRowsMode"),
    "HandlePathColumnBlock": (sources.handle_path_column, "pathColumnOperation"),
    "ReferenceActivityBlock": (combining.reference, "reference"),
    "TwoWayJoin": (combining.join, "joinType leftActivityReference leftColumnPrefix leftKeyColumn "
                                   "rightActivityReference rightColumnPrefix rightKeyColumn"),
    "SummarizeBlock": (combining.summarize, "groupByColumns summaryColumns"),
    "WriteToCsvBlock": (combining.write_csv, "eol error na path separator"),
    "SetColumnTypesBlock": (conversions.set_column_types, "columnConversion"),
    "ConvertColumnFieldTypeBlock": (conversions.convert_to_number, "columnIds decimalPoint"),
    "SampleBlock": (columns.sample, "activeSample samples"),
    "ColumnRenameBlock": (columns.rename, "columnId newColumnId"),
    "DeleteColumnBlock": (columns.delete, "columnIds"),
    "KeepColumnBlock": (columns.keep, "columnIds"),
    "SelectRowsOnDistinctValuesInColumnBlock": (columns.distinct, "columnIds"),
    "ReplaceErrorsForNumberColumnBlock": (columns.replace_errors, "columnIds replaceWith"),
    "ReplaceMissingNumberValuesBlock": (columns.replace_missing_numbers, "columnIds replaceWith"),
    "ReplaceMissingStringValuesBlock": (
        columns.replace_missing_texts, "columnIds replaceWith useEmptyStringAsMissing useNullAsMissing"),
    "FilterNumberColumnBlock": (
        filters.filter_numbers, "clauseRelationship clauses columnId filterResult"),
    "FilterStringColumnBlock": (
        filters.filter_texts, "clauseRelationship clauses columnId filterResult"),
    "AddCustomColumnBlock": (
        custom.add_column, "codeBlockType columnId customExpression priorColumnId"),
    "CustomBlock": (custom.transform, "codeBlockType customBlock"),
}

# These begin a flow; the others need data.
_FIRST = ("DataSourceBlock", "ReferenceActivityBlock", "TwoWayJoin")


def function_of(step):
    """The function for a step; an error when there is none."""
    name = step.short_type
    if name.endswith("Inspector"):
        return lambda step, flow: flow  # it only draws
    if name in BLOCKS:
        function, known = BLOCKS[name]
        for argument in sorted(set(step.arguments) - set(known.split())):
            if step.arguments[argument]:
                notice("%s: the argument '%s' is not known and has no effect" % (step.place(), argument))
        return function if name in _FIRST else _with_data(function)
    column = step.arguments.get("columnId")
    if column is None and isinstance(step.arguments.get("columnIds"), list):
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
