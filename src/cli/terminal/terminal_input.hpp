// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "base/error.hpp"
#include "os/fd.hpp"
#include "os/file.hpp"

#include <memory>
#include <thread>

namespace ponk::cli {

// Sends what is typed on the terminal to a script of this machine, through a named pipe that the
// daemon gives the script as its standard input. Ctrl-D, and the end of this object, end the input.
class TerminalInput {
public:
    // `pipe` must not exist yet; its folder may be missing. Until the script is there the pipe
    // keeps what is typed.
    static Result<std::unique_ptr<TerminalInput>> make(os::Path pipe);
    ~TerminalInput();
    TerminalInput(const TerminalInput&) = delete;
    TerminalInput& operator=(const TerminalInput&) = delete;

    // Begins to read the terminal.
    void start();

private:
    TerminalInput(os::Path pipe, os::Fd reading, os::Fd writing)
        : pipe_(std::move(pipe)), reading_(std::move(reading)), writing_(std::move(writing))
    {
    }

    os::Path pipe_;
    os::Fd reading_;
    os::Fd writing_;
    std::jthread reader_;
};

}  // namespace ponk::cli
