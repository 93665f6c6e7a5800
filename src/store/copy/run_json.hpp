// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "base/json.hpp"
#include "model/run.hpp"

namespace ponk::store {

// Every field of the run, for files: the form of `history export`.
Json run_json(const model::Run& run);

}  // namespace ponk::store
