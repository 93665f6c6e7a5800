// SPDX-License-Identifier: Apache-2.0
#include "config/check.hpp"

#include "config/config_file.hpp"
#include "config/resolve.hpp"
#include "os/directory.hpp"

#include <algorithm>
#include <dirent.h>

namespace ponk::config {

namespace {

void append(Diagnostics& all, Diagnostics more)
{
    all.insert(
        all.end(), std::make_move_iterator(more.begin()), std::make_move_iterator(more.end()));
}

bool is_file(const os::Path& path)
{
    std::error_code error;
    return std::filesystem::is_regular_file(path, error);
}

void check_cross_file_rules(const Project& project, Diagnostics& all)
{
    for (const auto& name : project.run_configurations) {
        if (!is_file(project.config_folder() / (name + ".runconfig"))) continue;
        // The files' own remarks are there already; what is broken cannot be compared.
        Diagnostics own;
        const auto run = read_run(project, name, own);
        if (!run || has_errors(own)) continue;
        const auto& targets = project.targets;
        if (std::find(targets.begin(), targets.end(), *run->target) == targets.end()) {
            report_dangling_target(project, *run, all);
            continue;
        }
        auto target = read_target(project, *run->target, own);
        if (!target || has_errors(own)) continue;
        merge_into_target(*run, *target);
        check_dependencies(project, *run, *target, all);
    }
}

}  // namespace

Result<Diagnostics> check_project(const os::Path& folder)
{
    const auto project = TRY(open_project(folder));
    Diagnostics all;
    const auto check = [&](const std::string& name) {
        if (is_file(folder / name)) append(all, dump_file(folder / name, name).diagnostics);
    };
    check("MLproject");
    check(".azureml/project.json");
    std::error_code error;
    if (std::filesystem::is_directory(project.config_folder(), error)) {
        for (const auto& entry : TRY(os::list_directory(project.config_folder()))) {
            const auto kind = kind_by_name(entry.name);
            const bool backup = entry.name.ends_with('~') || entry.name.ends_with(".bak") ||
                                entry.name.find(" - Copy") != std::string::npos;
            if (entry.type == DT_DIR || backup || kind == FileKind::unknown ||
                kind == FileKind::json) {
                continue;
            }
            check("aml_config/" + entry.name);
        }
    }
    check_cross_file_rules(project, all);
    sort_and_unify(all);
    return all;
}

Diagnostics check_files(const std::vector<os::Path>& files)
{
    Diagnostics all;
    for (const auto& file : files)
        append(all, dump_file(file).diagnostics);
    return all;
}

}  // namespace ponk::config
