// SPDX-License-Identifier: Apache-2.0
#include "os/variables.hpp"

namespace ponk::os {

std::string variable(const std::vector<std::string>& environment, std::string_view name)
{
    for (const auto& word : environment) {
        if (word.size() > name.size() && word.starts_with(name) && word[name.size()] == '=')
            return word.substr(name.size() + 1);
    }
    return {};
}

}  // namespace ponk::os
