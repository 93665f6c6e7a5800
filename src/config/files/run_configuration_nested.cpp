// SPDX-License-Identifier: Apache-2.0
#include "base/text.hpp"
#include "config/files/image.hpp"
#include "config/files/run_configuration_reading.hpp"

// The nested schema of late 2018.
namespace ponk::config {

namespace {

void read_docker(const SectionReader& reader, RunConfiguration& configuration, Report& report)
{
    DockerSection docker;
    reader.read("enabled", docker.enabled);
    reader.read("baseImage", docker.base_image);
    reader.read("sharedVolumes", docker.shared_volumes);
    reader.read("gpuSupport", docker.gpu_support);
    reader.read("shmSize", docker.shm_size);
    reader.read("arguments", docker.arguments);
    const auto registry = reader.section("baseImageRegistry");
    registry.read("address", docker.registry_address);
    registry.read("username", docker.registry_username);
    registry.read("password", docker.registry_password);
    if (*docker.enabled) {
        const Node* image = reader.find("baseImage");
        if (image != nullptr && image->is_scalar()) check_image(*image, report);
        check_gpu_agreement({docker.base_image, docker.gpu_support, "baseImage", "gpuSupport"},
                            report);
    }
    if (docker.shm_size.given() && !is_memory_size(*docker.shm_size)) {
        report.error(docker.shm_size.place,
                     "wrong-value",
                     fmt::format("'shmSize' cannot be '{}'", printable(*docker.shm_size)),
                     "Write a number followed by b, k, m or g, such as '1g'.");
    }
    if (!docker.registry_password->empty() && !docker.registry_password->starts_with("secret:") &&
        !is_access_placeholder(*docker.registry_password)) {
        report.warning(docker.registry_password.place,
                       "secret-in-file",
                       "this file contains a password in clear text",
                       "Store it with 'ponk secret set NAME' and write 'secret:NAME'.");
    }
    configuration.docker = std::move(docker);
}

void read_counts(const SectionReader& reader, RunConfiguration& configuration, Report& report)
{
    reader.section("batchai").read("nodeCount", configuration.node_count);
    reader.read("nodeCount", configuration.node_count);
    reader.section("mpi").read("processCountPerNode", configuration.processes_per_node);
    reader.read("maxRunDurationSeconds", configuration.max_run_duration_seconds);
    for (const auto& [key, value] : {std::pair("nodeCount", &configuration.node_count),
                                     {"processCountPerNode", &configuration.processes_per_node}}) {
        if (**value >= 1) continue;
        report.error(value->place, "wrong-value", fmt::format("'{}' must be at least 1", key));
    }
    if (*configuration.max_run_duration_seconds < 0) {
        report.error(configuration.max_run_duration_seconds.place,
                     "wrong-value",
                     "'maxRunDurationSeconds' cannot be negative");
    }
}

}  // namespace

void read_nested_run(const Node& root, RunConfiguration& configuration, Report& report)
{
    const SectionReader reader(&root);
    reader.read("script", configuration.script);
    reader.read("arguments", configuration.arguments);
    reader.read("target", configuration.target);
    read_framework(reader, "framework", root, configuration, report);
    reader.read("communicator", configuration.communicator);
    if (same_ignoring_case(*configuration.communicator, "None")) {
        configuration.communicator = Located<std::string>();
    }
    reader.read("prepareEnvironment", configuration.prepare_environment);
    reader.read("autoPrepareEnvironment", configuration.prepare_environment);
    read_counts(reader, configuration, report);

    const auto environment = reader.section("environment");
    read_environment_variables(environment.find("environmentVariables"), configuration, report);
    const auto python = environment.section("python");
    configuration.conda_dependencies_file = std::string(default_conda_file);
    read_project_path(
        python, "condaDependenciesFile", configuration.conda_dependencies_file, report);
    if (const Node* section = environment.find("python"))
        note_null_conda_file(*section, "condaDependenciesFile", configuration);
    python.read("userManagedDependencies", configuration.user_managed_dependencies);
    python.read("interpreterPath", configuration.interpreter_path);
    if (environment.find("docker") != nullptr) {
        read_docker(environment.section("docker"), configuration, report);
    }
    if (environment.find("spark") != nullptr || reader.find("spark") != nullptr) {
        configuration.spark.emplace();
        read_spark_sections(environment.section("spark"), *configuration.spark, report);
        read_spark_properties(reader.section("spark"), *configuration.spark);
    }
    reader.section("hdi").read("yarnDeployMode", configuration.yarn_deploy_mode);

    const auto history = reader.section("history");
    history.read("enabled", configuration.tracked_run);
    history.read("outputCollection", configuration.output_collection);
    if (configuration.output_collection.given()) {
        configuration.tracked_run = configuration.output_collection;
    }
    history.read("snapshotProject", configuration.snapshot_project);
    read_project_path(reader, "tensorboard", configuration.tensorboard, report);
    read_file_lists(reader, configuration);
    read_gpu_keys(
        reader, {configuration.gpus, configuration.gpu, configuration.gpu_grace_seconds}, report);
}

}  // namespace ponk::config
