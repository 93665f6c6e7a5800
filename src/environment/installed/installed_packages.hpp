// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "dockerapi/engine.hpp"
#include "environment/spec/lock.hpp"

#include <optional>
#include <stop_token>
#include <string>
#include <string_view>
#include <vector>

// The packages of a Python that somebody else installed: recorded, so that two runs can be
// compared, but never changed.
namespace ponk::environment {

struct Installed {
    std::string program;  // as the interpreter itself knows it: a shim leads to another
    std::string prefix;
    Lock lock;
    std::vector<std::string> folders;  // in which they were found
};

// The lines of list_packages.py, understood. What the list's own rules exclude is left out: a
// package may be called anything.
Result<Installed> parse_installed(std::string_view text, std::string platform);

// Asked once, then known from the dates of its files and folders: below `home`. `folder` is where
// the script starts, which decides what a shim of pyenv leads to.
Result<Installed> installed_packages(const Path& home,
                                     const Path& interpreter,
                                     const Path& folder,
                                     const std::vector<std::string>& environment,
                                     std::stop_token stop);

// Those of an image, which never change; nullopt where it has no Python. `interpreter` as the
// configuration names it; empty: the usual names.
Result<std::optional<Installed>> installed_in_image(const Path& home,
                                                    const dockerapi::Engine& engine,
                                                    const std::string& image_id,
                                                    const std::string& interpreter,
                                                    std::stop_token stop);

// How `after` differs, for people: "numpy 2.4.0 (before: 1.24.2), scipy added"; empty when the
// packages are the same.
std::string difference_between(const Lock& before, const Lock& after);

}  // namespace ponk::environment
