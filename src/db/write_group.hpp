// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "base/error.hpp"
#include "base/synced.hpp"
#include "db/connection.hpp"

#include <condition_variable>
#include <functional>
#include <memory>
#include <span>
#include <thread>
#include <vector>

namespace ponk::db {

// What one caller wants written, and how it went.
struct WriteJob {
    Durability durability = Durability::disk;
    std::function<Result<>(Connection&)> work;
    // The work looks first and then changes something by one statement: when it fails there is
    // nothing to undo.
    bool one_change = false;
    Result<> outcome = {};
    // Of a job that nobody waits for.
    std::function<void(Result<> outcome)> done = {};
};

// Runs the jobs in one transaction and one commit, which is durable when one of them asks for it.
// A job that fails is undone and does no harm to the others; when the commit fails, all fail. When
// SQLite gives the whole transaction up in the middle of a job (a full disk), those before it fail
// with it, and those behind it get a transaction of their own.
void run_together(Connection& writer, std::span<WriteJob* const> jobs);

// Jobs that come while others are committed share the next commit.
//
// Safe to call from any thread. Jobs run in the order of arrival. A caller that finds nobody at
// work runs its job, and those of others that came meanwhile run on the thread of the first who
// waits for one, or on a thread for jobs that nobody waits for.
class WriteGroup {
public:
    using Run = std::function<void(std::span<WriteJob* const>)>;
    explicit WriteGroup(Run run) : run_(std::move(run)) {}
    ~WriteGroup() { finish(); }
    WriteGroup(const WriteGroup&) = delete;
    WriteGroup& operator=(const WriteGroup&) = delete;

    // Runs what is left; nothing may come after it.
    void finish();
    // Returns when the job was run, by this thread or another; with an error, and without having
    // run it, when the request of this thread is over before anybody has begun with the job.
    void submit(WriteJob& job);
    // Returns at once; `done` is called by the thread that ran the job and must not wait.
    void submit_later(std::unique_ptr<WriteJob> job);

private:
    struct Caller {
        enum class State { queued, leads, done } state = State::queued;
        std::condition_variable changed = {};
    };
    struct Entry {
        WriteJob* job;
        Caller* caller;                        // null: nobody waits
        std::unique_ptr<WriteJob> owned = {};  // then
    };
    using Group = std::vector<Entry>;
    struct Queue {
        Group waiting;
        bool led = false;     // someone is at work, or was told to
        bool called = false;  // the thread is to lead
        bool ends = false;
        std::thread thread;
    };

    // The group to lead; empty when another thread did the job.
    Group join(Entry entry);
    static bool withdraw(Queue& queue, const Caller* caller);
    void lead(Group group, const Caller* self);
    void pass_on(Queue& queue);
    void serve();

    Run run_;
    Synced<Queue> queue_;
    std::condition_variable call_;
};

}  // namespace ponk::db
