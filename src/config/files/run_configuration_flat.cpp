// SPDX-License-Identifier: Apache-2.0
#include "base/text.hpp"
#include "config/files/run_configuration_reading.hpp"

// The flat schema of 2017.
namespace ponk::config {

namespace {

// The first word is the script; "$file" stands for the one that the command line names.
void read_argument_vector(const SectionReader& reader, RunConfiguration& configuration)
{
    std::vector<Located<std::string>> words;
    reader.read("ArgumentVector", words);
    if (words.empty()) return;
    if (*words.front() != "$file") configuration.script = words.front();
    configuration.arguments.assign(words.begin() + 1, words.end());
}

void read_target(const SectionReader& reader,
                 const Node& root,
                 RunConfiguration& configuration,
                 Report& report)
{
    reader.read("Target", configuration.target);
    if (configuration.target.given() && !configuration.target->empty()) return;
    if (!root.is_map()) return;
    const Node* empty = root.find("Target");
    // A wrong case was reported already; one message is enough.
    if (report.has_errors()) return;
    report.warning(empty != nullptr ? empty->place : root.place,
                   "missing-key",
                   "the run configuration has no 'Target'; 'local' is used",
                   "Add a line such as 'Target: local'.");
    configuration.target = std::string("local");
}

}  // namespace

void read_flat_run(const Node& root, RunConfiguration& configuration, Report& report)
{
    const SectionReader reader(&root);
    read_argument_vector(reader, configuration);
    read_target(reader, root, configuration, report);
    read_framework(reader, "Framework", root, configuration, report);
    reader.read("PrepareEnvironment", configuration.prepare_environment);
    reader.read("TrackedRun", configuration.tracked_run);
    reader.read("UseSampling", configuration.use_sampling);
    reader.read("Description", configuration.description);
    read_environment_variables(reader.find("EnvironmentVariables"), configuration, report);

    configuration.conda_dependencies_file = std::string(default_conda_file);
    configuration.spark_dependencies_file = std::string(default_spark_file);
    read_project_path(reader, "CondaFile", configuration.conda_dependencies_file, report);
    read_project_path(
        reader, "CondaDependenciesFile", configuration.conda_dependencies_file, report);
    note_null_conda_file(root, "CondaDependenciesFile", configuration);
    read_project_path(
        reader, "SparkDependenciesFile", configuration.spark_dependencies_file, report);
    Located<bool> managed = true;
    reader.read("ManagedEnvironment", managed);
    // The first template wrote both down, and its local runs used the Python that was there.
    const Node* conda = root.is_map() ? root.find("CondaFile") : nullptr;
    const bool is_template = *managed && conda != nullptr && conda->is_null() &&
                             !configuration.conda_dependencies_file.given();
    if (managed.given() && !is_template)
        configuration.user_managed_dependencies = {!*managed, managed.place};

    if (const Node* value = reader.find("DataSourceSettings")) {
        report.notice(
            value->place,
            "no-data-sources",
            "'DataSourceSettings' has no effect: each data source uses its active sample, "
            "or all rows with 'UseSampling: false'");
    }
    const Node* substitutions = reader.find("DataSourceSubstitutions");
    if (substitutions != nullptr && substitutions->is_map()) {
        for (const auto& member : substitutions->members) {
            if (member.value.is_scalar())
                configuration.data_source_substitutions.emplace_back(member.key, member.value.text);
        }
    }
    read_gpu_keys(
        reader, {configuration.gpus, configuration.gpu, configuration.gpu_grace_seconds}, report);
    read_project_path(reader, "tensorboard", configuration.tensorboard, report);
    read_file_lists(reader, configuration);
    reader.read("nodeCount", configuration.node_count);
    reader.read("maxRunDurationSeconds", configuration.max_run_duration_seconds);
}

}  // namespace ponk::config
