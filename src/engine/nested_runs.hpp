// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "base/id.hpp"
#include "base/json.hpp"
#include "engine/context.hpp"

#include <vector>

namespace ponk::engine {

// Brings what a run's journal says about runs that its script made into history. Doing it twice
// changes nothing. Records about anything else than runs of this script are left out: a script can
// write any id.
Result<>
bring_nested_runs(const Context& context, const RunId& parent, const std::vector<Json>& records);

}  // namespace ponk::engine
