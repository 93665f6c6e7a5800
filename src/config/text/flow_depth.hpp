// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstddef>
#include <optional>
#include <string_view>

namespace ponk::config {

// Where brackets and braces are nested deeper than `limit`, judged from the characters alone, or
// nullopt. The YAML parser takes a whole line of brackets in before it tells of the first one, at
// hundreds of bytes each: this is asked before it is.
std::optional<std::size_t> find_too_deep_flow(std::string_view text, std::size_t limit);

}  // namespace ponk::config
