// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "target/executor.hpp"
#include "target/watcher.hpp"

#include <string>

namespace ponk::target::local {

struct StubStart {
    const Path& program;
    const Path& directory;           // of the run
    const std::string& environment;  // key and environment as the supervisor wants them
    int lease = -1;                  // a descriptor that lives as long as the run, or -1
};

// Starts the supervisor and returns what it says about its start: "started", "claimed", "error …";
// empty when it died without a word. `watcher` takes it away when it ends.
Result<std::string> start_stub(const StubStart& start, Watcher& watcher, std::stop_token stop);

// Undoes the claim of a supervisor that died before the script began. Only with the lock in hand
// is it certain that nobody is about to start it.
Result<bool> withdraw_claim(const Path& directory);

}  // namespace ponk::target::local
