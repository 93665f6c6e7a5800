// SPDX-License-Identifier: Apache-2.0
#include "store/records.hpp"

#include <algorithm>
#include <cmath>

namespace ponk::store {

void NumberRange::take(double value)
{
    if (!std::isfinite(value)) return;
    low = std::min(low, value);
    high = std::max(high, value);
}

const char* to_string(Sync sync)
{
    return sync == Sync::full ? "full" : "normal";
}

std::optional<Sync> parse_sync(std::string_view word)
{
    if (word == "full") return Sync::full;
    if (word == "normal") return Sync::normal;
    return std::nullopt;
}

}  // namespace ponk::store
