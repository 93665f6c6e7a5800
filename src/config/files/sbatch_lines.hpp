// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "base/error.hpp"

#include <string>
#include <string_view>
#include <vector>

namespace ponk::config {

// An option of sbatch, by its long name, and the line of a script that has it.
struct SbatchOption {
    std::string name;
    std::string value;  // empty: it was given none
    unsigned line = 0;

    friend bool operator==(const SbatchOption&, const SbatchOption&) = default;
};

// What the "#SBATCH" lines of a job script say, read as sbatch reads them: up to the first line
// that is a command. `script` names it in errors.
Result<std::vector<SbatchOption>> parse_sbatch_lines(std::string_view script,
                                                     std::string_view text);

}  // namespace ponk::config
