// SPDX-License-Identifier: Apache-2.0
#include "config/files/run_configuration.hpp"

#include "base/text.hpp"
#include "config/files/run_configuration_reading.hpp"
#include "config/schema/schemas.hpp"

#include <algorithm>

namespace ponk::config {

const char* to_string(Framework framework)
{
    switch (framework) {
    case Framework::python:
        return "Python";
    case Framework::pyspark:
        return "PySpark";
    case Framework::cntk:
        return "CNTK";
    case Framework::tensorflow:
        return "TensorFlow";
    case Framework::pytorch:
        return "PyTorch";
    }
    return "Python";
}

const char* to_string(RunSchema schema)
{
    switch (schema) {
    case RunSchema::built_in:
        return "built-in";
    case RunSchema::flat_2017:
        return "2017";
    case RunSchema::nested_2018:
        return "2018";
    }
    return "built-in";
}

RunConfiguration built_in_run_configuration()
{
    RunConfiguration configuration;
    configuration.name = "local";
    return configuration;
}

// Each schema's own keys are counted; what both have (gpus, …) tells nothing. A tie is the older.
RunSchema schema_of(const Node& root)
{
    const auto count = [&](const Schema& schema, const Schema& other) {
        return std::count_if(root.members.begin(), root.members.end(), [&](const Member& member) {
            return schema.find(member.key) != nullptr && other.find(member.key) == nullptr;
        });
    };
    return count(nested_run_schema(), flat_run_schema()) >
                   count(flat_run_schema(), nested_run_schema())
               ? RunSchema::nested_2018
               : RunSchema::flat_2017;
}

RunConfiguration read_run_configuration(const Node& root, std::string name, Report& report)
{
    RunConfiguration configuration;
    configuration.name = std::move(name);
    configuration.file = report.file();
    configuration.schema = schema_of(root);
    if (configuration.schema == RunSchema::nested_2018) {
        check_against(nested_run_schema(), root, report);
        read_nested_run(root, configuration, report);
    } else {
        check_against(flat_run_schema(), root, report);
        read_flat_run(root, configuration, report);
    }
    return configuration;
}

void read_framework(const SectionReader& reader,
                    std::string_view key,
                    const Node& root,
                    RunConfiguration& configuration,
                    Report& report)
{
    Located<std::string> word;
    reader.read(key, word);
    if (!word.given()) {
        configuration.framework = Framework::pyspark;
        report.notice(
            root.place,
            framework_missing,
            fmt::format(
                "without '{}' a script runs with Spark, except on a local target one that does "
                "not import pyspark",
                key),
            fmt::format("Add the line '{0}: Python', or '{0}: PySpark' to keep Spark.", key));
        return;
    }
    for (const auto framework : {Framework::python,
                                 Framework::pyspark,
                                 Framework::cntk,
                                 Framework::tensorflow,
                                 Framework::pytorch}) {
        if (same_ignoring_case(to_string(framework), *word)) {
            configuration.framework = {framework, word.place};
        }
    }
}

namespace {

// Names that hold a secret in most projects, as whole words between underscores.
bool names_a_secret(std::string_view name)
{
    const auto words = split(lower(name), '_');
    return std::any_of(words.begin(), words.end(), [](const std::string& word) {
        return word == "key" || word == "secret" || word == "token" || word == "password" ||
               word == "passwd" || word == "pwd" || word == "sas" || word == "apikey" ||
               word == "credential" || word == "credentials" || word == "accountkey";
    });
}

bool looks_like_a_secret(std::string_view value)
{
    return value.starts_with("DefaultEndpointsProtocol=") || value.starts_with("AKIA") ||
           (value.size() == 88 && value.ends_with("==")) ||
           value.find("sig=") != std::string_view::npos;
}

// Those that each run gets from ponk, whatever else names them.
bool is_own_variable(std::string_view name)
{
    constexpr std::string_view own[] = {"PONK_RUN_ID",
                                        "PONK_RUN_TOKEN",
                                        "PONK_RUN_DIRECTORY",
                                        "PONK_OUTPUTS_DIRECTORY",
                                        "AZUREML_RUN_ID",
                                        "AZUREML_NATIVE_SHARE_DIRECTORY"};
    return std::ranges::find(own, name) != std::end(own);
}

void check_variable(const EnvironmentVariable& variable, Place name_place, Report& report)
{
    if (variable.name.empty() || variable.name.find_first_of("= \t\n") != std::string::npos) {
        report.error(name_place,
                     "wrong-value",
                     fmt::format("'{}' cannot be the name of an environment variable",
                                 printable(variable.name)),
                     "Use only letters, digits and underscores.");
        return;
    }
    if (variable.value.find('\0') != std::string::npos) {
        report.error(variable.place,
                     "wrong-value",
                     fmt::format("the value of '{}' contains a zero byte, which no environment "
                                 "variable can have",
                                 variable.name),
                     "Write the value without it.");
        return;
    }
    if (is_own_variable(variable.name)) {
        report.warning(
            variable.place,
            "not-used",
            fmt::format("'{}' is set by ponk: the value here is not used", variable.name),
            "Remove the line.");
        return;
    }
    if (is_placeholder(variable.value)) {
        report.warning(variable.place,
                       "placeholder",
                       fmt::format("'{}' still contains the placeholder '{}'",
                                   variable.name,
                                   printable(variable.value)),
                       names_a_secret(variable.name)
                           ? "Store the value with 'ponk secret set NAME' and write 'secret:NAME'."
                           : "Replace it with the real value.");
        return;
    }
    if (variable.value.empty() || variable.value.starts_with("secret:")) return;
    if (!names_a_secret(variable.name) && !looks_like_a_secret(variable.value)) return;
    report.warning(variable.place,
                   "secret-in-file",
                   fmt::format("'{}' seems to contain a secret in clear text", variable.name),
                   "Store it with 'ponk secret set NAME' and write 'secret:NAME' here; change it "
                   "where it is used if this file was shared.");
}

}  // namespace

void note_null_conda_file(const Node& map, std::string_view key, RunConfiguration& configuration)
{
    const Node* file = map.is_map() ? map.find(key) : nullptr;
    if (file != nullptr && file->is_null()) configuration.conda_file_said_null = file->place;
}

void read_environment_variables(const Node* map, RunConfiguration& configuration, Report& report)
{
    if (map == nullptr || !map->is_map()) return;
    for (const auto& member : map->members) {
        if (!member.value.is_scalar()) continue;
        EnvironmentVariable variable{
            member.key, member.value.is_null() ? "" : member.value.text, member.value.place};
        check_variable(variable, member.place, report);
        configuration.environment_variables.push_back(std::move(variable));
    }
}

void read_file_lists(const SectionReader& reader, RunConfiguration& configuration)
{
    const auto for_each = [&reader](std::string_view key, const auto& add) {
        const Node* value = reader.find(key);
        if (value == nullptr) return;
        const auto items = value->is_list() ? value->items : std::vector<Node>{*value};
        for (const auto& item : items) {
            if (const auto text = trim(item.text); !text.empty())
                add(std::string(text), item.place);
        }
    };
    for_each("inputs", [&configuration](std::string text, const Place& place) {
        configuration.inputs.push_back({std::move(text), place});
    });
    if (const Node* keep = reader.find("keep"); keep != nullptr && keep->is_list())
        configuration.keep.emplace();
    for_each("keep", [&configuration](std::string text, const Place&) {
        if (!configuration.keep) configuration.keep.emplace();
        configuration.keep->push_back(std::move(text));
    });
}

// Files are named from the project's root. Windows wrote backslashes.
void read_project_path(const SectionReader& reader,
                       std::string_view key,
                       Located<std::string>& out,
                       Report& report)
{
    Located<std::string> path;
    reader.read(key, path);
    if (!path.given() || path->empty()) return;
    if (path->find('\\') != std::string::npos) {
        std::replace(path.value.begin(), path.value.end(), '\\', '/');
        report.warning(path.place,
                       "windows-path",
                       fmt::format("'{}' is written with backslashes", key),
                       fmt::format("ponk reads it as '{}'; use slashes.", printable(*path)));
    }
    if (path->starts_with('/') || path->starts_with("../") ||
        path->find("/../") != std::string::npos) {
        report.warning(
            path.place,
            "outside-project",
            fmt::format("'{}' names '{}', which may be outside the project", key, printable(*path)),
            "Write the path relative to the project's folder, such as "
            "'aml_config/conda_dependencies.yml'.");
    }
    out = std::move(path);
}

namespace {

Json text_or_null(const std::string& text)
{
    return text.empty() ? Json() : Json(text);
}

Json text_array(const std::vector<Located<std::string>>& texts)
{
    JsonArray array;
    for (const auto& text : texts)
        array.push_back(*text);
    return array;
}

Json docker_meaning(const DockerSection& docker)
{
    return JsonObject{
        {"enabled", *docker.enabled},
        {"baseDockerImage", text_or_null(*docker.base_image)},
        {"nvidiaDocker", *docker.gpu_support},
        {"sharedVolumes", *docker.shared_volumes},
        {"shmSize", text_or_null(*docker.shm_size)},
        {"arguments", text_array(docker.arguments)},
        {"registry",
         JsonObject{{"address", text_or_null(*docker.registry_address)},
                    {"username", text_or_null(*docker.registry_username)},
                    {"password", text_or_null(*docker.registry_password)}}},
    };
}

}  // namespace

Json meaning_of(const RunConfiguration& c)
{
    JsonObject variables;
    for (const auto& variable : c.environment_variables)
        variables.set(variable.name, variable.value);
    JsonObject meaning{
        {"name", c.name},
        {"script", text_or_null(*c.script)},
        {"arguments", text_array(c.arguments)},
        {"target", *c.target},
        {"framework", to_string(*c.framework)},
        {"prepareEnvironment", *c.prepare_environment},
        {"trackedRun", *c.tracked_run},
        {"useSampling", *c.use_sampling},
        {"environmentVariables", std::move(variables)},
        {"condaDependenciesFile", text_or_null(*c.conda_dependencies_file)},
        {"sparkDependenciesFile", text_or_null(*c.spark_dependencies_file)},
        {"userManagedDependencies", *c.user_managed_dependencies},
        {"interpreterPath", text_or_null(*c.interpreter_path)},
        {"maxRunDurationSeconds",
         *c.max_run_duration_seconds == 0 ? Json() : Json(*c.max_run_duration_seconds)},
        {"nodeCount", *c.node_count},
        {"processCountPerNode", *c.processes_per_node},
        {"communicator", text_or_null(*c.communicator)},
        {"outputCollection", *c.output_collection},
        {"snapshotProject", *c.snapshot_project},
        {"gpus", text_or_null(*c.gpus)},
        {"gpu", to_string(*c.gpu)},
        {"gpuGrace", *c.gpu_grace_seconds},
    };
    if (!c.tensorboard->empty()) meaning.set("tensorboard", *c.tensorboard);
    if (!c.inputs.empty()) {
        JsonArray inputs;
        for (const auto& input : c.inputs)
            inputs.push_back(*input);
        meaning.set("inputs", std::move(inputs));
    }
    if (c.keep) {
        JsonArray keep;
        for (const auto& line : *c.keep)
            keep.push_back(line);
        meaning.set("keep", std::move(keep));
    }
    if (!c.description->empty()) meaning.set("description", *c.description);
    if (c.docker) meaning.set("docker", docker_meaning(*c.docker));
    if (c.spark) meaning.set("spark", meaning_of(*c.spark));
    if (!c.yarn_deploy_mode->empty()) meaning.set("yarnDeployMode", *c.yarn_deploy_mode);
    return meaning;
}

}  // namespace ponk::config
