// SPDX-License-Identifier: Apache-2.0
#include "environment/tools/embedded_scripts.hpp"

extern "C" {
extern const char ponk_fetch_tool[];
extern const char ponk_fetch_tool_end[];
extern const char ponk_install_packages[];
extern const char ponk_install_packages_end[];
extern const char ponk_link_conda_packages[];
extern const char ponk_link_conda_packages_end[];
extern const char ponk_list_packages[];
extern const char ponk_list_packages_end[];
}

namespace ponk::environment {

std::string_view fetch_tool_script()
{
    return {&ponk_fetch_tool[0], &ponk_fetch_tool_end[0]};
}

std::string_view install_packages_script()
{
    return {&ponk_install_packages[0], &ponk_install_packages_end[0]};
}

std::string_view link_conda_packages_script()
{
    return {&ponk_link_conda_packages[0], &ponk_link_conda_packages_end[0]};
}

std::string_view list_packages_script()
{
    return {&ponk_list_packages[0], &ponk_list_packages_end[0]};
}

}  // namespace ponk::environment
