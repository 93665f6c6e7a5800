// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "engine/run/store_project.hpp"
#include "model/run_spec.hpp"

namespace ponk::engine {

struct ListedInput {
    std::string tree;  // of model::Input
    snapshot::Lease lease;
    std::vector<std::string> notices;
};

// The list of what is in an input, for another machine: stores the list, and none of the contents.
// Reads what changed since the last time.
Result<ListedInput> list_input(const Context& context,
                               const model::Input& input,
                               const Tell& tell,
                               std::stop_token stop);

}  // namespace ponk::engine
