// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "config/text/diagnostic.hpp"
#include "config/text/document.hpp"
#include "config/text/place.hpp"

#include <optional>
#include <string>
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

// The MLproject file of an MLflow project.
struct MlProject {
    Located<std::string> name;
    std::vector<EntryPoint> entry_points;
    Located<std::string> conda_env;
    Located<std::string> python_env;
    Located<std::string> docker_image;
    std::vector<Located<std::string>> docker_volumes;
};

MlProject read_mlproject(const Node& root, Report& report);

Json meaning_of(const MlProject& project);

}  // namespace ponk::config
