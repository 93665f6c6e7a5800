// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "config/files/compute.hpp"
#include "config/files/mlproject.hpp"
#include "config/files/run_configuration.hpp"
#include "config/project/check.hpp"
#include "config/project/config_file.hpp"
#include "config/text/diagnostic.hpp"
#include "os/file.hpp"

#include <optional>
#include <string>
#include <vector>

namespace ponk::config {

// project.json of .azureml/ or aml_config/.
struct ProjectIdentity {
    Located<std::string> id;     // may be empty: the file says null
    Located<std::string> scope;  // resource path of the switched-off service
    std::string name;            // last part of the scope
};

ProjectIdentity read_project_identity(const Node& root, Report& report);
Json meaning_of(const ProjectIdentity& identity);
// Absent when the folder has no such file, or none that can be read.
std::optional<ProjectIdentity> load_project_identity(const os::Path& folder);

// A folder, seen as a project: what its aml_config offers, by name. Only the folder's own
// aml_config counts, never one of a folder below or above.
struct Project {
    os::Path root;
    std::optional<ProjectIdentity> identity;
    std::vector<std::string> targets;             // names of *.compute, sorted, plus "local"
    std::vector<std::string> run_configurations;  // names of *.runconfig, sorted, plus "local"
    std::string mlproject;                        // the name of its MLproject file; empty: none

    [[nodiscard]] os::Path config_folder() const { return root / "aml_config"; }
};

// The name of the MLproject file in a folder; empty: none.
std::string mlproject_in(const os::Path& folder);

// Fails with `not_found` when there is no such folder. A folder without configuration is a project.
Result<Project> open_project(const os::Path& folder);

// Everything a submission needs to know, after both files were read and agree.
struct ResolvedConfiguration {
    RunConfiguration run;
    ComputeTarget target;
    Diagnostics diagnostics;  // warnings and notices; with errors there is no ResolvedConfiguration
    std::optional<MlProject> mlproject;  // of which an entry point is run
};

// The run configuration `name` with its target, or with the target `target_override` ("" for none).
// The error has every reason with its place; a wrong name gets the nearest ones.
Result<ResolvedConfiguration>
resolve(const Project& project, const std::string& name, const std::string& target_override = {});
// Whether the packages of the conda file are ours to install. On this machine they are the user's,
// as in 2017, unless the run configuration says otherwise.
bool builds_environment(const RunConfiguration& run, const ComputeTarget& target);
// One target alone, for the commands about targets.
Result<ComputeTarget> load_target(const Project& project, const std::string& name);
Result<RunConfiguration> load_run_configuration(const Project& project, const std::string& name);

}  // namespace ponk::config
