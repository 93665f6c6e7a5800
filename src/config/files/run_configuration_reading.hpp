// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "config/files/run_configuration.hpp"
#include "config/schema/schema.hpp"

// What the readers of the two run configuration schemas share.
namespace ponk::config {

constexpr const char* default_conda_file = "aml_config/conda_dependencies.yml";
constexpr const char* default_spark_file = "aml_config/spark_dependencies.yml";

void read_flat_run(const Node& root, RunConfiguration& configuration, Report& report);
void read_nested_run(const Node& root, RunConfiguration& configuration, Report& report);

void read_framework(const SectionReader& reader,
                    std::string_view key,
                    const Node& root,
                    RunConfiguration& configuration,
                    Report& report);
void note_null_conda_file(const Node& map, std::string_view key, RunConfiguration& configuration);
void read_environment_variables(const Node* map, RunConfiguration& configuration, Report& report);
// `inputs` and `keep`.
void read_file_lists(const SectionReader& reader, RunConfiguration& configuration);
void read_project_path(const SectionReader& reader,
                       std::string_view key,
                       Located<std::string>& out,
                       Report& report);

}  // namespace ponk::config
