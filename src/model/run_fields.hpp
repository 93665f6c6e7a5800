// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "model/run.hpp"

// The one list of a run's fields: which names they have in JSON, and in which forms they are. A
// new field of a run is a line here, and a column only when it is searched by.
namespace ponk::model {

// Bits; a field is in several forms.
enum class RunForm : unsigned {
    details = 1,  // the JSON column of its row, beside the columns of store/rows/run_row.cpp
    note = 2,     // record.json and end.json of its folder
    copy = 4,     // lines of `history export` and `import`
    api = 8,      // the native API
};

// The fields in the order of the list. `details` leaves out those that have their default.
JsonObject write_run(const Run& run, RunForm form);

// Takes what `json` has of the form. One that is absent or null keeps its default; one of another
// type is an error that names it, after all others were read.
Result<> read_run(const Json& json, RunForm form, Run& out);

}  // namespace ponk::model
