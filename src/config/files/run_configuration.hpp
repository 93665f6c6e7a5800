// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "config/files/compute.hpp"
#include "config/files/spark.hpp"
#include "config/text/diagnostic.hpp"
#include "config/text/document.hpp"
#include "config/text/place.hpp"

#include <optional>
#include <string>
#include <vector>

namespace ponk::config {

enum class Framework { python, pyspark, cntk, tensorflow, pytorch };

const char* to_string(Framework framework);
// The code of the remark on a configuration that does not name one.
constexpr const char* framework_missing = "framework-missing";

enum class RunSchema { built_in, flat_2017, nested_2018 };

const char* to_string(RunSchema schema);

struct EnvironmentVariable {
    std::string name;
    std::string value;      // "secret:NAME" refers to a stored secret
    Place place;            // of the value
    std::string file = {};  // that has it, where that is not the run configuration
};

// environment.docker of the nested schema. The flat schema says these things in the .compute.
struct DockerSection {
    Located<bool> enabled = false;
    Located<std::string> base_image;
    Located<bool> shared_volumes = true;
    Located<bool> gpu_support = false;
    Located<std::string> shm_size;
    std::vector<Located<std::string>> arguments;
    Located<std::string> registry_address, registry_username, registry_password;
};

// A <name>.runconfig of either schema, with defaults filled in. Empty text means absent.
struct RunConfiguration {
    std::string name;
    std::string file;  // as shown in messages; empty for the built-in "local"
    RunSchema schema = RunSchema::built_in;

    Located<std::string> script;  // empty: the command line names it ("$file" of 2017)
    std::vector<Located<std::string>> arguments;
    Located<std::string> target = std::string("local");
    Located<Framework> framework = Framework::python;
    Located<bool> prepare_environment = true;
    Located<bool> tracked_run = true;
    Located<bool> use_sampling = true;
    // A data source (.dsource) and the one that takes its place.
    std::vector<std::pair<std::string, std::string>> data_source_substitutions;
    Located<std::string> description;
    std::vector<EnvironmentVariable> environment_variables;
    Located<std::string> conda_dependencies_file;  // relative to the project
    // Where the file says null for it, which means the default file and looks like none.
    std::optional<Place> conda_file_said_null;
    Located<std::string> spark_dependencies_file;

    Located<bool> user_managed_dependencies = false;
    Located<std::string> interpreter_path;  // empty: the target decides
    std::optional<DockerSection> docker;
    std::optional<SparkDependencies> spark;  // inline in the nested schema
    Located<std::string> yarn_deploy_mode;

    Located<std::int64_t> max_run_duration_seconds = std::int64_t{0};  // 0: no limit
    Located<std::int64_t> node_count = std::int64_t{1};
    Located<std::int64_t> processes_per_node = std::int64_t{1};
    Located<std::string> communicator;
    Located<bool> output_collection = true;
    Located<bool> snapshot_project = true;

    Located<std::string> tensorboard;  // folder of event files, relative to the project

    std::vector<Located<std::string>> inputs;  // data of the project that does not travel
    // Lines as .gitignore has them; nullopt: the usual folders of checkpoints.
    std::optional<std::vector<std::string>> keep;

    Located<std::string> gpus;
    Located<GpuPolicy> gpu = GpuPolicy::automatic;
    Located<std::int64_t> gpu_grace_seconds = std::int64_t{600};
};

// What runs in a folder without configuration: the local Python.
RunConfiguration built_in_run_configuration();

RunSchema schema_of(const Node& root);
// Reads a parsed .runconfig of either schema; remarks go to `report`.
RunConfiguration read_run_configuration(const Node& root, std::string name, Report& report);

Json meaning_of(const RunConfiguration& configuration);

}  // namespace ponk::config
