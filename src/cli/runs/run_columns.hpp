// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "cli/client/context.hpp"
#include "cli/runs/run_names.hpp"
#include "cli/syntax/exit_code.hpp"

#include <string>
#include <string_view>
#include <vector>

namespace ponk::cli {

// One column of `history list --columns`.
struct RunColumn {
    std::string title;  // as it was typed
    FieldName field;
};

// "accuracy,params.lr,tags.team": each name is metrics.NAME, params.NAME, tags.NAME, a field of the
// record, or NAME alone: then the first of field, metric, parameter and tag that one of `runs` has.
// Backticks hold names with commas: metrics.`a,b`. A name alone that no run has is an error with a
// suggestion; `notes` tells of the others that none has.
struct RunColumns {
    std::vector<RunColumn> columns;
    std::vector<std::string> notes;
};
tl::expected<RunColumns, Failure> parse_columns(std::string_view text, const JsonArray& runs);

// The names in it that may be those of metrics.
std::vector<std::string> possible_metrics(std::string_view text);

// The runs with these columns alone: for people, and exactly.
View view_of_columns(const JsonArray& runs, const std::vector<RunColumn>& columns);

// For output::order_by_rank: where the columns of view_of_runs do not all fit, the first metrics
// stay, and what is told elsewhere goes.
std::vector<int> run_column_ranks(const output::Columns& columns);

// "no run has a metric 'acuracy'; did you mean 'accuracy'?"; empty when one of `runs` has it.
std::string missing_name(const JsonArray& runs, const FieldName& name);

}  // namespace ponk::cli
