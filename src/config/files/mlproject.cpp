// SPDX-License-Identifier: Apache-2.0
#include "config/files/mlproject.hpp"

#include "base/text.hpp"
#include "config/files/mount.hpp"
#include "config/schema/schemas.hpp"

#include <algorithm>
#include <utility>

namespace ponk::config {

namespace {

bool has_parameter(const EntryPoint& entry, std::string_view name)
{
    return std::any_of(entry.parameters.begin(),
                       entry.parameters.end(),
                       [&](const auto& parameter) { return parameter.name == name; });
}

// As MLflow passes it: YAML's truth values are Python's, all else stays as it is written.
std::optional<std::string> default_of(const Node& value)
{
    if (!value.is_scalar() || value.is_null()) return std::nullopt;
    if (value.is_quoted()) return value.text;
    if (same_ignoring_case(value.text, "true")) return "True";
    if (same_ignoring_case(value.text, "false")) return "False";
    return value.text;
}

// MLflow passes over keys that it does not know; that may be a slip.
void warn_of_unknown_keys(const Node& map,
                          const std::string& what,
                          const std::vector<std::string>& known,
                          Report& report)
{
    for (const auto& member : map.members) {
        if (std::find(known.begin(), known.end(), member.key) != known.end()) continue;
        const auto near = nearest(member.key, known);
        report.warning(
            member.place,
            "unknown-key",
            fmt::format("{} has no key '{}'; it is ignored", what, printable(member.key)),
            near ? fmt::format("Did you mean '{}'?", *near)
                 : fmt::format("Keys are: {}.", join(known, ", ")));
    }
}

// "name: float", "name: {type: float, default: 0.1}"
EntryParameter read_parameter(const Member& member, Report& report)
{
    EntryParameter parameter{member.key, "string", std::nullopt, member.place};
    Located<std::string> type;
    if (member.value.is_map()) {
        const SectionReader reader(&member.value);
        warn_of_unknown_keys(member.value,
                             fmt::format("the parameter '{}'", printable(member.key)),
                             {"type", "default"},
                             report);
        reader.read("type", type);
        if (const Node* value = member.value.find("default"))
            parameter.default_value = default_of(*value);
    } else if (member.value.is_scalar() && !member.value.is_null()) {
        type = {member.value.text, member.value.place};
    }
    if (!type.given()) return parameter;
    static const std::vector<std::string> types{"string", "float", "path", "uri"};
    if (std::find(types.begin(), types.end(), *type) == types.end()) {
        report.warning(type.place,
                       "wrong-value",
                       fmt::format("the parameter '{}' has the type '{}', which means 'string'",
                                   printable(member.key),
                                   printable(*type)),
                       fmt::format("Types are: {}.", join(types, ", ")));
        return parameter;
    }
    parameter.type = *type;
    if (*type == "float" && parameter.default_value && !parse_real(*parameter.default_value)) {
        report.warning(parameter.place,
                       "wrong-value",
                       fmt::format("the default '{}' of the parameter '{}' is not a number",
                                   printable(*parameter.default_value),
                                   printable(member.key)));
    }
    return parameter;
}

constexpr std::string_view name_characters =
    "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789_-";

// Every {name} of the command must be a parameter.
void check_command(const EntryPoint& entry, Report& report)
{
    for (const auto& piece : command_pieces(*entry.command, entry)) {
        if (piece.kind != CommandPiece::Kind::parameter || has_parameter(entry, piece.text))
            continue;
        report.warning(entry.command.place,
                       "unknown-parameter",
                       fmt::format("the command uses '{{{}}}', which is not a parameter of '{}'",
                                   piece.text,
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
    warn_of_unknown_keys(member.value,
                         fmt::format("the entry point '{}'", printable(member.key)),
                         {"command", "parameters"},
                         report);
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

// [NAME, VALUE] or NAME
void read_variables(const Node& list, MlProject& project, Report& report)
{
    const auto refuse = [&report](Place place, std::string message) {
        report.error(place,
                     "wrong-type",
                     std::move(message),
                     "Write NAME, or [NAME, VALUE], for each variable.");
    };
    if (!list.is_list())
        return refuse(list.place, "'environment' needs a list, not " + type_name(list));
    for (const auto& item : list.items) {
        const bool is_pair = item.is_list() && item.items.size() == 2 &&
                             item.items[0].is_scalar() && item.items[1].is_scalar();
        if (!is_pair && !item.is_scalar()) {
            refuse(item.place, "a variable of 'environment' cannot be " + type_name(item));
            continue;
        }
        const auto& name = is_pair ? item.items[0].text : item.text;
        if (name.empty() || name.find('=') != name.npos) {
            refuse(item.place,
                   fmt::format("a variable cannot have the name '{}'", printable(name)));
            continue;
        }
        project.docker_variables.push_back(
            {name, is_pair ? std::optional(item.items[1].text) : std::nullopt, item.place});
    }
}

void read_docker(const Node& root, MlProject& project, Report& report)
{
    const auto* const section = SectionReader(&root).find("docker_env");
    if (section == nullptr || !section->is_map()) return;
    const SectionReader docker(section);
    docker.read("image", project.docker_image);
    std::vector<Located<std::string>> volumes;
    docker.read("volumes", volumes);
    for (auto& volume : volumes) {
        const auto problem = problem_of_mount(*volume);
        if (problem.empty()) {
            project.docker_volumes.push_back(std::move(volume));
        } else {
            report.error(volume.place,
                         "wrong-value",
                         fmt::format("'volumes' cannot have '{}': {}", printable(*volume), problem),
                         "Write SOURCE:TARGET or SOURCE:TARGET:ro with absolute paths.");
        }
    }
    if (const auto* variables = docker.find("environment"))
        read_variables(*variables, project, report);
    if (!project.docker_image.given())
        report.error(section->place, "missing-key", "'docker_env' has no 'image'");
    for (const auto& [key, other] : {std::pair("conda_env", &project.conda_env),
                                     std::pair("python_env", &project.python_env)}) {
        if (other->given())
            report.error(other->place,
                         "contradiction",
                         fmt::format("'{}' and 'docker_env' cannot be in one MLproject", key),
                         "Remove one: the packages are those of the image.");
    }
}

}  // namespace

const EntryPoint* MlProject::find(std::string_view entry) const
{
    const auto found = std::find_if(entry_points.begin(),
                                    entry_points.end(),
                                    [&](const auto& each) { return each.name == entry; });
    return found == entry_points.end() ? nullptr : &*found;
}

std::vector<CommandPiece> command_pieces(std::string_view command, const EntryPoint& entry)
{
    std::vector<CommandPiece> pieces;
    std::string text;
    for (std::size_t at = 0; at < command.size(); ++at) {
        const char c = command[at];
        if (c != '{' && c != '}') {
            text += c;
            continue;
        }
        if (at + 1 < command.size() && command[at + 1] == c) {
            text += c;
            ++at;
            continue;
        }
        const auto close = c == '{' ? command.find('}', at) : command.npos;
        const auto name = close == command.npos ? "" : command.substr(at + 1, close - at - 1);
        const bool is_name = !name.empty() && name.find_first_not_of(name_characters) == name.npos;
        const bool of_shell = at > 0 && command[at - 1] == '$';
        if (!is_name || (of_shell && !has_parameter(entry, name))) {
            text += c;
            continue;
        }
        pieces.push_back({std::exchange(text, {}), CommandPiece::Kind::text});
        pieces.push_back({std::string(name), CommandPiece::Kind::parameter});
        at = close;
    }
    pieces.push_back({std::move(text), CommandPiece::Kind::text});
    return pieces;
}

MlProject read_mlproject(const Node& root, Report& report)
{
    MlProject project;
    check_against(mlproject_schema(), root, report);
    const SectionReader reader(&root);
    reader.read("name", project.name);
    reader.read("conda_env", project.conda_env);
    reader.read("python_env", project.python_env);
    read_docker(root, project, report);
    if (project.conda_env.given() && project.python_env.given()) {
        report.error(project.python_env.place,
                     "contradiction",
                     "'conda_env' and 'python_env' cannot be in one MLproject",
                     "Remove one of them.");
    }
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
    JsonArray volumes;
    for (const auto& volume : project.docker_volumes)
        volumes.emplace_back(*volume);
    JsonObject variables;
    for (const auto& variable : project.docker_variables)
        variables.set(variable.name, variable.value ? Json(*variable.value) : Json());
    return JsonObject{
        {"name", text(*project.name)},
        {"entry_points", std::move(entries)},
        {"conda_env", text(*project.conda_env)},
        {"python_env", text(*project.python_env)},
        {"docker_image", text(*project.docker_image)},
        {"docker_volumes", std::move(volumes)},
        {"docker_variables", std::move(variables)},
    };
}

}  // namespace ponk::config
