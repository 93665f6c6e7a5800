// SPDX-License-Identifier: Apache-2.0
#include "os/helper_environment.hpp"

#include "base/text.hpp"

namespace ponk::os {

std::vector<std::string> helper_environment(std::vector<std::string> environment,
                                            const Path& foreign)
{
    constexpr std::string_view name = "PATH=";
    for (auto& variable : environment) {
        if (!variable.starts_with(name)) continue;
        auto folders = split(variable.substr(name.size()), ':');
        std::erase_if(folders, [&](const std::string& folder) {
            if (!folder.starts_with('/')) return true;
            const auto below = Path(folder).lexically_normal().lexically_relative(foreign);
            return !foreign.empty() && !below.empty() && *below.begin() != "..";
        });
        variable = std::string(name) + join(folders, ":");
    }
    return environment;
}

}  // namespace ponk::os
