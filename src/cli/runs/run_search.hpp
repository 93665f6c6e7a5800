// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "cli/client/daemon.hpp"
#include "cli/syntax/exit_code.hpp"
#include "cli/syntax/parse.hpp"

#include <cstddef>
#include <functional>
#include <string>
#include <vector>

namespace ponk::cli {

// `--filter` and `--order-by` as fields of a search. They are read here already, so that a mistake
// is told before anything is asked; empty when neither is there.
tl::expected<JsonObject, Failure> search_options(const Invocation& words);

// Makes names alone in `--order-by` of `search` what runs have by that name: "loss DESC" is
// "metrics.loss DESC", or "params.loss DESC" where newer runs have only such a parameter.
Result<> find_order_names(Daemon& daemon, const Invocation& words, JsonObject& search);

// The metrics by which `search` orders.
Result<std::vector<std::string>> order_metrics(const JsonObject& search);

// What --filter and --order-by name that no run has, with what was probably meant: one sentence
// each. `found` is the answer; when it is empty, the newest runs of `scope` are asked for.
Result<std::vector<std::string>>
unknown_names(Daemon& daemon, const Invocation& words, JsonObject scope, const JsonArray& found);

// POST /runs/search, page by page; `take` gets each page and says whether it wants more.
Result<> each_page(Daemon& daemon,
                   JsonObject search,
                   const std::function<Result<bool>(JsonArray runs)>& take);

// POST /runs/search, page by page, until `limit` runs (0: all) are there.
Result<JsonArray> search_runs(Daemon& daemon, JsonObject search, std::size_t limit);

}  // namespace ponk::cli
