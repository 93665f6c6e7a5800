// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "cli/daemon.hpp"
#include "cli/exit_code.hpp"
#include "cli/parse.hpp"

#include <cstddef>

namespace ponk::cli {

// `--filter` and `--order-by` as fields of a search. They are read here already, so that a mistake
// is told before anything is asked; empty when neither is there.
tl::expected<JsonObject, Failure> search_options(const Invocation& words);

// POST /runs/search, page by page, until `limit` runs (0: all) are there.
Result<JsonArray> search_runs(Daemon& daemon, JsonObject search, std::size_t limit);

}  // namespace ponk::cli
