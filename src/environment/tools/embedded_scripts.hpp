// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <string_view>

// Python programs of this library, as they are linked into ours.
namespace ponk::environment {

std::string_view fetch_tool_script();
std::string_view install_packages_script();
std::string_view list_packages_script();
std::string_view link_conda_packages_script();

}  // namespace ponk::environment
