// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "executor/job/job.hpp"

#include <string>
#include <utility>
#include <vector>

namespace ponk::executor {

struct CommandLine {
    Path program;
    std::vector<std::string> argv;
    // Variables that this way of starting needs, e.g. PYSPARK_PYTHON.
    std::vector<std::pair<std::string, std::string>> variables;
};

// The script must be a file of the tree.
Result<> check_script(const Job& job, const Path& tree);
// The script as an interpreter is given it: a name that begins with a dash must not look like an
// option.
std::vector<std::string> script_words(const Job& job);

// `pythonLocation`, else "python" or "python3" on PATH of `environment`.
Result<Path>
find_interpreter(const Job& job, const Path& tree, const std::vector<std::string>& environment);

// How the script is started on this machine: which interpreter, which arguments. `tree` is the
// run's copy of the project; programs are looked up on PATH of `environment` ("K=V").
// Fails with `not_found` and says what to install when there is none.
Result<CommandLine> command_line(const Job& job,
                                 const Path& tree,
                                 const std::vector<std::string>& environment,
                                 std::stop_token stop);

}  // namespace ponk::executor
