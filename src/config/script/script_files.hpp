// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "base/error.hpp"
#include "config/script/python_names.hpp"
#include "os/file.hpp"

#include <string>
#include <utility>
#include <vector>

namespace ponk::config {

// A Python file of the project that a script is made of.
struct ScriptFile {
    std::string name;  // relative to the project
    PythonNames names;
    // Of a notebook: the first line of each of its code cells in the text that `names` was read
    // from, with the number of the cell.
    std::vector<std::pair<std::uint32_t, std::size_t>> cells;
};

struct ScriptFiles {
    std::vector<ScriptFile> files;  // the script first
    // From outside of the project: the file's number, and the import's in it.
    std::vector<std::pair<std::size_t, std::size_t>> elsewhere;
    bool complete = true;  // false: there are too many files, or one is unreadable
};

// The script and the modules of the project that it imports, by their texts; nothing is executed.
// `script` is relative to `root`.
Result<ScriptFiles> read_script_files(const os::Path& root, const std::string& script);

// Whether one of the files imports the package or a part of it.
bool imports_package(const ScriptFiles& files, std::string_view package);

}  // namespace ponk::config
