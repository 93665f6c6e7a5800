// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <string>
#include <string_view>

namespace ponk::config {

// Why "SOURCE:TARGET[:ro|:rw]" cannot be a folder of the machine that a container gets. Empty: it
// can.
std::string problem_of_mount(std::string_view text);

}  // namespace ponk::config
