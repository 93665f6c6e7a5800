// SPDX-License-Identifier: Apache-2.0
#include "config/project/check.hpp"

#include "config/project/config_file.hpp"
#include "config/project/nearby.hpp"
#include "config/project/resolve.hpp"

#include <algorithm>

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

// What one run configuration, its target and their dependency files say against each other. The
// files' own remarks are told elsewhere; what is broken cannot be compared.
void compare_run(const Project& project, const RunConfiguration& run, Diagnostics& all)
{
    Diagnostics own;
    const auto& targets = project.targets;
    if (std::find(targets.begin(), targets.end(), *run.target) == targets.end()) {
        report_dangling_target(project, run, all);
        return;
    }
    auto target = read_target(project, *run.target, own);
    if (!target || has_errors(own)) return;
    merge_into_target(run, *target);
    if (auto remark = gpu_contradiction(run, *target)) all.push_back(std::move(*remark));
    check_dependencies(project, run, *target, all);
}

void compare_files(const Project& project, const std::string& name, Diagnostics& all)
{
    Diagnostics own;
    const auto run = read_run(project, name, own);
    if (run && !has_errors(own)) compare_run(project, *run, all);
}

bool is_run_configuration(const os::Path& file)
{
    return kind_by_name(file) == FileKind::runconfig &&
           file.parent_path().filename() == "aml_config";
}

// A run configuration in its place has neighbours to be compared with; only what concerns the file
// itself is told, under the name it was given by.
Diagnostics compare_with_neighbours(const os::Path& file)
{
    Diagnostics all;
    std::error_code error;
    const os::Path whole = std::filesystem::absolute(file, error);
    if (!is_run_configuration(whole)) return all;
    const auto project = open_project(whole.parent_path().parent_path());
    if (!project || !is_file(file)) return all;
    compare_files(*project, name_of(file), all);
    const std::string own_name = shown_name(name_of(file), ".runconfig");
    std::erase_if(all, [&](const Diagnostic& remark) { return remark.file != own_name; });
    for (auto& remark : all)
        remark.file = file.string();
    return all;
}

}  // namespace

Result<Diagnostics> check_project(const os::Path& folder)
{
    const auto project = TRY(open_project(folder));
    Diagnostics all;
    const auto check = [&](const std::string& name) {
        if (has_name(folder / name)) append(all, dump_file(folder, name).diagnostics);
    };
    for (const auto& name : TRY(configuration_files(folder)))
        check(name);
    check(".gitignore");
    for (const auto& name : project.run_configurations) {
        if (is_file(folder / shown_name(name, ".runconfig"))) compare_files(project, name, all);
    }
    sort_and_unify(all);
    return all;
}

Diagnostics check_text(const os::Path& folder, const os::Path& path, std::string_view text)
{
    Diagnostics all = dump_text(text, path, path.native()).diagnostics;
    if (!is_run_configuration(folder / path) || has_errors(all)) return all;
    const auto project = open_project((folder / path).parent_path().parent_path());
    Report report(path.native());
    const auto root = read_document(text, report);
    if (!project || !root) return all;
    auto run = read_run_configuration(*root, name_of(path), report);
    Diagnostics more;
    compare_run(*project, run, more);
    std::erase_if(more, [&](const Diagnostic& remark) { return remark.file != path.native(); });
    append(all, std::move(more));
    sort_and_unify(all);
    return all;
}

Diagnostics check_files(const std::vector<os::Path>& files)
{
    Diagnostics all;
    for (const auto& file : files) {
        Diagnostics own = dump_file(file).diagnostics;
        append(own, compare_with_neighbours(file));
        sort_and_unify(own);
        append(all, std::move(own));
    }
    return all;
}

}  // namespace ponk::config
