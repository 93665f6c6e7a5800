// SPDX-License-Identifier: Apache-2.0
#include "cli/projects/find_project.hpp"

#include "cli/client/named_project.hpp"

#include <filesystem>

namespace ponk::cli {

Result<Json> find_project(Context& context, const std::string& wanted)
{
    std::error_code problem;
    const auto path = std::filesystem::weakly_canonical(wanted, problem).string();
    return find_named_project(*TRY(context.daemon()), wanted, path);
}

}  // namespace ponk::cli
