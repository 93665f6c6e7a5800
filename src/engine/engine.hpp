// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "base/synced.hpp"
#include "engine/context/context.hpp"
#include "engine/plan/resolve_run.hpp"
#include "engine/queue/run_queue.hpp"
#include "engine/run/supervisor.hpp"
#include "os/chore.hpp"

#include <atomic>
#include <chrono>
#include <map>
#include <memory>
#include <vector>

namespace ponk::engine {

// The runs that have not ended: those under way, each with its supervisor, and those that wait for
// their turn. Safe to call from any thread.
class Engine {
public:
    explicit Engine(Context context, QueueRules rules = {});
    // Stops watching; the jobs go on.
    ~Engine();
    Engine(const Engine&) = delete;
    Engine& operator=(const Engine&) = delete;

    [[nodiscard]] const Context& context() const noexcept { return context_; }

    // Reads the configuration, records the run and starts it on its way. A request that was sent
    // before answers the run that is there.
    Result<model::Run> submit(const RunRequest& request, const Submitter& submitter);
    // The same snapshot, arguments, variables and configuration under a new id.
    Result<model::Run> rerun(const RunId& original, const RunId& id, Submitter submitter);
    // A run that has ended is a `conflict`.
    Result<model::Run> cancel(const RunId& id, std::chrono::seconds grace);
    // After a start: takes up every run that has not ended. Runs that only a run directory knows
    // (the database was lost) are recorded again first.
    Result<> recover();
    // Waits, not past the deadline, until runs that ended while no daemon watched show their end.
    void wait_for_supervisors(Deadline deadline);
    // The home folder was taken away: runs whose folders went with it are lost.
    void give_up_lost_runs(const Error& why);

    // Under way or waiting.
    [[nodiscard]] std::size_t active_runs();
    [[nodiscard]] std::size_t waiting_runs();
    // Set while the target of a run that has not ended cannot be reached.
    [[nodiscard]] std::optional<Outage> outage(const RunId& id);

private:
    struct Runs {
        std::map<RunId, std::shared_ptr<Supervisor>> live;
        RunQueue queue;
        Submitters contexts;
        std::vector<RunId> withdrawn;  // cancelled while they waited, and nobody has recorded it
    };

    Result<model::Run> start(model::Run run, RunSpec spec, Submitter submitter);
    // Under way already: it is watched, and gets what its client sent again.
    void take_up(const model::Run& run, Submitter submitter);
    void supervise(Runs& runs,
                   const model::Run& run,
                   std::shared_ptr<const Submitter> submitter,
                   Supervisor::Until until = Supervisor::Until::end);
    // Those that are over make room; they are joined by whoever drops them, without the lock.
    static std::vector<std::shared_ptr<Supervisor>> take_ended(Runs& runs);
    // Begins what may begin. Called whenever a run has ended or waits.
    void dispatch();
    bool begin_next();
    bool store_next_snapshot();
    Result<model::Run> cancel_waiting(const model::Run& run);

    [[nodiscard]] std::vector<RunId> unfinished_runs();
    [[nodiscard]] std::shared_ptr<Supervisor> find(const RunId& id);

    Context context_;
    // Supervisors are shared, so that none is asked with the lock held: an answer may take a look
    // at files.
    Synced<Runs> runs_;
    std::atomic<bool> stopping_{false};
    os::Chore dispatcher_{"ponk-queue", [this] { dispatch(); }};  // last: it uses the rest
};

}  // namespace ponk::engine
