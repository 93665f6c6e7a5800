// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "base/error.hpp"
#include "os/fd.hpp"
#include "os/file.hpp"

#include <cstdint>
#include <optional>
#include <string>
#include <sys/types.h>

namespace ponk::os {

// Names one process for ever: a pid alone is reused by strangers.
struct ProcessIdentity {
    pid_t pid = 0;
    std::uint64_t start_ticks = 0;  // field 22 of /proc/PID/stat
    std::string boot_id;

    friend bool operator==(const ProcessIdentity&, const ProcessIdentity&) = default;
};

std::string boot_id();
// nullopt when there is no such process (a zombie still counts).
std::optional<ProcessIdentity> identify(pid_t pid);
// A pidfd for exactly this process, or nullopt when it is gone (or another has its pid).
std::optional<Fd> open_process(const ProcessIdentity& process);
bool is_alive(const ProcessIdentity& process);

std::string user_name();
// Its number when it has no name.
std::string user_name(uid_t user);
Path home_directory();
std::string host_name();

}  // namespace ponk::os
