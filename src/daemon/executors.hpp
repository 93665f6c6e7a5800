// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "daemon/daemon.hpp"
#include "engine/context/notifier.hpp"
#include "executor/executor.hpp"
#include "snapshot/object_store.hpp"
#include "store/history/history.hpp"

#include <map>
#include <memory>
#include <string>

namespace ponk::daemon {

using Executors = std::map<std::string, std::unique_ptr<executor::Executor>>;

// What executors use of the daemon's; it outlives them.
struct Collaborators {
    const snapshot::ObjectStore& objects;
    store::History& history;
    engine::Notifier& notifier;
};

// One for each type of target that users can submit to, by its name.
Result<Executors> make_executors(const Options& options, const Collaborators& with);

}  // namespace ponk::daemon
