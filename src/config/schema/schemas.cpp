// SPDX-License-Identifier: Apache-2.0
#include "config/schema/schemas.hpp"

#include "model/target_type.hpp"

namespace ponk::config {

namespace {

using enum ValueKind;
using Word = std::string_view;

constexpr Word yarn_words[] = {"cluster", "client"};
constexpr Word gpu_words[] = {"auto", "required", "none"};
constexpr Word flat_frameworks[] = {"Python", "PySpark"};
constexpr Word nested_frameworks[] = {"Python", "PySpark", "CNTK", "TensorFlow", "PyTorch"};

// Why keys have no effect.
constexpr Word one_process = "a run is one process on one machine";
constexpr Word no_service = "this service is not used";
constexpr Word no_stores = "data stores of the service are not read";
constexpr Word target_image = "the image of the target is used";

constexpr Key compute_keys[] = {
    {"type", text, nullptr, model::target_type_words},
    {"baseDockerImage"},
    {"sharedVolumes", boolean},
    {"nativeSharedDirectory"},
    {"nvidiaDocker", boolean},
    {"address"},
    {"username"},
    {"password"},
    {"privateKey"},
    {"userManagedEnvironment", boolean},
    {"pythonLocation"},
    {"sparkSubmitLocation"},
    {"yarnDeployMode", text, nullptr, yarn_words},
    {"cluster", boolean},
    {"native", boolean},
    {"subscriptionId"},
    {"resourceGroup"},
    {"clusterName"},
    {"workspaceName"},
    // Ours.
    {"gpus", text_or_list},
    {"gpu", text, nullptr, gpu_words},
    {"gpuGrace", duration},
    {"autostop", duration, nullptr, {}, "ponk does not stop machines", "0"},
    {"partition"},
    {"account"},
    {"qos"},
    {"gres"},
    {"sbatch", text_map},
    {"scratch"},
    {"shared"},
    {"shmSize"},
    {"buildNetwork"},
    {"mounts", text_list},
};
constexpr Schema compute{"a compute target", compute_keys};

constexpr Key flat_keys[] = {
    {"ArgumentVector", text_list},
    {"Target"},
    {"Framework", text, nullptr, flat_frameworks},
    {"CondaDependenciesFile"},
    {"SparkDependenciesFile"},
    {"EnvironmentVariables", text_map},
    {"PrepareEnvironment", boolean},
    {"TrackedRun", boolean},
    {"UseSampling", boolean},
    {"DataSourceSettings", free},
    {"DataSourceSubstitutions", text_map},
    {"Description"},
    {"CondaFile"},
    {"ManagedEnvironment", boolean},
    // Ours.
    {"gpus", text_or_list},
    {"gpu", text, nullptr, gpu_words},
    {"gpuGrace", duration},
    {"nodeCount", integer, nullptr, {}, one_process, "1"},
    {"maxRunDurationSeconds", integer},
    {"tensorboard"},
    {"inputs", text_or_list},
    {"keep", text_or_list},
};
constexpr Schema flat_run{"a run configuration", flat_keys};

constexpr Key package_keys[] = {{"group"}, {"artifact"}, {"version"}};
constexpr Schema package{"a Spark package", package_keys};

constexpr Key python_keys[] = {
    {"userManagedDependencies", boolean},
    {"interpreterPath"},
    {"condaDependenciesFile"},
    {"condaDependencies", free, nullptr, {}, "packages are read from 'condaDependenciesFile'"},
    {"baseCondaEnvironment", text, nullptr, {}, "each environment is built from its file"},
};
constexpr Schema python_section{"the section 'environment.python'", python_keys};

constexpr Key registry_keys[] = {{"address"}, {"username"}, {"password"}};
constexpr Schema registry_section{"the section 'baseImageRegistry'", registry_keys};

constexpr Key docker_keys[] = {
    {"enabled", boolean},
    {"baseImage"},
    {"baseDockerfile",
     text,
     nullptr,
     {},
     "use 'baseImage': ponk does not build images from a Dockerfile"},
    {"sharedVolumes", boolean},
    {"gpuSupport", boolean},
    {"shmSize"},
    {"arguments", text_list},
    {"baseImageRegistry", section, &registry_section},
};
constexpr Schema docker_section{"the section 'environment.docker'", docker_keys};

constexpr Key environment_spark_keys[] = {
    {"repositories", text_list},
    {"packages", section_list, &package},
    {"precachePackages", boolean, nullptr, {}, "Spark fetches packages itself", "true"},
};
constexpr Schema environment_spark{"the section 'environment.spark'", environment_spark_keys};

constexpr Key databricks_keys[] = {
    {"mavenLibraries", free, nullptr, {}, no_service},
    {"pypiLibraries", free, nullptr, {}, no_service},
    {"rcranLibraries", free, nullptr, {}, no_service},
    {"jarLibraries", free, nullptr, {}, no_service},
    {"eggLibraries", free, nullptr, {}, no_service},
};
constexpr Schema databricks_section{"the section 'environment.databricks'", databricks_keys};

constexpr Key environment_keys[] = {
    {"name"},
    {"version"},
    {"environmentVariables", text_map},
    {"python", section, &python_section},
    {"docker", section, &docker_section},
    {"spark", section, &environment_spark},
    {"databricks", section, &databricks_section},
};
constexpr Schema environment_section{"the section 'environment'", environment_keys};

constexpr Key history_keys[] = {
    {"outputCollection", boolean},
    {"snapshotProject", boolean, nullptr, {}, "the files of each run are stored", "true"},
    {"directoriesToWatch", text_list, nullptr, {}, "only 'outputs' is kept", "logs"},
    {"enabled", boolean},
};
constexpr Schema history_section{"the section 'history'", history_keys};

constexpr Key spark_run_keys[] = {{"configuration", text_map}};
constexpr Schema spark_run_section{"the section 'spark'", spark_run_keys};
constexpr Key hdi_keys[] = {{"yarnDeployMode", text, nullptr, yarn_words}};
constexpr Schema hdi_section{"the section 'hdi'", hdi_keys};
constexpr Key tensorflow_keys[] = {
    {"workerCount", integer, nullptr, {}, one_process, "1"},
    {"parameterServerCount", integer, nullptr, {}, one_process, "1"}};
constexpr Schema tensorflow_section{"the section 'tensorflow'", tensorflow_keys};
constexpr Key mpi_keys[] = {{"processCountPerNode", integer, nullptr, {}, one_process, "1"}};
constexpr Schema mpi_section{"the section 'mpi'", mpi_keys};
constexpr Key batchai_keys[] = {{"nodeCount", integer, nullptr, {}, one_process, "1"}};
constexpr Schema batchai_section{"the section 'batchai'", batchai_keys};
constexpr Key instance_keys[] = {{"cpuCores", number, nullptr, {}, no_service, "1"},
                                 {"memoryGb", number, nullptr, {}, no_service, "4"},
                                 {"region", text, nullptr, {}, no_service}};
constexpr Schema instance_section{"the section 'containerInstance'", instance_keys};
constexpr Key amlcompute_keys[] = {
    {"vmSize", text, nullptr, {}, no_service},
    {"vmPriority", text, nullptr, {}, no_service},
    {"retainCluster", boolean, nullptr, {}, no_service, "false"},
    {"name", text, nullptr, {}, no_service},
    {"clusterMaxNodeCount", integer, nullptr, {}, no_service, "1"},
};
constexpr Schema amlcompute_section{"the section 'amlcompute'", amlcompute_keys};

constexpr Key nested_keys[] = {
    {"script"},
    {"arguments", text_list},
    {"target"},
    {"framework", text, nullptr, nested_frameworks},
    {"communicator", text, nullptr, {}, one_process, "None"},
    {"autoPrepareEnvironment", boolean},
    {"prepareEnvironment", boolean},
    {"maxRunDurationSeconds", integer},
    {"nodeCount", integer, nullptr, {}, one_process, "1"},
    {"environment", section, &environment_section},
    {"history", section, &history_section},
    {"spark", section, &spark_run_section},
    {"hdi", section, &hdi_section},
    {"tensorflow", section, &tensorflow_section},
    {"mpi", section, &mpi_section},
    {"batchai", section, &batchai_section},
    {"containerInstance", section, &instance_section},
    {"amlcompute", section, &amlcompute_section},
    {"dataReferences", free, nullptr, {}, no_stores},
    {"data", free, nullptr, {}, no_stores},
    {"sourceDirectoryDataStore", text, nullptr, {}, no_stores},
    {"exposedPorts",
     free,
     nullptr,
     {},
     "'environment.docker.arguments' publishes ports of a container"},
    // Ours.
    {"gpus", text_or_list},
    {"gpu", text, nullptr, gpu_words},
    {"gpuGrace", duration},
    {"tensorboard"},
    {"inputs", text_or_list},
    {"keep", text_or_list},
};
constexpr Schema nested_run{"a run configuration (late 2018)", nested_keys};

constexpr Key conda_keys[] = {
    {"name"},
    {"channels", text_list},
    {"dependencies", text_tree},
    {"prefix"},
    {"variables", text_map, nullptr, {}, "the run configuration sets variables of the script"},
};
constexpr Schema conda{"a conda environment", conda_keys};

constexpr Key spark_keys[] = {
    {"version", integer},
    {"configuration", text_map},
    {"repositories", text_list},
    {"packages", section_list, &package},
};
constexpr Schema spark{"a Spark specification", spark_keys};

constexpr Key base_keys[] = {{"base_docker_image", text, nullptr, {}, target_image},
                             {"spark_version", text, nullptr, {}, target_image},
                             {"cntk_version", text, nullptr, {}, target_image}};
constexpr Schema base_dependencies{"base_dependencies.yml", base_keys};

constexpr Key project_keys[] = {{"Id"}, {"Scope"}};
constexpr Schema project{"project.json", project_keys};

constexpr Key docker_env_keys[] = {
    {"image", text},
    {"volumes", text_list},
    {"environment", text_tree},
};
constexpr Schema docker_env{"the section 'docker_env'", docker_env_keys};
constexpr Key mlproject_keys[] = {
    {"name"},
    {"entry_points", text_tree},
    {"conda_env"},
    {"python_env"},
    {"docker_env", section, &docker_env},
    {"databricks_spark_job", free, nullptr, {}, "ponk starts no jobs of Databricks"},
};
constexpr Schema mlproject{"an MLproject file", mlproject_keys};

}  // namespace

const Schema& compute_schema()
{
    return compute;
}
const Schema& flat_run_schema()
{
    return flat_run;
}
const Schema& nested_run_schema()
{
    return nested_run;
}
const Schema& conda_schema()
{
    return conda;
}
const Schema& spark_schema()
{
    return spark;
}
const Schema& base_dependencies_schema()
{
    return base_dependencies;
}
const Schema& project_schema()
{
    return project;
}
const Schema& mlproject_schema()
{
    return mlproject;
}

}  // namespace ponk::config
