// SPDX-License-Identifier: Apache-2.0
#include "engine/plan/entry_point.hpp"

#include "base/text.hpp"
#include "config/ignore/travel_rules.hpp"

#include <algorithm>
#include <filesystem>
#include <map>
#include <set>

namespace ponk::engine {

namespace {

using config::EntryParameter;
using config::EntryPoint;
using Values = std::map<std::string, std::string>;

tl::unexpected<Error>
refuse(const std::string& file, config::Place place, const std::string& message, std::string hint)
{
    return tl::unexpected(
        Error(ErrorKind::invalid_argument,
              fmt::format("{}:{}:{}: {}", file, place.line, place.column, message),
              std::move(hint)));
}

// "s3" of "s3://bucket/file"; empty: a path.
std::string scheme_of(std::string_view value)
{
    const auto end = value.find(':');
    if (end == value.npos || end == 0 || value.substr(0, end).find('/') != value.npos) return {};
    return std::string(value.substr(0, end));
}

// Turns the words of an entry point into a command.
class Filling {
public:
    Filling(const config::ResolvedConfiguration& resolved,
            const EntryPoint& entry,
            const Path& project)
        : resolved_(resolved), entry_(entry), project_(project), file_(resolved.mlproject->file)
    {
    }

    Result<EntryCommand> fill(const Variables& given)
    {
        const Values wanted(given.begin(), given.end());
        Values values = wanted;
        std::set<std::string> known;
        for (const auto& parameter : entry_.parameters) {
            const auto found = wanted.find(parameter.name);
            const bool is_given = found != wanted.end();
            if (!is_given && !parameter.default_value)
                return refuse(file_,
                              parameter.place,
                              fmt::format("parameter '{}' of entry point '{}' has no value",
                                          printable(parameter.name),
                                          printable(entry_.name)),
                              "Give it with '-P " + shell_word(parameter.name) + "=VALUE'.");
            const auto& value = is_given ? found->second : *parameter.default_value;
            if (is_given && parameter.type == "float" && !parse_real(value))
                return refuse(file_,
                              parameter.place,
                              fmt::format("parameter '{}' is a number, and '{}' is none",
                                          printable(parameter.name),
                                          printable(value)),
                              "Give a number, or declare it as 'string'.");
            values[parameter.name] = TRY(value_of(parameter, value, is_given));
            command_.parameters.emplace_back(parameter.name, values[parameter.name]);
            known.insert(parameter.name);
        }
        for (const auto& piece : config::command_pieces(*entry_.command, entry_)) {
            if (piece.kind == config::CommandPiece::Kind::text) {
                command_.text += piece.text;
                continue;
            }
            const auto found = values.find(piece.text);
            if (found == values.end())
                return refuse(file_,
                              entry_.command.place,
                              fmt::format("the command of '{}' uses '{{{}}}', which has no value",
                                          printable(entry_.name),
                                          piece.text),
                              fmt::format("Declare it below 'parameters', give it with '-P "
                                          "{0}=VALUE', or write '{{{{{0}}}}}' for braces.",
                                          piece.text));
            command_.text += shell_word(found->second);
            if (known.insert(piece.text).second)
                command_.parameters.emplace_back(piece.text, found->second);
        }
        for (const auto& [name, value] : given) {
            if (!known.insert(name).second) continue;
            command_.text += " " + shell_word("--" + name) + " " + shell_word(values[name]);
            command_.parameters.emplace_back(name, values[name]);
        }
        return std::move(command_);
    }

private:
    Result<std::string>
    value_of(const EntryParameter& parameter, const std::string& value, bool is_given)
    {
        if (parameter.type == "uri" && scheme_of(value).empty())
            return refuse(file_,
                          parameter.place,
                          fmt::format("parameter '{}' is a URI, and '{}' is none",
                                      printable(parameter.name),
                                      printable(value)),
                          "Write it with its scheme, such as 'file:///data/x', or declare it as "
                          "'path'.");
        return parameter.type == "path" ? path_of(parameter, value, is_given) : value;
    }

    Result<std::string>
    path_of(const EntryParameter& parameter, const std::string& value, bool is_given)
    {
        constexpr std::string_view local = "file://";
        const Path path = value.starts_with(local) ? value.substr(local.size()) : value;
        const auto name = printable(parameter.name);
        if (!value.starts_with(local) && value.find("://") != value.npos)
            return refuse(file_,
                          parameter.place,
                          fmt::format("parameter '{}' is a path; ponk does not download '{}'",
                                      name,
                                      printable(value)),
                          "Download it and give its path, or declare the parameter as 'uri'.");
        const auto inside = (project_ / path).lexically_normal().lexically_relative(project_);
        if (inside.empty() || *inside.begin() == "..") return elsewhere(parameter, path);
        std::error_code problem;
        const auto type = std::filesystem::status(project_ / inside, problem).type();
        if (type == std::filesystem::file_type::not_found ||
            type == std::filesystem::file_type::none)
            return refuse(file_,
                          parameter.place,
                          fmt::format("parameter '{}' names {}, which does not exist",
                                      name,
                                      os::in_quotes(path)),
                          "Give a path of the project, relative to its folder, or an absolute "
                          "one.");
        if (inside != ".") {
            const bool is_folder = type == std::filesystem::file_type::directory;
            const auto decision =
                TRY(TRY(config::TravelRules::load(project_)).explain(inside.native(), is_folder));
            if (decision.fate == config::TravelRules::Fate::left_out) {
                if (!is_given) TRY(stays_inside(parameter, inside));
                command_.inputs.push_back((project_ / inside).native());
            }
        }
        return inside.native();
    }

    // A file of the project cannot give its runs what lies outside of it, not by a link either.
    [[nodiscard]] Result<> stays_inside(const EntryParameter& parameter, const Path& inside) const
    {
        std::error_code problem;
        const auto real = std::filesystem::canonical(project_ / inside, problem);
        const auto way = real.lexically_relative(std::filesystem::canonical(project_, problem));
        if (!problem && !way.empty() && *way.begin() != "..") return {};
        return refuse(file_,
                      parameter.place,
                      fmt::format("parameter '{}' names {} by default, which leads out of the "
                                  "project, to {}",
                                  printable(parameter.name),
                                  os::in_quotes(inside),
                                  os::in_quotes(real)),
                      fmt::format("A file of a project cannot give it that. Give it yourself, "
                                  "with '-P {}=PATH'.",
                                  shell_word(parameter.name)));
    }

    // What is not in the project's folder is not in the run's copy either.
    Result<std::string> elsewhere(const EntryParameter& parameter, const Path& path)
    {
        const auto whole = (project_ / path).lexically_normal();
        const auto type = *resolved_.target.type;
        std::error_code problem;
        if (config::is_process_here(type)) {
            if (std::filesystem::exists(whole, problem)) return whole.native();
            return refuse(file_,
                          parameter.place,
                          fmt::format("parameter '{}' names {}, which does not exist",
                                      printable(parameter.name),
                                      os::in_quotes(path)),
                          "Give the path of a file or folder.");
        }
        // The other machine knows what it has.
        if (path.is_absolute() && (!config::uses_docker(type) || is_mounted(whole)))
            return whole.native();
        return refuse(
            file_,
            parameter.place,
            fmt::format("parameter '{}' names {}, which the run on target '{}' does not "
                        "have",
                        printable(parameter.name),
                        os::in_quotes(path),
                        printable(resolved_.target.name)),
            fmt::format("Give it a place in the run's copy: '--input {0}={1} -P {2}={0}'.",
                        shell_word(whole.filename().native()),
                        shell_word(whole.native()),
                        shell_word(parameter.name)));
    }

    [[nodiscard]] bool is_mounted(const Path& path) const
    {
        const auto holds = [&](const auto& mount) {
            const auto parts = split(*mount, ':');
            const auto below = path.lexically_relative(Path(parts.at(1)).lexically_normal());
            return !below.empty() && *below.begin() != "..";
        };
        const auto& volumes = resolved_.mlproject->docker_volumes;
        const auto& mounts = resolved_.target.mounts;
        return std::any_of(volumes.begin(), volumes.end(), holds) ||
               std::any_of(mounts.begin(), mounts.end(), holds);
    }

    const config::ResolvedConfiguration& resolved_;
    const EntryPoint& entry_;
    const Path& project_;
    const std::string& file_;
    EntryCommand command_;
};

// As 'mlflow run -e train.py' takes a script that is no entry point.
std::optional<EntryPoint> script_as_entry(const std::string& name, const Path& project)
{
    std::error_code problem;
    const auto extension = Path(name).extension();
    if ((extension != ".py" && extension != ".sh") ||
        !std::filesystem::is_regular_file(project / name, problem))
        return std::nullopt;
    EntryPoint entry;
    entry.name = name;
    // Braces of its name are no parameters.
    for (const char c : (extension == ".py" ? "python " : "bash ") + shell_word(name)) {
        if (c == '{' || c == '}') entry.command.value += c;
        entry.command.value += c;
    }
    return entry;
}

}  // namespace

Result<Variables> given_parameters(const RunRequest& request)
{
    auto parameters = request.parameters;
    const auto& words = request.arguments;
    for (std::size_t i = 0; i < words.size(); ++i) {
        if (words[i] != "-P" && words[i] != "--param-list")
            return tl::unexpected(
                Error(ErrorKind::invalid_argument,
                      "'" + printable(words[i]) + "' is not a parameter of the MLproject",
                      "Give parameters as '-P NAME=VALUE'."));
        const auto equals = i + 1 < words.size() ? words[i + 1].find('=') : std::string::npos;
        if (equals == std::string::npos || equals == 0)
            return tl::unexpected(Error(ErrorKind::invalid_argument,
                                        "'-P' needs NAME=VALUE",
                                        "Give parameters as '-P NAME=VALUE'."));
        parameters.emplace_back(words[i + 1].substr(0, equals), words[i + 1].substr(equals + 1));
        ++i;
    }
    return parameters;
}

Result<EntryCommand> entry_command(const config::ResolvedConfiguration& resolved,
                                   const std::string& name,
                                   const Variables& given,
                                   const Path& project)
{
    const auto& mlproject = *resolved.mlproject;
    if (const auto* entry = mlproject.find(name))
        return Filling(resolved, *entry, project).fill(given);
    if (const auto script = script_as_entry(name, project))
        return Filling(resolved, *script, project).fill(given);
    std::vector<std::string> names;
    for (const auto& each : mlproject.entry_points)
        names.push_back(printable(each.name));
    const auto close = nearest(name, names);
    return tl::unexpected(Error(
        ErrorKind::not_found,
        fmt::format(
            "'{}' is neither a script nor an entry point of {}", printable(name), mlproject.file),
        names.empty() ? mlproject.file + " has no entry points."
                      : (close ? "Did you mean '" + *close + "'? " : "") +
                            "Entry points are: " + join(names, ", ") + "."));
}

}  // namespace ponk::engine
