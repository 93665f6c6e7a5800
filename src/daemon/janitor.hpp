// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "daemon/chores.hpp"
#include "engine/context.hpp"

#include <thread>
#include <vector>

namespace ponk::daemon {

// Keeps the house in the background: garbage collection of objects and environments, stray folders,
// a backup of the database. Begins some minutes after the start, so that short-lived daemons are
// not delayed by it; only metrics that an import left over are read at once.
class Janitor {
public:
    Janitor(const engine::Context& context, std::vector<RunId> without_metrics, Chores::Tell tell);

private:
    void work(std::stop_token stop);

    const engine::Context& context_;
    std::vector<RunId> without_metrics_;
    Chores chores_;
    std::jthread thread_;  // last: joins before the rest is destroyed
};

}  // namespace ponk::daemon
