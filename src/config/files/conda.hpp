// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "config/text/diagnostic.hpp"
#include "config/text/document.hpp"
#include "config/text/place.hpp"

#include <string>
#include <vector>

namespace ponk::config {

// One line of a dependency list, taken apart. The text as written stays the truth for installers.
struct Package {
    enum class Kind { name, url, path, option };

    std::string text;  // as written, without blanks around it
    Kind kind = Kind::name;
    std::string name;     // lower case, "_" and "." as "-"; empty for options
    std::string version;  // constraint as written: "==1.4.0", "=3.5.2", ">=1.13"
    std::string channel;  // "conda-forge" in "conda-forge::xgboost"
    Place place;
};

struct CondaEnvironment {
    Located<std::string> name = std::string("project_environment");
    std::vector<Located<std::string>> channels;
    std::vector<Package> conda;
    std::vector<Package> pip;
    Located<std::string> python_version;  // "3.5.2" of "python=3.5.2"; empty: not said
};

CondaEnvironment read_conda(const Node& root, Report& report);

Json meaning_of(const CondaEnvironment& environment);

}  // namespace ponk::config
