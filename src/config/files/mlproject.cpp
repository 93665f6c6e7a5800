// SPDX-License-Identifier: Apache-2.0
#include "config/files/mlproject.hpp"

#include "base/text.hpp"
#include "config/schema/schemas.hpp"

#include <algorithm>

namespace ponk::config {

namespace {

// "name: float", "name: {type: float, default: 0.1}"
EntryParameter read_parameter(const Member& member, Report& report)
{
    EntryParameter parameter{member.key, "string", std::nullopt, member.place};
    Located<std::string> type;
    if (member.value.is_map()) {
        const SectionReader reader(&member.value);
        reader.read("type", type);
        if (const Node* value = reader.find("default"); value != nullptr && value->is_scalar()) {
            parameter.default_value = value->text;
        }
    } else if (member.value.is_scalar() && !member.value.is_null()) {
        type = {member.value.text, member.value.place};
    }
    if (!type.given()) return parameter;
    static const std::vector<std::string> types{"string", "float", "path", "uri"};
    if (std::find(types.begin(), types.end(), *type) == types.end()) {
        report.error(type.place,
                     "wrong-value",
                     fmt::format("the parameter '{}' cannot have the type '{}'",
                                 printable(member.key),
                                 printable(*type)),
                     fmt::format("Allowed: {}.", join(types, ", ")));
        return parameter;
    }
    parameter.type = *type;
    return parameter;
}

// Every {name} of the command must be a parameter.
void check_command(const EntryPoint& entry, Report& report)
{
    const std::string& command = *entry.command;
    for (std::size_t open = command.find('{'); open != std::string::npos;
         open = command.find('{', open + 1)) {
        const std::size_t close = command.find('}', open);
        if (close == std::string::npos) return;
        const auto name = command.substr(open + 1, close - open - 1);
        if (name.empty() ||
            name.find_first_not_of("abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVW"
                                   "XYZ0123456789_-") != std::string::npos) {
            continue;
        }
        const bool known =
            std::any_of(entry.parameters.begin(),
                        entry.parameters.end(),
                        [&](const auto& parameter) { return parameter.name == name; });
        if (known) continue;
        report.warning(entry.command.place,
                       "unknown-parameter",
                       fmt::format("the command uses '{{{}}}', which is not a parameter of '{}'",
                                   name,
                                   printable(entry.name)),
                       "Add it below 'parameters', or pass it with -P.");
    }
}

EntryPoint read_entry(const Member& member, Report& report)
{
    EntryPoint entry;
    entry.name = member.key;
    entry.place = member.place;
    if (!member.value.is_map()) {
        report.error(member.value.place,
                     "wrong-type",
                     fmt::format("the entry point '{}' needs a map, not {}",
                                 printable(member.key),
                                 type_name(member.value)),
                     "An entry point has the keys 'command' and 'parameters'.");
        return entry;
    }
    const SectionReader reader(&member.value);
    reader.read("command", entry.command);
    if (!entry.command.given()) {
        report.error(member.place,
                     "missing-key",
                     fmt::format("the entry point '{}' has no 'command'", printable(member.key)));
    }
    if (const Node* parameters = reader.find("parameters"); parameters != nullptr) {
        if (!parameters->is_map()) {
            report.error(parameters->place,
                         "wrong-type",
                         fmt::format("'parameters' needs a map, not {}", type_name(*parameters)));
        }
        for (const auto& parameter : parameters->members) {
            entry.parameters.push_back(read_parameter(parameter, report));
        }
    }
    check_command(entry, report);
    return entry;
}

}  // namespace

MlProject read_mlproject(const Node& root, Report& report)
{
    MlProject project;
    check_against(mlproject_schema(), root, report);
    const SectionReader reader(&root);
    reader.read("name", project.name);
    reader.read("conda_env", project.conda_env);
    reader.read("python_env", project.python_env);
    const auto docker = reader.section("docker_env");
    docker.read("image", project.docker_image);
    docker.read("volumes", project.docker_volumes);
    const Node* entries = reader.find("entry_points");
    if (entries != nullptr && !entries->is_map()) {
        report.error(entries->place,
                     "wrong-type",
                     fmt::format("'entry_points' needs a map, not {}", type_name(*entries)));
    } else if (entries != nullptr) {
        for (const auto& member : entries->members) {
            project.entry_points.push_back(read_entry(member, report));
        }
    }
    return project;
}

Json meaning_of(const MlProject& project)
{
    const auto text = [](const std::string& value) { return value.empty() ? Json() : Json(value); };
    JsonObject entries;
    for (const auto& entry : project.entry_points) {
        JsonObject parameters;
        for (const auto& parameter : entry.parameters) {
            parameters.set(
                parameter.name,
                JsonObject{{"type", parameter.type},
                           {"default",
                            parameter.default_value ? Json(*parameter.default_value) : Json()}});
        }
        entries.set(entry.name,
                    JsonObject{{"command", *entry.command}, {"parameters", std::move(parameters)}});
    }
    return JsonObject{
        {"name", text(*project.name)},
        {"entry_points", std::move(entries)},
        {"conda_env", text(*project.conda_env)},
        {"python_env", text(*project.python_env)},
        {"docker_image", text(*project.docker_image)},
    };
}

}  // namespace ponk::config
