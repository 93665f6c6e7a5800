// SPDX-License-Identifier: Apache-2.0
#include "cli/run_search.hpp"

#include "query/search/filter.hpp"

#include <algorithm>

namespace ponk::cli {

namespace {

constexpr std::size_t page_size = 500;

}  // namespace

tl::expected<JsonObject, Failure> search_options(const Invocation& words)
{
    const auto& grammar = query::search::history_runs;
    JsonObject search;
    if (const auto filter = words.value("filter")) {
        TRY(as_usage(query::search::parse_filter(grammar, *filter)));
        search.set("filter", *filter);
    }
    if (const auto entries = words.values("order-by"); !entries.empty()) {
        TRY(as_usage(query::search::parse_order_by(grammar, entries)));
        search.set("order_by", JsonArray(entries.begin(), entries.end()));
    }
    return search;
}

Result<JsonArray> search_runs(Daemon& daemon, JsonObject search, std::size_t limit)
{
    JsonArray runs;
    for (;;) {
        const auto want = limit == 0 ? page_size : std::min(page_size, limit - runs.size());
        search.set("limit", static_cast<std::int64_t>(want));
        Json page = TRY(daemon.send("POST", "/runs/search", search, Daemon::Repeat::when_broken));
        if (page["runs"].is_array()) {
            for (Json& run : page.as_object().find("runs")->as_array())
                runs.push_back(std::move(run));
        }
        const auto next = page.text("next");
        if (next.empty() || (limit != 0 && runs.size() >= limit)) return runs;
        search.set("page", next);
    }
}

}  // namespace ponk::cli
