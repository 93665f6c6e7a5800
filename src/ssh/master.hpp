// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "base/time.hpp"
#include "os/identity.hpp"
#include "ssh/client.hpp"
#include "ssh/failure.hpp"

#include <optional>
#include <stop_token>

// The private control master of a host: one connection that all calls share. It is a process of its
// own (ssh in the background), which ends a minute after its last session; whoever finds its socket
// uses it. The command line, which has a terminal, and the daemon, which has none, meet there.
namespace ponk::ssh {

inline constexpr std::chrono::seconds master_check_limit{4};

// Whether a master answers. One that is there and hangs counts as none.
Result<bool> is_master_alive(const Client& client, std::stop_token stop);

// The process that is the master, as it was noted when it was opened; nullopt when it is gone.
std::optional<os::ProcessIdentity> find_master(const Client& client);

// Ends the master and takes its socket away, whatever state it is in. Bounded by seconds; never
// waits for the network.
void discard_master(const Client& client);

// How ssh's questions are answered while a master is opened.
enum class Asking {
    never,     // BatchMode: a question is a failure
    terminal,  // ssh asks on the terminal itself
    helper     // through SSH_ASKPASS, which the environment of `client` names
};

struct Opening {
    Asking asking = Asking::never;
    std::vector<std::string> options = {};  // of ssh; before all others
    // A master that was just found dead: need not be asked again.
    std::optional<os::ProcessIdentity> dead = std::nullopt;
};

// Opens a master, unless one is there when our turn comes: several processes may try at once.
tl::expected<void, Refusal>
open_master(const Client& client, const Opening& opening, Deadline deadline, std::stop_token stop);

}  // namespace ponk::ssh
