// SPDX-License-Identifier: Apache-2.0
#include "config/project/nearby.hpp"

#include "config/project/config_file.hpp"
#include "os/directory.hpp"

#include <algorithm>
#include <deque>
#include <system_error>

namespace ponk::config {

namespace {

// Enough to find a project, not to search a disk.
constexpr std::size_t most_levels = 3;
constexpr std::size_t most_folders = 500;

bool is_folder(const os::Path& path)
{
    std::error_code error;
    return std::filesystem::is_directory(std::filesystem::symlink_status(path, error));
}

bool is_configured(const os::Path& folder, std::string_view file)
{
    const os::Path config = folder / "aml_config";
    if (!is_folder(config)) return false;
    if (!file.empty()) return has_name(config / file);
    const auto entries = os::list_directory(config);
    return entries && std::any_of(entries->begin(), entries->end(), [](const os::Entry& entry) {
               const auto kind = kind_by_name(entry.name);
               return kind == FileKind::compute || kind == FileKind::runconfig;
           });
}

bool is_copy(const std::string& name)
{
    return name.ends_with('~') || name.ends_with(".bak") || name.find(" - Copy") != name.npos;
}

}  // namespace

Result<std::vector<std::string>> configuration_files(const os::Path& folder)
{
    std::vector<std::string> files;
    for (const char* name : {"MLproject", ".amlignore", ".azureml/project.json"}) {
        if (has_name(folder / name)) files.emplace_back(name);
    }
    std::error_code error;
    if (!std::filesystem::is_directory(folder / "aml_config", error)) return files;
    for (const auto& entry : TRY(os::list_directory(folder / "aml_config"))) {
        const auto kind = kind_by_name(entry.name);
        if (is_copy(entry.name) || kind == FileKind::unknown || kind == FileKind::json) continue;
        files.push_back("aml_config/" + entry.name);
    }
    return files;
}

std::string folder_with_configuration(const os::Path& folder, std::string_view file)
{
    std::deque<std::pair<std::string, std::size_t>> waiting{{"", 0}};
    for (std::size_t seen = 0; !waiting.empty() && seen < most_folders; ++seen) {
        const auto [name, level] = waiting.front();
        waiting.pop_front();
        if (level > 0 && is_configured(folder / name, file)) return name;
        const auto entries = os::list_directory(folder / name);
        if (level == most_levels || !entries) continue;
        for (const auto& entry : *entries) {
            if (entry.name.starts_with('.') || !is_folder(folder / name / entry.name)) continue;
            waiting.emplace_back(name.empty() ? entry.name : name + "/" + entry.name, level + 1);
        }
    }
    return "";
}

}  // namespace ponk::config
