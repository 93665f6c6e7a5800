// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "base/id.hpp"
#include "engine/plan/resolve_run.hpp"

#include <cstddef>
#include <deque>
#include <map>
#include <memory>
#include <optional>
#include <set>
#include <string>
#include <vector>

namespace ponk::engine {

// How many runs may be under way at once.
struct QueueRules {
    std::size_t runs_per_location = 64;
    // Snapshots of waiting runs, which are taken at once so that later edits do not change them.
    std::size_t snapshots = 2;
};

// PONK_MAX_RUNS of the daemon's environment, a number above 0.
QueueRules queue_rules(const std::vector<std::string>& variables);

// Where a run executes, as far as runs get into each other's way: this machine, or a host.
std::string location_key(const model::Location& location);

// A run that waits: no thread, no process, no working copy. Runs of one shell share its context.
struct WaitingRun {
    RunId id;
    std::shared_ptr<const Submitter> submitter;  // none after a restart
    bool has_snapshot = false;
};

// Which runs wait, which are under way, and which may begin next: at each location the one that has
// waited longest. A value: whoever shares it locks it.
class RunQueue {
public:
    explicit RunQueue(QueueRules rules) : rules_(rules) {}

    // Counts the run as under way if one more may be and nobody waits before it.
    bool try_begin(const std::string& location, const RunId& id);
    // The same for one that is under way already, whatever the rules say.
    void begin(const std::string& location, const RunId& id);
    // Of one that was under way, or whose snapshot was being taken.
    void end(const RunId& id);

    // Behind all others of that location. Returns how many wait or are under way before it.
    std::size_t add(const std::string& location, WaitingRun run);
    // The client sent it again: it brings what a restart lost. False when it does not wait.
    bool offer(const RunId& id, const std::shared_ptr<const Submitter>& submitter);
    // It shall not begin any more. False when it does not wait.
    bool remove(const RunId& id);

    // The next run that may begin; it counts as under way.
    std::optional<WaitingRun> admit();
    // The next run whose snapshot shall be taken; it waits on, and begins only after `stored`.
    std::optional<WaitingRun> next_snapshot();
    void stored(const RunId& id);

    [[nodiscard]] bool is_waiting(const RunId& id) const { return locations_.contains(id); }
    [[nodiscard]] std::size_t waiting() const noexcept { return locations_.size(); }

private:
    struct Location {
        std::deque<WaitingRun> waiting;
        std::size_t under_way = 0;
        std::size_t looked_at = 0;  // so many in front have a snapshot, or it is being taken
    };
    [[nodiscard]] WaitingRun* find(const RunId& id);

    QueueRules rules_;
    std::map<std::string, Location> all_;
    std::map<RunId, std::string> locations_;  // of those that wait
    std::map<RunId, std::string> under_way_;
    std::set<RunId> storing_;
};

// Contexts that are equal are kept once: thousands of runs come from one shell.
class Submitters {
public:
    std::shared_ptr<const Submitter> keep(Submitter submitter);

private:
    std::deque<std::weak_ptr<const Submitter>> recent_;
};

}  // namespace ponk::engine
