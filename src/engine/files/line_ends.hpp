// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <string>
#include <string_view>

namespace ponk::engine {

// The text of an editor, whose lines end as editors like it, with the line ends that the file
// `before` had: each line that is as it was keeps its own, new ones get the one that is most common
// there. A file of one line without an end gets them as they come.
std::string with_line_ends_of(std::string_view before, std::string_view text);

}  // namespace ponk::engine
