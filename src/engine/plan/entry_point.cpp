// SPDX-License-Identifier: Apache-2.0
#include "engine/plan/entry_point.hpp"

#include "base/text.hpp"
#include "config/files/mlproject.hpp"
#include "config/text/document.hpp"

#include <algorithm>
#include <map>

namespace ponk::engine {

namespace {

Result<std::map<std::string, std::string>> parameters_of(const std::vector<std::string>& words)
{
    std::map<std::string, std::string> parameters;
    for (std::size_t i = 0; i < words.size(); ++i) {
        if (words[i] != "-P" && words[i] != "--param-list") {
            return tl::unexpected(
                Error(ErrorKind::invalid_argument,
                      "'" + printable(words[i]) + "' is not a parameter of the MLproject",
                      "Give parameters as -P name=value."));
        }
        const auto equals = i + 1 < words.size() ? words[i + 1].find('=') : std::string::npos;
        if (equals == std::string::npos)
            return fail(ErrorKind::invalid_argument, "-P needs name=value");
        parameters[words[i + 1].substr(0, equals)] = words[i + 1].substr(equals + 1);
        ++i;
    }
    return parameters;
}

const config::EntryPoint* find_entry(const config::MlProject& mlproject, const std::string& name)
{
    const auto found = std::find_if(mlproject.entry_points.begin(),
                                    mlproject.entry_points.end(),
                                    [&name](const auto& entry) { return entry.name == name; });
    return found == mlproject.entry_points.end() ? nullptr : &*found;
}

Result<std::string> fill_in(const config::EntryPoint& entry,
                            std::map<std::string, std::string> given)
{
    auto command = *entry.command;
    for (const auto& parameter : entry.parameters) {
        auto value = parameter.default_value;
        if (const auto found = given.find(parameter.name); found != given.end()) {
            value = found->second;
            given.erase(found);
        }
        if (!value) {
            return tl::unexpected(Error(ErrorKind::invalid_argument,
                                        "parameter '" + parameter.name + "' of entry point '" +
                                            entry.name + "' has no value",
                                        "Give it with -P " + parameter.name + "=VALUE."));
        }
        const auto mark = "{" + parameter.name + "}";
        for (auto at = command.find(mark); at != std::string::npos; at = command.find(mark, at)) {
            const auto quoted = shell_word(*value);
            command.replace(at, mark.size(), quoted);
            at += quoted.size();
        }
    }
    for (const auto& [name, value] : given)
        command += " " + shell_word("--" + name) + " " + shell_word(value);
    return command;
}

}  // namespace

Result<std::vector<std::string>> resolve_entry_point(const os::Path& project,
                                                     const std::string& name,
                                                     const std::vector<std::string>& words)
{
    const auto text = TRY(os::read_file(project / "MLproject"));
    config::Report report("MLproject");
    const auto root = config::read_document(text, report);
    config::MlProject mlproject;
    if (root) mlproject = config::read_mlproject(*root, report);
    if (report.has_errors()) return tl::unexpected(config::to_error(report.diagnostics()));
    const auto* entry = find_entry(mlproject, name);
    if (!entry) {
        std::vector<std::string> names;
        for (const auto& each : mlproject.entry_points)
            names.push_back(each.name);
        return tl::unexpected(
            Error(ErrorKind::not_found,
                  "'" + printable(name) + "' is neither a script nor an entry point of MLproject",
                  names.empty() ? "MLproject has no entry points."
                                : "Entry points are: " + join(names, ", ") + "."));
    }
    auto command = TRY(fill_in(*entry, TRY(parameters_of(words))));
    return std::vector<std::string>{"/bin/sh", "-c", std::move(command)};
}

}  // namespace ponk::engine
