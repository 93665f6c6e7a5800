// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "base/id.hpp"
#include "base/json.hpp"
#include "engine/context/context.hpp"

#include <optional>
#include <vector>

namespace ponk::engine {

// Brings what a run's journal says about runs and models that its script made, and about what they
// took and gave, into history. Doing it twice changes nothing. Records about anything that is not
// of this run are left out: a script can write any id.
Result<>
bring_tracked_records(const Context& context, const RunId& run, const std::vector<Json>& records);

// Runs that the script of a run made, newest first; hidden and deleted ones too.
Result<std::vector<RunId>> child_runs(const Context& context,
                                      const RunId& maker,
                                      std::optional<model::RunState> state = std::nullopt);

// What the script of a run made and left running ends with it, in the same way.
Result<> end_child_runs(const Context& context,
                        const RunId& maker,
                        model::RunState state,
                        std::int64_t ended);

}  // namespace ponk::engine
