// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "config/files/compute.hpp"
#include "os/file.hpp"

#include <string>

namespace ponk::cli {

// The Python that a local target would run.
struct Interpreter {
    os::Path program;
    // Whose program it is. What a file of the project names, or what lies below the project's
    // folder, may be anything: only submit and prepare start it.
    enum class Owner { user, project } owner = Owner::user;
    std::string version = {};  // empty where it was not started
};

// A program of the user is started once, outside of the project, to see that it works; one of the
// project is only looked at. "python" that is not there means "python3".
Result<Interpreter> find_interpreter(const os::Path& project, const config::ComputeTarget& target);

}  // namespace ponk::cli
