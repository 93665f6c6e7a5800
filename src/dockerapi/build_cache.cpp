// SPDX-License-Identifier: Apache-2.0
#include "dockerapi/build_cache.hpp"

#include <fmt/format.h>

namespace ponk::dockerapi {

namespace {

// An entry is free once what stands on it is gone, so a chain takes several rounds.
constexpr int most_rounds = 8;

Result<std::int64_t> prune_one(const Engine& engine, const std::string& id, Deadline deadline)
{
    // The value is a regular expression; ids are letters and digits.
    const Json filters = JsonObject{{"id", JsonArray{"^" + id + "$"}}};
    const auto answer =
        TRY(engine.json("POST",
                        fmt::format("/build/prune?all=true&filters={}", url_part(to_json(filters))),
                        {},
                        deadline));
    return answer.integer("SpaceReclaimed");
}

bool is_plain(const std::string& id)
{
    return !id.empty() &&
           id.find_first_not_of("0123456789abcdefghijklmnopqrstuvwxyz") == std::string::npos;
}

}  // namespace

std::vector<BuildCacheEntry> build_cache_of(const Json& disk_usage)
{
    std::vector<BuildCacheEntry> entries;
    const auto& list = disk_usage["BuildCache"];
    if (!list.is_array()) return entries;
    for (const auto& item : list.as_array()) {
        entries.push_back({.id = item.text("ID"),
                           .description = item.text("Description"),
                           .size = item.integer("Size"),
                           .in_use = item.boolean("InUse"),
                           .shared = item.boolean("Shared")});
    }
    return entries;
}

Result<std::int64_t>
prune_build_cache(const Engine& engine,
                  const std::function<bool(const BuildCacheEntry& entry)>& wanted,
                  Deadline deadline,
                  std::stop_token stop)
{
    std::int64_t freed = 0;
    if (engine.version().podman) return freed;
    for (int round = 0; round < most_rounds; ++round) {
        const auto usage =
            TRY(engine.json("GET", "/system/df?type=build-cache", {}, deadline, stop));
        bool any = false;
        for (const auto& entry : build_cache_of(usage)) {
            if (entry.in_use || entry.shared || !is_plain(entry.id) || !wanted(entry)) continue;
            const auto won = TRY(prune_one(engine, entry.id, deadline));
            freed += won;
            any = any || won > 0;
        }
        if (!any) break;
    }
    return freed;
}

}  // namespace ponk::dockerapi
