// SPDX-License-Identifier: Apache-2.0
#include "config/project/resolve.hpp"

#include "base/text.hpp"
#include "config/files/conda.hpp"
#include "config/project/config_file.hpp"
#include "config/project/nearby.hpp"
#include "config/project/project.hpp"
#include "config/schema/schema.hpp"

#include <algorithm>

namespace ponk::config {

namespace {

bool contains(const std::vector<std::string>& names, const std::string& name)
{
    return std::find(names.begin(), names.end(), name) != names.end();
}

std::string quoted_list(const std::vector<std::string>& names)
{
    std::vector<std::string> quoted;
    for (const auto& name : names)
        quoted.push_back("'" + printable(name) + "'");
    return join(quoted, ", ");
}

std::string
suggestion(const std::string& name, const std::vector<std::string>& names, const char* plural)
{
    const auto near = nearest(name, names);
    return (near ? fmt::format("Did you mean '{}'? ", printable(*near)) : std::string()) +
           fmt::format("Existing {}: {}.", plural, quoted_list(names));
}

}  // namespace

std::string shown_name(const std::string& name, std::string_view extension)
{
    return "aml_config/" + name + std::string(extension);
}

std::optional<ComputeTarget>
read_target(const Project& project, const std::string& name, Diagnostics& diagnostics)
{
    const os::Path file = project.config_folder() / (name + ".compute");
    if (name == "local" && !has_name(file)) return built_in_local();
    Report report(shown_name(name, ".compute"));
    std::optional<ComputeTarget> target;
    if (const auto root = load_document(project.root, shown_name(name, ".compute"), report))
        target = read_compute(*root, name, report);
    const auto remarks = report.take();
    diagnostics.insert(diagnostics.end(), remarks.begin(), remarks.end());
    return target;
}

std::optional<RunConfiguration>
read_run(const Project& project, const std::string& name, Diagnostics& diagnostics)
{
    const os::Path file = project.config_folder() / (name + ".runconfig");
    if (name == "local" && !has_name(file)) return built_in_run_configuration();
    Report report(shown_name(name, ".runconfig"));
    std::optional<RunConfiguration> run;
    if (const auto root = load_document(project.root, shown_name(name, ".runconfig"), report)) {
        run = read_run_configuration(*root, name, report);
    }
    const auto remarks = report.take();
    diagnostics.insert(diagnostics.end(), remarks.begin(), remarks.end());
    return run;
}

void report_dangling_target(const Project& project,
                            const RunConfiguration& run,
                            Diagnostics& diagnostics)
{
    static constexpr std::string_view cloud[] = {
        "amlcompute", "containerinstance", "aci", "batchai"};
    const bool in_cloud = std::any_of(std::begin(cloud), std::end(cloud), [&](auto word) {
        return same_ignoring_case(word, *run.target);
    });
    Report report(run.file);
    report.error(run.target.place,
                 "dangling-target",
                 fmt::format("the target '{}' has no file '{}'",
                             printable(*run.target),
                             printable(shown_name(*run.target, ".compute"))),
                 in_cloud ? "It was a compute resource of the cloud service. Attach your own "
                            "machine with 'ponk computetarget attach', and write its name here."
                          : suggestion(*run.target, project.targets, "targets"));
    const auto remarks = report.take();
    diagnostics.insert(diagnostics.end(), remarks.begin(), remarks.end());
}

// The nested schema says in the run configuration what the flat one says in the target.
void apply_docker_section(const RunConfiguration& run, ComputeTarget& target)
{
    if (!run.docker) return;
    const DockerSection& docker = *run.docker;
    const TargetType type = *target.type;
    if (type == TargetType::cluster || type == TargetType::slurm) return;
    if (*docker.enabled) {
        target.type.value = uses_ssh(type) ? TargetType::remotedocker : TargetType::localdocker;
        target.shared_volumes = docker.shared_volumes;
        target.nvidia_docker = docker.gpu_support;
        if (!docker.base_image->empty()) target.base_docker_image = docker.base_image;
        if (!docker.shm_size->empty()) target.shm_size = docker.shm_size;
    } else if (uses_docker(type) && docker.enabled.given()) {
        target.type.value = uses_ssh(type) ? TargetType::remote : TargetType::local;
    }
}

// The run configuration has the last word also where the target says the same by the other key.
void merge_gpu_keys(const RunConfiguration& run, ComputeTarget& target)
{
    if (run.gpus.given()) {
        if (*target.gpu == GpuPolicy::none && !asks_for_no_gpu(run.gpus))
            target.gpu = GpuPolicy::automatic;
        target.gpus = run.gpus;
    } else if (run.gpu.given() && *run.gpu == GpuPolicy::none) {
        target.gpus = Located<std::string>();
    }
    if (run.gpu.given()) target.gpu = run.gpu;
}

void merge_into_target(const RunConfiguration& run, ComputeTarget& target)
{
    apply_docker_section(run, target);
    if (run.interpreter_path.given()) target.python_location = run.interpreter_path;
    if (run.yarn_deploy_mode.given()) target.yarn_deploy_mode = run.yarn_deploy_mode;
    merge_gpu_keys(run, target);
    if (run.gpu_grace_seconds.given()) target.gpu_grace_seconds = run.gpu_grace_seconds;
}

std::optional<Diagnostic> gpu_contradiction(const RunConfiguration& run,
                                            const ComputeTarget& target)
{
    if (*target.gpu != GpuPolicy::required || !asks_for_no_gpu(target.gpus)) return std::nullopt;
    Report report(run.gpus.given() ? run.file : target.file);
    report.error(target.gpus.place,
                 "contradiction",
                 fmt::format("'gpus: {}' contradicts 'gpu: required' of '{}'",
                             printable(*target.gpus),
                             run.gpu.given() ? run.file : target.file),
                 "Request GPUs with 'gpus', or remove 'gpu: required'.");
    return report.take().front();
}

namespace {

// A target that only needs filling in is fine to have, but not to run on.
void check_reachable(const ComputeTarget& target, Diagnostics& diagnostics)
{
    if (!is_another_machine(target)) return;
    Report report(target.file);
    for (const auto& [key, value] :
         {std::pair("address", &target.address), {"username", &target.username}}) {
        if (!(*value)->empty() && !is_access_placeholder(**value)) continue;
        report.error(value->place,
                     "missing-value",
                     fmt::format("the target '{}' has no {} yet", printable(target.name), key),
                     fmt::format("Fill in '{}', or attach the target again.", key));
    }
    const auto remarks = report.take();
    diagnostics.insert(diagnostics.end(), remarks.begin(), remarks.end());
}

tl::unexpected<Error> no_such_run_configuration(const Project& project, const std::string& name)
{
    Error error(ErrorKind::not_found,
                fmt::format("there is no run configuration '{}': no file '{}'",
                            printable(name),
                            printable(shown_name(name, ".runconfig"))));
    if (contains(project.targets, name)) {
        return tl::unexpected(error.with_hint(
            fmt::format("There is a target with this name. Create a run configuration for it: "
                        "'ponk runconfiguration create -n {0} -t {0}'.",
                        shell_word(name))));
    }
    const auto below = folder_with_configuration(project.root, name + ".runconfig");
    if (!below.empty()) {
        return tl::unexpected(
            error.with_hint(fmt::format("The folder {} has it: go there, or use '--project {}'.",
                                        os::in_quotes(below),
                                        shell_word(below))));
    }
    return tl::unexpected(
        error.with_hint(suggestion(name, project.run_configurations, "run configurations")));
}

tl::unexpected<Error> no_such_target(const Project& project, const std::string& name)
{
    return tl::unexpected(Error(ErrorKind::not_found,
                                fmt::format("there is no target '{}': no file '{}'",
                                            printable(name),
                                            printable(shown_name(name, ".compute"))),
                                suggestion(name, project.targets, "targets")));
}

}  // namespace

Result<ResolvedConfiguration>
resolve(const Project& project, const std::string& name, const std::string& target_override)
{
    if (!contains(project.run_configurations, name))
        return no_such_run_configuration(project, name);
    if (!target_override.empty() && !contains(project.targets, target_override)) {
        return no_such_target(project, target_override);
    }
    Diagnostics diagnostics;
    auto run = read_run(project, name, diagnostics);
    if (!run || has_errors(diagnostics)) return tl::unexpected(to_error(diagnostics));
    if (!target_override.empty()) run->target = target_override;
    std::optional<ComputeTarget> target;
    if (contains(project.targets, *run->target)) {
        target = read_target(project, *run->target, diagnostics);
    } else {
        report_dangling_target(project, *run, diagnostics);
    }
    if (!target || has_errors(diagnostics)) return tl::unexpected(to_error(diagnostics));
    merge_into_target(*run, *target);
    check_reachable(*target, diagnostics);
    check_dependencies(project, *run, *target, diagnostics);
    if (has_errors(diagnostics)) return tl::unexpected(to_error(diagnostics));
    sort_and_unify(diagnostics);
    return ResolvedConfiguration{
        std::move(*run), std::move(*target), std::move(diagnostics), std::nullopt};
}

Result<ComputeTarget> load_target(const Project& project, const std::string& name)
{
    if (!contains(project.targets, name)) return no_such_target(project, name);
    Diagnostics diagnostics;
    auto target = read_target(project, name, diagnostics);
    if (!target || has_errors(diagnostics)) return tl::unexpected(to_error(diagnostics));
    return std::move(*target);
}

Result<RunConfiguration> load_run_configuration(const Project& project, const std::string& name)
{
    if (!contains(project.run_configurations, name))
        return no_such_run_configuration(project, name);
    Diagnostics diagnostics;
    auto run = read_run(project, name, diagnostics);
    if (!run || has_errors(diagnostics)) return tl::unexpected(to_error(diagnostics));
    return std::move(*run);
}

}  // namespace ponk::config
