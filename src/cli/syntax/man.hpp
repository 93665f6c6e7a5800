// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <string>
#include <string_view>
#include <vector>

namespace ponk::cli {

// "ponk", "ponk-experiment", …: one page for each group and each command outside of groups.
std::vector<std::string> man_page_names();
// The page that tells of a command, group or page; empty when there is none.
std::string man_page_of(std::string_view what);
// The page's source in roff.
std::string man_page(std::string_view name);

}  // namespace ponk::cli
