// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "base/error.hpp"
#include "base/hash.hpp"
#include "config/files/conda.hpp"
#include "os/file.hpp"

#include <optional>
#include <string>
#include <vector>

namespace ponk::environment {

using os::Path;

// A file beside the project's code that is installed (a wheel, a source archive). Known by its
// content: the same name with other bytes is another environment.
struct LocalFile {
    Path path;
    Digest digest;
};

// One line for pip.
struct PipLine {
    std::string text;  // as pip gets it; may hold secrets
    std::string name;  // of the package, "_" and "." as "-"; empty for options and bare addresses
    bool is_option = false;
    std::optional<LocalFile> file;
    // A folder of packages on this machine that an option names, and how keys know it: as written,
    // with the names and sizes of what is in it (the project may lie elsewhere next time).
    Path folder;
    std::string folder_identity;
};

// What a conda_dependencies.yml asks for, apart from where it is built.
struct PackageRequest {
    std::vector<std::string> channels;  // may hold secrets
    std::vector<std::string> conda;     // match specs, without python
    std::string python;                 // its constraint: "=3.5.2", ">=3.6"; empty: any
    std::vector<PipLine> pip;

    // Whether something is asked for that only conda packages give.
    [[nodiscard]] bool needs_conda() const noexcept { return !conda.empty(); }
};

// `project` is where relative names count from; `file` names the conda file in messages. Files of
// requirements ("-r more.txt") are taken in.
Result<PackageRequest> read_package_request(const config::CondaEnvironment& environment,
                                            const Path& project,
                                            const std::string& file);

// Whether it names files beside the project's code: wheels, requirements, folders of packages or
// channels.
bool names_files(const config::CondaEnvironment& environment);

// Whether pip's line is "OPTION …" or "OPTION=…", by its long or short name.
bool is_option(const std::string& text, std::string_view long_name, std::string_view short_name);
// What follows the option's name.
std::string option_value(const std::string& text);

// The package that one of conda's specs is about.
std::string name_of_spec(std::string_view spec);
// conda's specs of the packages: python always among them, and pip when it has something to do.
std::vector<std::string> conda_specs(const PackageRequest& packages);

}  // namespace ponk::environment
