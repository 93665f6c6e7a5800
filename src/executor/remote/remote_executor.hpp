// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "executor/executor.hpp"
#include "executor/remote/link/host_pool.hpp"
#include "snapshot/object_store.hpp"

#include <functional>
#include <memory>
#include <string>

namespace ponk::executor::remote {

// What the executor needs from elsewhere.
struct Options {
    Path home;         // $PONK_HOME
    std::string type;  // "remote" or "remotedocker"
    const snapshot::ObjectStore& objects;
    std::shared_ptr<HostPool> hosts;  // shared by the types: one connection for all
    // A line about a run that is under way for longer; may be empty.
    std::function<void(const std::string& run, const std::string& line)> tell = {};
};

// Runs on other machines: passes every call on to the program `ponk-agent` there, which carries it
// out as if it were a target of that machine. Log and journals are copied here as they grow, the
// exit record when they are whole.
//
// A job's text is the run's id. The file `launched` of the run directory holds the identity of the
// folder there that the run was given to. The file `host` of the run directory names the machine,
// so that a daemon that is started later finds it.
Result<std::unique_ptr<Executor>> make_executor(Options options);

}  // namespace ponk::executor::remote
