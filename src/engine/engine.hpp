// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "base/synced.hpp"
#include "engine/context/context.hpp"
#include "engine/plan/plan.hpp"
#include "engine/run/supervisor.hpp"

#include <chrono>
#include <map>
#include <memory>
#include <vector>

namespace ponk::engine {

// The runs that are alive, each with its supervisor. Safe to call from any thread.
class Engine {
public:
    explicit Engine(Context context);
    // Stops watching; the jobs go on.
    ~Engine();
    Engine(const Engine&) = delete;
    Engine& operator=(const Engine&) = delete;

    [[nodiscard]] const Context& context() const noexcept { return context_; }

    // Reads the configuration, records the run and starts it on its way. A submission that was sent
    // before answers the run that is there.
    Result<model::Run> submit(const Submission& submission);
    // The same snapshot, arguments, variables and configuration under a new id.
    Result<model::Run> rerun(const RunId& original, const RunId& id, LaunchContext launch_context);
    // A run that has ended is a `conflict`.
    Result<model::Run> cancel(const RunId& id, std::chrono::seconds grace);
    // After a start: takes up every run that has not ended. Runs that only a run directory knows
    // (the database was lost) are recorded again first.
    Result<> recover();
    // Waits, not past the deadline, until runs that ended while no daemon watched show their end.
    void wait_for_supervisors(Deadline deadline);
    // The home folder was taken away: runs whose folders went with it are lost.
    void give_up_lost_runs(const Error& why);

    [[nodiscard]] std::size_t active_runs();
    // Set while the target of a run that has not ended cannot be reached.
    [[nodiscard]] std::optional<executor::Outage> outage(const RunId& id);

private:
    Result<model::Run> start(model::Run run, const Plan& plan, LaunchContext launch_context);
    void supervise(const model::Run& run, std::optional<LaunchContext> launch_context);

    Context context_;
    [[nodiscard]] std::vector<RunId> unfinished_runs();
    [[nodiscard]] std::shared_ptr<Supervisor> find(const RunId& id);

    // Shared, so that none is asked with the lock held: an answer may take a look at files.
    Synced<std::map<RunId, std::shared_ptr<Supervisor>>> live_;
};

}  // namespace ponk::engine
