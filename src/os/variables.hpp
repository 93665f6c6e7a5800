// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <string>
#include <string_view>
#include <vector>

namespace ponk::os {

// The value of `name` among "K=V" words, as a process has them; empty when it is not set.
std::string variable(const std::vector<std::string>& environment, std::string_view name);

// All of this process, "K=V".
std::vector<std::string> own_variables();

}  // namespace ponk::os
