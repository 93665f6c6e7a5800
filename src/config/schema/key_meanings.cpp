// SPDX-License-Identifier: Apache-2.0
#include "config/schema/key_meanings.hpp"

#include "config/schema/schemas.hpp"

#include <fmt/format.h>

namespace ponk::config {

namespace {

struct Meaning {
    std::string_view key;
    std::string_view text;
    std::string_view of = {};  // Schema::what, where another file uses the name for another thing
};

constexpr std::string_view service_2018 = "A key of the hosted service of 2018. Shown, not used.";

constexpr Meaning meanings[] = {
    // Run configurations.
    {"ArgumentVector", "The script and its arguments, if the command line names none."},
    {"Target", "The compute target: the name of a .compute file, or local."},
    {"Framework",
     "Python or PySpark. Default: PySpark; on a local target Python for a script that "
     "does not import pyspark."},
    {"CondaDependenciesFile",
     "The file with the packages, from the project's folder. Default: "
     "aml_config/conda_dependencies.yml."},
    {"SparkDependenciesFile",
     "The file with Spark packages and properties, for PySpark only. Default: "
     "aml_config/spark_dependencies.yml."},
    {"EnvironmentVariables", "Variables for the script. The value secret:NAME is a stored secret."},
    {"PrepareEnvironment", "Build the environment as part of the run. Default: true."},
    {"TrackedRun", "Keep the run in the history. Default: true."},
    {"UseSampling", "Data sources use their active sample; false: all rows. Default: true."},
    {"DataSourceSettings", "Has no effect."},
    {"DataSourceSubstitutions",
     "A.dsource: B.dsource. Data preparation packages that name A read B."},
    {"Description", "A text for people."},
    {"CondaFile", "Earlier name of CondaDependenciesFile, which wins."},
    {"ManagedEnvironment",
     "true: build an environment from the conda file. false: use the Python of the target. "
     "Default: true, for a local target false."},
    {"gpus",
     "GPUs of a run: a number, all, none, or device ids. Default: all GPUs of the machine."},
    {"gpu",
     "auto, required (the run fails if it falls back to the CPU or if its GPU use could not be "
     "measured), or none. Default: auto."},
    {"gpuGrace", "How long a required GPU may stay unused at the start. Default: 10m."},
    {"maxRunDurationSeconds", "The run is ended after this many seconds. Default: no limit."},
    {"tensorboard", "A folder whose TensorBoard event files become metrics, besides outputs."},
    {"keep",
     "New files outside of outputs that are collected with them: lines as .gitignore has them. "
     "Default: checkpoints/ and lightning_logs/."},
    {"inputs", "Files and folders of the project that do not travel and that the run may read."},
    {"script", "The script, if the command line names none."},
    {"arguments", "Arguments of the script."},
    {"arguments",
     "Arguments for 'docker run'. You are asked once about those that reach the host.",
     "the section 'environment.docker'"},
    {"target", "The compute target: the name of a .compute file. Default: local."},
    {"framework", "Python, PySpark, CNTK, TensorFlow or PyTorch. Default: PySpark."},
    {"autoPrepareEnvironment", "Build the environment as part of the run. Default: true."},
    {"prepareEnvironment", "Earlier name of autoPrepareEnvironment."},
    {"environment", "Packages, container and variables of the run."},
    {"history", "What is kept of the run."},
    {"spark", "Spark properties.", "a run configuration (late 2018)"},
    {"spark", "Spark packages.", "the section 'environment'"},
    {"hdi", "Settings of a YARN cluster."},
    {"tensorflow", service_2018},
    {"mpi", service_2018},
    {"batchai", service_2018},
    {"containerInstance", service_2018},
    {"amlcompute", service_2018},
    {"databricks", service_2018},
    {"name", "A name for people."},
    {"version", "The version, for people.", "the section 'environment'"},
    {"version", "The version.", "a Spark package"},
    {"version", "The version of the file's format.", "a Spark specification"},
    {"environmentVariables", "Variables for the script. The value secret:NAME is a stored secret."},
    {"python", "The Python and its packages."},
    {"docker", "The container."},
    {"userManagedDependencies",
     "true: build nothing, use the Python of the target. Default: false, for a local target true."},
    {"interpreterPath", "The Python to use. Default: that of the target."},
    {"condaDependenciesFile",
     "The file with the packages. Default: aml_config/conda_dependencies.yml."},
    {"enabled", "Run in a container. Default: false.", "the section 'environment.docker'"},
    {"enabled", "Earlier name of outputCollection.", "the section 'history'"},
    {"baseImage", "The base image of the container."},
    {"gpuSupport", "The container gets GPUs. Default: false."},
    {"baseImageRegistry", "Where the base image comes from."},
    {"address", "The registry's address.", "the section 'baseImageRegistry'"},
    {"username", "The user name for the registry.", "the section 'baseImageRegistry'"},
    {"password", "secret:NAME, the password for the registry.", "the section 'baseImageRegistry'"},
    {"outputCollection", "Keep the run in the history. Default: true."},
    // Compute targets.
    {"type",
     "The kind of target: local, localdocker (docker), remotedocker (virtualmachine, vm) or "
     "remote. cluster, slurm and batchai are read, but this version does not run on them."},
    {"baseDockerImage", "The base image of the environment."},
    {"sharedVolumes", "Mount the project's copy into the container. Default: true."},
    {"nativeSharedDirectory",
     "The parent of the folder that the project's runs share. Default: ~/.azureml/share/."},
    {"nvidiaDocker", "The container gets GPUs. Default: false."},
    {"address", "The machine: host, host:port or [v6]:port. Default port: 22."},
    {"username", "The user name on the machine."},
    {"password", "secret:NAME, a stored password. Never the password itself."},
    {"privateKey", "The key file to log in with: /… or ~/…."},
    {"userManagedEnvironment",
     "true: build nothing, use the Python of the machine. Default: false, for remote true."},
    {"pythonLocation", "The Python of a local or remote target. Default: python."},
    {"sparkSubmitLocation", "The program spark-submit of a local target."},
    {"yarnDeployMode", "cluster or client. Default: cluster."},
    {"cluster", "Without type: true is a cluster, false a machine with Docker."},
    {"native", "Without type: true is a cluster, false a machine with Docker."},
    {"subscriptionId", service_2018},
    {"resourceGroup", service_2018},
    {"clusterName", service_2018},
    {"workspaceName", service_2018},
    {"partition", "The Slurm partition. Default: the site's."},
    {"account", "The Slurm account that is charged. Default: the user's."},
    {"qos", "The Slurm quality of service."},
    {"gres", "The GPUs of each run, as sbatch has them: gpu:1, gpu:a100:2."},
    {"sbatch", "More options of sbatch by their long names: constraint: a100, mem: 32G."},
    {"scratch", "The folder on the machine for runs, files and environments. Default: ~/.ponk."},
    {"shared",
     "true: others use this machine too, and a run takes one GPU unless it asks for more."},
    {"shmSize", "The size of /dev/shm in the container: 512m, 1g."},
    {"buildNetwork", "The network for building the image: host, none, or a network's name."},
    {"mounts", "Folders of the machine that the container gets: /data:/data or /data:/data:ro."},
    // Packages and other files.
    {"channels", "Channels of conda packages, in order."},
    {"dependencies", "conda packages, and one list 'pip:' with pip packages."},
    {"prefix", "Written by conda. Not used."},
    {"configuration", "Spark properties."},
    {"repositories", "Repositories of Spark packages."},
    {"packages", "Spark packages: group, artifact, version."},
    {"group", "The group of the package."},
    {"artifact", "The name of the package."},
    {"Id", "The id of the project."},
    {"Scope", "The workspace of the hosted service. Its last part is the project's name."},
    {"entry_points", "Commands of the project with their parameters."},
    {"conda_env", "The file with the conda packages."},
    {"python_env", "The file with the pip packages."},
    {"docker_env", "The container in which the entry points run."},
    {"image", "The image of the container."},
    {"volumes", "Folders of the machine that the container gets: /data:/data or /data:/data:ro."},
    {"environment",
     "Variables of the container: [NAME, VALUE], or NAME for the value of the shell that submits.",
     "the section 'docker_env'"},
};

}  // namespace

std::string meaning_of(const Schema& schema, const Key& key)
{
    if (!key.no_effect.empty()) return fmt::format("Has no effect: {}.", key.no_effect);
    const Meaning* found = nullptr;
    for (const Meaning& row : meanings) {
        if (row.key != key.name) continue;
        if (row.of == schema.what) return std::string(row.text);
        if (row.of.empty()) found = &row;
    }
    return found != nullptr ? std::string(found->text) : std::string();
}

}  // namespace ponk::config
