// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "daemon/chores.hpp"
#include "daemon/recovery.hpp"

#include <thread>

namespace ponk::daemon {

// Keeps the house in the background: garbage collection of objects and environments, stray folders,
// a backup of the database. Begins some minutes after the start (PONK_JANITOR_SECONDS), so that
// short-lived daemons are not delayed by it; only metrics that an import left over are read at
// once.
class Janitor {
public:
    Janitor(const engine::Context& context, MetricsToRead without_metrics, Chores::Tell tell);

private:
    void work(std::stop_token stop);
    void read_metrics(const std::stop_token& stop);

    const engine::Context& context_;
    MetricsToRead without_metrics_;
    Chores::Tell tell_;
    Chores chores_;
    std::jthread thread_;  // last: joins before the rest is destroyed
};

}  // namespace ponk::daemon
