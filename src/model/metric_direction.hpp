// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <string_view>

namespace ponk::model {

// What a better value of a metric is, as far as its name tells.
enum class Better { unknown, lower, higher };
Better better_of(std::string_view metric);

}  // namespace ponk::model
