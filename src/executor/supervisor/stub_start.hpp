// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "executor/job/job.hpp"
#include "os/fd.hpp"

#include <string>

namespace ponk::executor {

struct StubStart {
    const Path& program;
    const Path& directory;           // of the run
    const std::string& environment;  // key and environment as the supervisor wants them
    int lease = -1;                  // a descriptor that lives as long as the run, or -1
    std::string name = {};           // to be seen in lists of processes; empty: the program's
    std::vector<std::string> own_environment = {};  // "K=V" of the process itself
};

// Starts the supervisor and returns what it says about its start: "started", "claimed", "error …";
// empty when it died without a word. `adopt` is given the process and takes it away when it ends.
using Adopt = std::function<void(os::Fd pidfd)>;
Result<std::string> start_stub(const StubStart& start, const Adopt& adopt, std::stop_token stop);

// Undoes the claim of a supervisor that died before the script began. Only with the lock in hand
// is it certain that nobody is about to start it.
Result<bool> withdraw_claim(const Path& directory);

// Claims a run that no supervisor has begun, as one does it itself, so that one which comes late
// goes away. Returns the run's lock: while it is held, the run counts as one that somebody takes
// care of. nullopt when a supervisor has begun.
Result<std::optional<os::Fd>> claim_start(const Path& directory);

}  // namespace ponk::executor
