// SPDX-License-Identifier: Apache-2.0
#include "config/project/enclosing_project.hpp"

#include "config/project/project.hpp"

#include <filesystem>
#include <optional>
#include <sys/stat.h>
#include <system_error>

namespace ponk::config {

namespace {

bool has_mark(const os::Path& folder)
{
    std::error_code problem;
    return std::filesystem::is_directory(folder / "aml_config", problem) ||
           std::filesystem::is_directory(folder / ".azureml", problem) ||
           !mlproject_in(folder).empty() ||
           // Of a worktree and of a submodule it is a file.
           std::filesystem::exists(folder / ".git", problem);
}

std::optional<dev_t> file_system_of(const os::Path& folder)
{
    struct stat info {};
    if (::stat(folder.c_str(), &info) != 0) return std::nullopt;
    return info.st_dev;
}

}  // namespace

os::Path enclosing_project(const os::Path& folder, const os::Path& home, const IsKnown& is_known)
{
    if (has_mark(folder) || is_known(folder)) return folder;
    const auto file_system = file_system_of(folder);
    for (auto above = folder.parent_path(); above != above.parent_path() && above != home;
         above = above.parent_path()) {
        if (file_system_of(above) != file_system) break;
        if (has_mark(above) || is_known(above)) return above;
    }
    return folder;
}

}  // namespace ponk::config
