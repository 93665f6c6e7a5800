// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "cli/client/context.hpp"
#include "cli/runs/run_names.hpp"
#include "model/metric_direction.hpp"
#include "output/terminal.hpp"

#include <cstddef>
#include <string>
#include <vector>

namespace ponk::cli {

// One field of several runs side by side.
struct ComparedField {
    std::string name;  // "params.lr", "metrics.loss", "git.commit"
    JsonArray values;  // one for each run; null where it has none
    bool equal = true;
    bool measured = false;  // by ponk itself: it differs in every run
    model::Better better = model::Better::unknown;
    std::vector<std::size_t> best;  // of these runs; empty where nobody can tell
};

// Every field of `runs` (records as GET /runs/RUN has them), nested ones by their paths; what
// people look for first comes first: how it ended, arguments, parameters, tags, metrics, then the
// code and what it ran on.
std::vector<ComparedField> compare_runs(const JsonArray& runs);

enum class Equal { hidden, shown };

// The fields that differ (or all) as a table with a column for each run, or, when those do not fit
// the terminal, with a line for each run. Best values end in " *", and a last line says what that
// is. Empty when nothing differs.
std::string comparison_table(const JsonArray& runs,
                             const std::vector<ComparedField>& fields,
                             Equal equal,
                             const output::Terminal& terminal);

// For programs: every field, equal or not.
JsonArray comparison_json(const std::vector<ComparedField>& fields);

}  // namespace ponk::cli
