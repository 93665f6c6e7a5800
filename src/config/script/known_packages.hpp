// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "os/file.hpp"

#include <map>
#include <optional>
#include <set>
#include <string>
#include <string_view>
#include <vector>

namespace ponk::config {

// The packages that a script would find, as far as files say.
struct KnownPackages {
    // listed: a file names packages, which may bring others; installed: all are known.
    enum class Source { unknown, listed, installed };

    Source source = Source::unknown;
    std::string place;                            // ".venv", "requirements.txt"
    std::set<std::string, std::less<>> modules;   // that can be imported, where they are installed
    std::map<std::string, std::string> versions;  // by distribution, as "scikit-learn"; "" unknown

    [[nodiscard]] bool has(std::string_view module) const;
    // The version of a package, as people write its name; empty: not known.
    [[nodiscard]] std::string version_of(std::string_view package) const;
};

// What the project says: the script itself, `.venv`, its package files. Source::unknown: nothing.
KnownPackages packages_of_project(const os::Path& root, const std::string& script);
// What lies in these folders of a Python (its `sys.path`).
KnownPackages packages_in(const std::vector<os::Path>& folders, std::string place);

// Whether "0.19.1" is before "0.20".
bool is_earlier(std::string_view version, std::string_view other);

}  // namespace ponk::config
