// SPDX-License-Identifier: Apache-2.0
#include "config/project/project.hpp"

#include "base/text.hpp"
#include "config/project/config_file.hpp"
#include "config/schema/schemas.hpp"
#include "os/directory.hpp"

#include <algorithm>
#include <dirent.h>

namespace ponk::config {

ProjectIdentity read_project_identity(const Node& root, Report& report)
{
    ProjectIdentity identity;
    check_against(project_schema(), root, report);
    const SectionReader reader(&root);
    reader.read("Id", identity.id);
    reader.read("Scope", identity.scope);
    const std::size_t slash = identity.scope->rfind('/');
    if (slash != std::string::npos) identity.name = identity.scope->substr(slash + 1);
    return identity;
}

Json meaning_of(const ProjectIdentity& identity)
{
    const auto text = [](const std::string& value) { return value.empty() ? Json() : Json(value); };
    return JsonObject{{"id", text(*identity.id)},
                      {"scope", text(*identity.scope)},
                      {"name", text(identity.name)}};
}

std::optional<ProjectIdentity> load_project_identity(const os::Path& folder)
{
    for (const char* name : {".azureml/project.json", "aml_config/project.json"}) {
        Report report(name);
        const auto root = load_document(folder, name, report);
        if (!root) continue;
        auto identity = read_project_identity(*root, report);
        if (!report.has_errors()) return identity;
    }
    return std::nullopt;
}

namespace {

// Names of the files that end in `extension`, plus "local", sorted.
std::vector<std::string> names_with(const std::vector<os::Entry>& entries,
                                    std::string_view extension)
{
    std::vector<std::string> names{"local"};
    for (const auto& entry : entries) {
        if (entry.type == DT_DIR || !entry.name.ends_with(extension)) continue;
        const auto name = entry.name.substr(0, entry.name.size() - extension.size());
        if (!name.empty() && name != "local") names.push_back(name);
    }
    std::sort(names.begin(), names.end());
    return names;
}

}  // namespace

std::string mlproject_in(const os::Path& folder)
{
    // MLflow finds it in any case.
    for (const char* name : {"MLproject", "MLProject", "mlproject"})
        if (has_name(folder / name)) return name;
    return "";
}

Result<Project> open_project(const os::Path& folder)
{
    std::error_code error;
    if (!std::filesystem::is_directory(folder, error)) {
        return fail(ErrorKind::not_found, "there is no folder {}", os::in_quotes(folder));
    }
    Project project;
    project.root = folder;
    project.identity = load_project_identity(folder);
    project.mlproject = mlproject_in(folder);
    std::vector<os::Entry> entries;
    if (std::filesystem::is_directory(project.config_folder(), error)) {
        entries = TRY(os::list_directory(project.config_folder()));
    } else if (has_name(project.config_folder())) {
        return tl::unexpected(
            Error(ErrorKind::invalid_argument,
                  os::in_quotes(project.config_folder()) + " exists, but is not a readable folder",
                  "ponk reads configuration files from there: fix it or remove it."));
    }
    project.targets = names_with(entries, ".compute");
    project.run_configurations = names_with(entries, ".runconfig");
    return project;
}

}  // namespace ponk::config
