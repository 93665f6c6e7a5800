// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "base/error.hpp"
#include "config/git/git_info.hpp"
#include "os/file.hpp"

#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace ponk::config {

// One "key = value" of a git configuration file. Section and key are in lower case, subsections as
// they are written.
struct GitSetting {
    std::string section;
    std::string subsection;
    std::string key;
    std::string value;
};

struct GitSettings {
    std::vector<GitSetting> settings;  // in their order
    bool whole = true;                 // false: git refuses the rest of the text
};
GitSettings parse_git_settings(std::string_view text);

// The file of ignore rules that the user has for all repositories (core.excludesFile, else
// git/ignore in the folder of configurations). nullopt: none is set and no default is possible.
// Reads the files of git itself, and asks git where they depend on conditions.
Result<std::optional<os::Path>> find_excludes_file(const GitPlace& place);

}  // namespace ponk::config
