// SPDX-License-Identifier: Apache-2.0
#include "model/target_type.hpp"

#include "base/text.hpp"

#include <algorithm>

namespace ponk::model {

static_assert(std::ranges::all_of(target_types, [](const TargetTraits& traits) {
    return &traits == &traits_of(traits.type);
}));

const char* to_string(TargetType type)
{
    return traits_of(type).name().data();
}

std::optional<TargetType> target_type_from(std::string_view word)
{
    for (const auto& traits : target_types)
        for (const auto known : traits.words)
            if (!known.empty() && same_ignoring_case(known, trim(word))) return traits.type;
    return std::nullopt;
}

}  // namespace ponk::model
