// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "base/json.hpp"
#include "cli/client/context.hpp"

#include <vector>

namespace ponk::cli {

// Names the runs whose working copies have files that nothing else has, and returns how many files
// those are: they are lost when the copies go.
std::int64_t note_losses(const Context& context, const std::vector<Json>& runs);

}  // namespace ponk::cli
