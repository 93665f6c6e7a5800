// SPDX-License-Identifier: Apache-2.0
#include "executor/docker/memory_limit.hpp"

#include <algorithm>

namespace ponk::executor::docker {

std::int64_t default_memory_limit(const dockerapi::Info& engine)
{
    constexpr std::int64_t least_reserve = std::int64_t{512} << 20;
    if (!engine.limits_memory || engine.memory <= 0) return 0;
    const auto reserve = std::max(engine.memory / 10, least_reserve);
    // A very small machine still gives half.
    return std::max(engine.memory - reserve, engine.memory / 2);
}

bool sets_memory(const dockerapi::ContainerSpec& container)
{
    // The others are held against it by the engine: who sets one of them sets them all.
    for (const auto* setting : {"Memory", "MemorySwap", "MemoryReservation"}) {
        if (container.host_settings.find(setting) != nullptr) return true;
    }
    return false;
}

void limit_memory(const dockerapi::Info& engine, dockerapi::ContainerSpec& container)
{
    if (!sets_memory(container)) container.memory = default_memory_limit(engine);
}

std::int64_t memory_limit_of(const dockerapi::ContainerSpec& container)
{
    const auto* asked = container.host_settings.find("Memory");
    return asked != nullptr && asked->is_integer() ? asked->as_integer() : container.memory;
}

}  // namespace ponk::executor::docker
