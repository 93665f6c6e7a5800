// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "config/text/diagnostic.hpp"
#include "config/text/document.hpp"
#include "config/text/place.hpp"

#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace ponk::config {

struct EntryParameter {
    std::string name;
    std::string type = "string";  // string, float, path, uri
    std::optional<std::string> default_value;
    Place place;
};

struct EntryPoint {
    std::string name;
    Located<std::string> command;  // with {parameter} in braces
    std::vector<EntryParameter> parameters;
    Place place;
};

// A variable of the container. Without a value: as the shell that submits has it.
struct ContainerVariable {
    std::string name;
    std::optional<std::string> value;
    Place place;
};

// The MLproject file of an MLflow project.
struct MlProject {
    std::string file = "MLproject";  // as shown in messages
    Located<std::string> name;
    std::vector<EntryPoint> entry_points;
    Located<std::string> conda_env;
    Located<std::string> python_env;
    Located<std::string> docker_image;
    std::vector<Located<std::string>> docker_volumes;
    std::vector<ContainerVariable> docker_variables;

    // nullptr: there is none of this name.
    [[nodiscard]] const EntryPoint* find(std::string_view entry) const;
};

// A piece of a command: text, or the name of the parameter that takes its place.
struct CommandPiece {
    std::string text;
    enum class Kind { text, parameter } kind = Kind::text;
};
// As Python's str.format reads it: {name}, and {{ }} for braces. Braces around other things, and
// ${name} of a shell, are text.
std::vector<CommandPiece> command_pieces(std::string_view command, const EntryPoint& entry);

MlProject read_mlproject(const Node& root, Report& report);

Json meaning_of(const MlProject& project);

}  // namespace ponk::config
