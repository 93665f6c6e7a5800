// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "config/files/conda.hpp"
#include "config/project/project.hpp"

// What resolving one configuration and checking all of them share.
namespace ponk::config {

// "aml_config/docker.compute"
std::string shown_name(const std::string& name, std::string_view extension);

// Read one file of the project; remarks are added. Absent when the text cannot be read at all.
std::optional<ComputeTarget>
read_target(const Project& project, const std::string& name, Diagnostics& diagnostics);
std::optional<RunConfiguration>
read_run(const Project& project, const std::string& name, Diagnostics& diagnostics);

void report_dangling_target(const Project& project,
                            const RunConfiguration& run,
                            Diagnostics& diagnostics);
// What the run configuration says about container, interpreter and GPUs goes before the target.
void merge_into_target(const RunConfiguration& run, ComputeTarget& target);

// The run configuration and its target, merged, say about GPUs what cannot be together.
std::optional<Diagnostic> gpu_contradiction(const RunConfiguration& run,
                                            const ComputeTarget& target);

// The conda and Spark files as far as this run uses them: that they are there, can be read, and fit
// the target's GPU setting.
void check_dependencies(const Project& project,
                        const RunConfiguration& run,
                        const ComputeTarget& target,
                        Diagnostics& diagnostics);

// Packages built for CPUs beside a GPU flag, and the reverse.
void check_gpu_packages(const CondaEnvironment& environment,
                        const ComputeTarget& target,
                        Report& report);

}  // namespace ponk::config
