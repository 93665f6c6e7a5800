// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "cli/client/daemon.hpp"

#include <string>

namespace ponk::cli {

// How a file of a snapshot differs from the one in another snapshot.
struct FileChange {
    std::string path;
    bool before = false;  // the first run has it
    bool after = false;   // the second run has it
    bool text = true;     // of a size and kind that people read, as far as its record tells
};

// A unified diff of the file, made by the program `diff`. Of what is no text one line that names
// it.
Result<std::string> unified_diff(Daemon& daemon,
                                 const std::string& first_run,
                                 const std::string& second_run,
                                 const FileChange& change);

}  // namespace ponk::cli
