// SPDX-License-Identifier: Apache-2.0
#include "base/text.hpp"
#include "config/files/run_configuration_reading.hpp"
#include "config/project/config_file.hpp"
#include "config/project/resolve.hpp"

#include <algorithm>

// Rules between a run configuration, its target and the dependency files they name.
namespace ponk::config {

namespace {

bool is_gpu_package(const Package& package)
{
    if (package.kind == Package::Kind::url || package.kind == Package::Kind::path) {
        return package.text.find("/GPU") != std::string::npos ||
               package.text.find("_gpu") != std::string::npos;
    }
    return package.name.ends_with("-gpu") || package.name.starts_with("cupy") ||
           package.name.find("-cu1") != std::string::npos ||
           package.text.find("and-cuda") != std::string::npos;
}

// TensorFlow had a build of its own for GPUs until 2.1; CNTK's addresses say it.
bool is_cpu_package(const Package& package)
{
    if (package.kind == Package::Kind::url || package.kind == Package::Kind::path) {
        return package.text.find("/CPU-Only/") != std::string::npos;
    }
    if (package.name == "tensorflow-cpu" || package.name == "pytorch-cpu") return true;
    if (package.name != "tensorflow" || is_gpu_package(package)) return false;
    const auto digit = package.version.find_first_of("0123456789");
    return digit == std::string::npos || package.version[digit] < '2';
}

void report_missing(const RunConfiguration& run,
                    const Located<std::string>& file,
                    const char* what,
                    Diagnostics& diagnostics)
{
    Report report(run.file);
    report.error(file.place,
                 "missing-file",
                 fmt::format("the {} '{}' does not exist", what, printable(*file)),
                 "The path must be relative to the project's folder.");
    const auto remarks = report.take();
    diagnostics.insert(diagnostics.end(), remarks.begin(), remarks.end());
}

// Null meant the default file in 2017, too; it is written by people who mean none.
void tell_about_null(const RunConfiguration& run, Diagnostics& diagnostics)
{
    Report report(run.file);
    report.notice(*run.conda_file_said_null,
                  "null-conda-file",
                  fmt::format("null means the default conda file '{}', which exists",
                              *run.conda_dependencies_file),
                  "To use it, write its name. To use no environment, write 'ManagedEnvironment: "
                  "false' ('userManagedDependencies: true' in nested files).");
    const auto remarks = report.take();
    diagnostics.insert(diagnostics.end(), remarks.begin(), remarks.end());
}

bool is_there(const Project& project, const Located<std::string>& file)
{
    return !file->empty() && has_name(project.root / *file);
}

}  // namespace

void check_gpu_packages(const CondaEnvironment& environment,
                        const ComputeTarget& target,
                        Report& report)
{
    if (!uses_docker(*target.type)) return;
    std::vector<const Package*> with_gpu;
    std::vector<const Package*> without_gpu;
    for (const auto* list : {&environment.conda, &environment.pip}) {
        for (const auto& package : *list) {
            if (is_gpu_package(package)) with_gpu.push_back(&package);
            if (is_cpu_package(package)) without_gpu.push_back(&package);
        }
    }
    if (!*target.nvidia_docker) {
        for (const Package* package : with_gpu) {
            report.warning(package->place,
                           "gpu-package-without-flag",
                           fmt::format("'{}' is built for GPUs, but the target '{}' does not set "
                                       "'nvidiaDocker: true'",
                                       printable(package->name),
                                       printable(target.name)),
                           "Set the flag, or use the package for CPUs.");
        }
        return;
    }
    if (!with_gpu.empty()) return;
    for (const Package* package : without_gpu) {
        report.warning(package->place,
                       "cpu-package-with-gpu",
                       fmt::format("'{}' is built for CPUs, but the target '{}' sets "
                                   "'nvidiaDocker: true': the run would not use the GPU",
                                   printable(package->name),
                                   printable(target.name)),
                       package->name == "tensorflow"
                           ? "Use 'tensorflow[and-cuda]' of version 2, or another GPU build."
                           : "Use the package built for GPUs.");
    }
}

bool builds_environment(const RunConfiguration& run, const ComputeTarget& target)
{
    if (*run.user_managed_dependencies || *target.user_managed_environment) return false;
    return !is_process_here(*target.type) || run.user_managed_dependencies.given();
}

void check_dependencies(const Project& project,
                        const RunConfiguration& run,
                        const ComputeTarget& target,
                        Diagnostics& diagnostics)
{
    const auto add = [&](Report& report) {
        const auto remarks = report.take();
        diagnostics.insert(diagnostics.end(), remarks.begin(), remarks.end());
    };
    const auto& conda = run.conda_dependencies_file;
    if (builds_environment(run, target)) {
        if (is_there(project, conda)) {
            if (run.conda_file_said_null && !conda.given()) tell_about_null(run, diagnostics);
            Report report(os::Path(*conda).lexically_normal().string());
            if (const auto root = load_document(project.root, *conda, report)) {
                check_gpu_packages(read_conda(*root, report), target, report);
            }
            add(report);
        } else if (conda.given() && *conda != default_conda_file) {
            report_missing(run, conda, "conda file", diagnostics);
        }
    }
    const auto& spark = run.spark_dependencies_file;
    if (*run.framework != Framework::pyspark) return;
    if (is_there(project, spark)) {
        Report report(os::Path(*spark).lexically_normal().string());
        if (const auto root = load_document(project.root, *spark, report)) {
            (void)read_spark(*root, report);
        }
        add(report);
    } else if (spark.given() && *spark != default_spark_file) {
        report_missing(run, spark, "Spark file", diagnostics);
    }
}

}  // namespace ponk::config
