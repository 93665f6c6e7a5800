// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "base/error.hpp"
#include "base/synced.hpp"
#include "db/connection.hpp"

#include <condition_variable>
#include <functional>
#include <span>
#include <vector>

namespace ponk::db {

// What one caller wants written, and how it went.
struct WriteJob {
    Durability durability = Durability::disk;
    std::function<Result<>(Connection&)> work;
    Result<> outcome = {};
};

// Runs the jobs in one transaction and one commit, which is durable when one of them asks for it.
// A job that fails is undone and does no harm to the others; when the commit fails, all fail. When
// SQLite gives the whole transaction up in the middle of a job (a full disk), those before it fail
// with it, and those behind it get a transaction of their own.
void run_together(Connection& writer, std::span<WriteJob* const> jobs);

// Callers that come while another one commits share the next commit.
//
// Safe to call from any thread. Jobs run in the order of arrival, those of one group on the thread
// of one of their callers; there is no thread besides. A caller that finds nobody at work runs its
// job at once.
class WriteGroup {
public:
    using Run = std::function<void(std::span<WriteJob* const>)>;
    explicit WriteGroup(Run run) : run_(std::move(run)) {}

    // Returns when the job was run, by this thread or another.
    void submit(WriteJob& job);

private:
    struct Waiting {
        enum class State { queued, leads, done };
        WriteJob* job;
        State state = State::queued;
        std::condition_variable changed = {};
    };
    struct Queue {
        std::vector<Waiting*> waiting;
        bool led = false;  // someone is at work, or was told to
    };
    using Group = std::vector<Waiting*>;

    // The group to lead; empty when another thread did the job.
    Group join(Waiting& self);
    void leave(const Waiting& self, const Group& group);

    Run run_;
    Synced<Queue> queue_;
};

}  // namespace ponk::db
