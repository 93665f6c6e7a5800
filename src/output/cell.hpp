// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "base/json.hpp"
#include "output/terminal.hpp"

#include <cstddef>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

namespace ponk::output {

// A value as one line for people: text without quotes and with control characters spelt out,
// numbers rounded to what one reads, nested values as JSON, null as nothing.
std::string cell_text(const Json& value);
// A number rounded to six significant digits; whole ones keep their ".0".
std::string brief_number(double value);

// The longest beginning of `text` that takes at most `width` columns, and the rest.
std::pair<std::string_view, std::string_view> split_at_width(std::string_view text,
                                                             std::size_t width);
// The same, but between two words where there is a blank late enough in the line; that blank is in
// neither part.
std::pair<std::string_view, std::string_view> split_at_word(std::string_view text,
                                                            std::size_t width);
// Lines of at most `width` columns, broken between words where that is possible.
std::vector<std::string> wrapped(std::string_view text, std::size_t width);
// `text` in at most `width` columns, with an ellipsis at the end when something is missing.
std::string shortened(std::string_view text, std::size_t width, const Terminal& terminal);

}  // namespace ponk::output
