// SPDX-License-Identifier: Apache-2.0
#include "config/project/mlproject_use.hpp"

#include "base/text.hpp"

#include <algorithm>
#include <filesystem>

namespace ponk::config {

namespace {

std::string place_of(const std::string& file, Place place)
{
    return fmt::format("{}:{}:{}", file, place.line, place.column);
}

Result<> use_container(const MlProject& mlproject, ResolvedConfiguration& resolved)
{
    auto& target = resolved.target;
    const auto& image = mlproject.docker_image;
    if (*target.type == TargetType::remote) {
        return tl::unexpected(Error(
            ErrorKind::invalid_argument,
            fmt::format("{}: the project runs in the container '{}', and target '{}' has none",
                        place_of(mlproject.file, image.place),
                        printable(*image),
                        printable(target.name)),
            "Attach the machine as 'remotedocker', and choose that target with '-t'."));
    }
    if (is_process_here(*target.type)) target.type.value = TargetType::localdocker;
    if (target.base_docker_image.given() && *target.base_docker_image != *image) {
        Report report(mlproject.file);
        report.notice(image.place,
                      "image-of-project",
                      fmt::format("the image of the project is used, not '{}' of target '{}'",
                                  printable(*target.base_docker_image),
                                  printable(target.name)));
        const auto remarks = report.take();
        resolved.diagnostics.insert(resolved.diagnostics.end(), remarks.begin(), remarks.end());
    }
    target.base_docker_image = image;
    target.user_managed_environment.value = true;  // the image has the packages
    auto& variables = resolved.run.environment_variables;
    for (const auto& variable : mlproject.docker_variables) {
        const auto same = [&](const auto& other) { return other.name == variable.name; };
        if (variable.value && std::none_of(variables.begin(), variables.end(), same))
            variables.push_back({variable.name, *variable.value, variable.place, mlproject.file});
    }
    return {};
}

}  // namespace

std::optional<std::string> entry_point_of(const Project& project,
                                          const RunConfiguration& run,
                                          const model::RunRequest& request)
{
    if (!request.entry_point.empty()) return request.entry_point;
    if (project.mlproject.empty() || !request.command.empty() || !request.module.empty() ||
        request.purpose != model::Policy::Purpose::run)
        return std::nullopt;
    if (!request.script)
        return run.script->empty() ? std::optional<std::string>("main") : std::nullopt;
    std::error_code problem;
    if (std::filesystem::exists(project.root / *request.script, problem) ||
        std::filesystem::exists(project.root / request.folder / *request.script, problem))
        return std::nullopt;
    return request.script;
}

Result<MlProject> load_mlproject(const Project& project, Diagnostics& diagnostics)
{
    Report report(project.mlproject);
    std::optional<MlProject> mlproject;
    if (const auto root = load_document(project.root, project.mlproject, report))
        mlproject = read_mlproject(*root, report);
    const auto remarks = report.take();
    if (!mlproject || has_errors(remarks)) return tl::unexpected(to_error(remarks));
    mlproject->file = project.mlproject;
    diagnostics.insert(diagnostics.end(), remarks.begin(), remarks.end());
    return std::move(*mlproject);
}

Result<> use_mlproject(const Project& project,
                       const model::RunRequest& request,
                       ResolvedConfiguration& resolved)
{
    if (project.mlproject.empty() || !entry_point_of(project, resolved.run, request)) return {};
    resolved.mlproject = TRY(load_mlproject(project, resolved.diagnostics));
    if (resolved.mlproject->docker_image.given()) TRY(use_container(*resolved.mlproject, resolved));
    return {};
}

}  // namespace ponk::config
