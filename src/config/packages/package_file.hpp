// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "config/files/conda.hpp"
#include "config/text/diagnostic.hpp"
#include "os/file.hpp"

#include <optional>
#include <string>

// Files in which projects name their packages. All of them become what a conda file asks for, so
// that keys, builders and locks need to know one form only.
namespace ponk::config {

// By its name: uv.lock, pyproject.toml, requirements*.txt, a script with inline metadata (PEP 723),
// else a conda file or a python_env.yaml. Without a value the reason is in `report`.
std::optional<CondaEnvironment>
read_package_file(const os::Path& root, const std::string& name, Report& report);

// Whether the file names packages for runs: a pyproject.toml may only hold settings of tools, and
// few scripts have metadata. A file that cannot be read counts, so that it is reported.
bool names_packages(const os::Path& root, const std::string& name);

// Where runs look for packages, in this order; the conda file of 2017 stands between these and the
// requirements.
inline constexpr const char* package_files[] = {
    "uv.lock", "pyproject.toml", "environment.yml", "environment.yaml"};
inline constexpr const char* requirements_file = "requirements.txt";

// What is wrong in the files of a project that name packages, where runs look for them. `found` is
// how many there are. A lock is long, and a program wrote it: it is counted only.
Diagnostics check_package_files(const os::Path& root, std::size_t& found);

// Where the project's own modules are, if it is a package that people install: "src", or "." for a
// flat one. Runs import them from their own copy, whatever an editable installation points at.
std::optional<std::string> own_modules(const os::Path& root);

}  // namespace ponk::config
