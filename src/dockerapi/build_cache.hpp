// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "dockerapi/engine.hpp"

#include <functional>

// What the engine keeps of builds, beside the images that they made.
namespace ponk::dockerapi {

struct BuildCacheEntry {
    std::string id;
    std::string description;  // "mount / from exec …": the step that made it
    std::int64_t size = 0;
    bool in_use = false;  // by a build that is under way
    bool shared = false;  // its layer is in an image, too: removing it frees nothing
};

std::vector<BuildCacheEntry> build_cache_of(const Json& disk_usage);

// Removes the entries that `wanted` picks among those that nobody needs, and says how many bytes
// that freed. An engine without such a cache (Podman) has nothing to free.
Result<std::int64_t>
prune_build_cache(const Engine& engine,
                  const std::function<bool(const BuildCacheEntry& entry)>& wanted,
                  Deadline deadline,
                  std::stop_token stop = {});

}  // namespace ponk::dockerapi
