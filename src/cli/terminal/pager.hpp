// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "base/error.hpp"
#include "os/process.hpp"

#include <optional>
#include <string>
#include <vector>

namespace ponk::cli {

// The command that shows long output, as a user chose it: PONK_PAGER, else PAGER, else `less`.
// nullopt: nothing shall stand between, or the program is not there.
std::optional<os::Command> pager_command(const std::vector<std::string>& environment);

// While this lives, what the command line prints to the terminal goes through a pager. Its end
// waits until the reader has left. Standard output itself stays the terminal, so colours, widths
// and the filter of controls are as without it. One at a time, made before other threads.
class Pager {
public:
    // Starts one where standard output is a terminal that can show it.
    static std::optional<Pager> start();
    ~Pager();
    Pager(Pager&& other) noexcept;
    Pager(const Pager&) = delete;
    Pager& operator=(const Pager&) = delete;
    Pager& operator=(Pager&&) = delete;

    // Where bytes for this descriptor go: the pager's pipe for standard output, else itself.
    static int way_of(int fd) noexcept;

private:
    Pager(os::Child child, os::Fd pipe);

    os::Child child_;
    os::Fd pipe_;
};

}  // namespace ponk::cli
