// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "executor/executor.hpp"

#include <functional>
#include <map>
#include <memory>
#include <string>
#include <vector>

namespace ponk::executor::fake {

// What a script of the fake sees and does. `script` names it in Options::scripts.
class Process {
public:
    virtual ~Process() = default;
    virtual void write(std::string_view bytes) = 0;
    [[nodiscard]] virtual const Job& job() const = 0;
    // True when asked to end; waits up to `span` for that.
    virtual bool asked_to_end(std::chrono::milliseconds span) = 0;
    // Writes outputs/NAME.
    virtual void output(const std::string& name, std::string_view bytes) = 0;
};

using Script = std::function<int(Process&)>;  // returns the exit code

struct Options {
    std::map<std::string, Script> scripts;
};

// Runs C++ functions on threads instead of processes: quick and without a machine below it. The log
// and the exit record are real files of the run directory, so everything above sees what it
// would see of a real target.
std::unique_ptr<Executor> make_executor(Options options);

}  // namespace ponk::executor::fake
