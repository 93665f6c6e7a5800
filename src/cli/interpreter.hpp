// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "base/json.hpp"
#include "config/compute.hpp"
#include "os/file.hpp"

#include <string>

namespace ponk::cli {

struct Interpreter {
    os::Path program;
    std::string version;
};

// The Python that a local target would run, started once to see that it works. "python" that is
// not there means "python3".
Result<Interpreter> find_interpreter(const config::ComputeTarget& target);

}  // namespace ponk::cli
