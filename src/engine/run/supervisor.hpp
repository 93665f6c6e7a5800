// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "base/synced.hpp"
#include "engine/context/context.hpp"
#include "engine/plan/resolve_run.hpp"
#include "engine/secrets/run_secrets.hpp"
#include "engine/tracked/journal_reader.hpp"
#include "executor/run_directory/leftovers.hpp"
#include "model/run.hpp"
#include "os/wait.hpp"
#include "snapshot/take_snapshot.hpp"

#include <atomic>
#include <chrono>
#include <functional>
#include <memory>
#include <optional>
#include <thread>
#include <vector>

namespace ponk::engine {

// A target that cannot be reached, which says nothing about its runs.
struct Outage {
    std::int64_t since = 0;  // wall-clock milliseconds
    std::string reason;
};

// Carries one run from its record to its end, on a thread of its own: snapshot, place, launch,
// follow, collect. It is the only writer of its run's state. Destroying it stops the watching,
// never the job; whoever supervises the run next goes on from what is stored.
class Supervisor {
public:
    // Only the snapshot, of a run that waits for its turn, or all.
    enum class Until { snapshot, end };
    // Without `submitter` (after a restart) a run that was not launched waits a while for its
    // client to send its request again. `when_over` is called on the thread, as its last act.
    Supervisor(const Context& context,
               model::Run run,
               std::shared_ptr<const Submitter> submitter,
               Until until,
               std::function<void()> when_over);
    ~Supervisor();
    Supervisor(const Supervisor&) = delete;
    Supervisor& operator=(const Supervisor&) = delete;

    // The same request came again: it may bring the environment that a restart lost.
    void offer(std::shared_ptr<const Submitter> submitter);
    void cancel(std::chrono::seconds grace);
    // The run's folder is gone with all it held: the run is lost, and its job is left alone.
    void give_up(const Error& why);
    // It has nothing more to do.
    [[nodiscard]] bool ended() const noexcept { return ended_; }
    // The run waits, with its snapshot.
    [[nodiscard]] bool stored_snapshot() const noexcept { return stored_snapshot_; }
    // Set while the run's target cannot be reached.
    [[nodiscard]] std::optional<Outage> outage() const;

private:
    struct Requests {
        std::shared_ptr<const Submitter> submitter;
        std::optional<std::chrono::seconds> cancel;
        int cancels = 0;                                // how often it was requested
        std::stop_source collecting{std::nostopstate};  // of the step that a cancel gives up
        std::optional<std::string> give_up;             // why
    };

    // What is kept for the ends of runs: a script that still writes would take it.
    enum class Reserved { keep, give };

    void work(std::stop_token stop);
    Result<> carry_out(std::stop_token stop);
    Result<> store_snapshot();
    Result<> prepare(std::stop_token stop);
    Result<snapshot::Lease> take_snapshot(store::RunChange& change, std::stop_token stop);
    Result<bool> find_noted_snapshot(store::RunChange& change);
    void record_snapshot(const store::RunChange& change);
    Result<> launch(std::stop_token stop);
    Result<> withdraw_launch(const std::stop_token& stop);
    Result<bool> was_launched(std::stop_token stop);
    // After a failed call: true when the target was not reached. Tells it once and waits a moment;
    // the call shall then be tried again.
    bool wait_for_target(const Error& problem, const std::stop_token& stop);
    void note_reached();
    // Tells it once to whoever follows; false when the problem is another one.
    bool note_outage(const Error& problem);
    // A request to end that the job has not heard yet.
    struct Cancelling {
        bool sent = false;
        bool tried = false;
        bool away = false;  // nobody was there to hear it
        int cancels = 0;    // how often it was requested at the last try
        Deadline next{};
        std::chrono::milliseconds pause{1000};
        std::string problem;  // as it was reported
    };
    void try_to_cancel(Cancelling& cancelling, std::chrono::seconds grace);
    Result<> wait_for_submitter(std::stop_token stop);
    Result<> follow(std::stop_token stop);
    void answer_forwarded(JournalReader& journals) const;
    void note_gpu(const std::string& text);
    [[nodiscard]] Json final_gpu() const;
    void keep_place_in_queue();
    [[nodiscard]] Deadline place_is_due() const;
    // Why `gpu: required` does not hold for a run that has ended; nullopt when it does.
    [[nodiscard]] std::optional<Error> broken_gpu_requirement() const;
    Result<>
    finalize(const executor::JobStatus& status, JournalReader& journals, std::stop_token stop);
    void check_log(const model::ExitRecord& exit, executor::Notices& notices);
    Result<executor::Notices> read_last_metrics(JournalReader& journals,
                                                const std::stop_token& stop);
    [[nodiscard]] bool may_have_outputs() const;
    void add_file_advice(const model::ExitRecord& exit, executor::Notices& notices);
    Result<std::vector<snapshot::Lease>> measure_inputs(store::RunChange& change);
    void check_inputs(const std::stop_token& stop, executor::Notices& notices);
    struct EndedCopy {
        executor::Rest rest;
        executor::Leftovers leftovers;  // of a copy on this machine
    };
    Result<std::optional<EndedCopy>> end_copy(const model::ExitRecord& exit, std::stop_token stop);
    Result<> keep_files(executor::Rest& rest,
                        Result<executor::Collected>& outputs,
                        executor::Notices& notices);
    Result<executor::Collected> collect_outputs(std::stop_token stop);
    void fail_run(const Error& error);
    void end_what_it_made(model::RunState state, std::int64_t ended);
    // As it may be stored.
    [[nodiscard]] Error hidden(const Error& error) const;
    Result<> try_move(const std::vector<model::RunState>& path, const store::RunChange& change);
    // As soon as the disk has room for it.
    Result<> move_through(const std::vector<model::RunState>& path, const store::RunChange& change);
    Result<> move_to(model::RunState state, const store::RunChange& change = {});
    // What could not be stored may be stored later: the disk is full, say.
    [[nodiscard]] bool may_pass(const Error& problem) const;
    // After such a problem: waits a moment. False when we shall end.
    bool wait_for_room(const Error& problem, Reserved reserved);
    Result<executor::Job> job_of();
    Result<snapshot::SnapshotReport> store_files(std::stop_token stop);
    Result<> finish_preparation();
    void tell_progress(const std::string& line) const;
    Result<executor::Staged> stage(store::RunChange& change, std::optional<snapshot::Lease>& lease);
    std::vector<std::string> tell_warnings(executor::Notices notices);
    bool know_secrets();
    void tell(const std::string& kind, const std::string& text) const;
    [[nodiscard]] bool cancel_requested();
    [[nodiscard]] std::string handle() const;
    [[nodiscard]] executor::Executor& executor() const { return *executor_.load(); }
    [[nodiscard]] const executor::RunDirectory& directory() const { return directory_; }

    const Context& context_;
    RunSpec spec_;                            // what it is, once its record was read
    model::Run run_;                          // the thread's own copy: others must not look at it
    const executor::RunDirectory directory_;  // the run's folder; others may ask for it
    std::atomic<executor::Executor*> executor_{nullptr};
    mutable Synced<std::optional<Outage>> outage_;
    std::string gpu_text_;     // the state of its GPUs as it was last seen
    std::string gpu_told_;     // what was reported last
    bool gpu_is_kept_ = true;  // the run's record has it
    int waits_for_room_ = 0;
    std::int64_t next_keeping_ = 0;  // when it may be written again; by the clock of the boot
    Synced<Requests> requests_;
    os::Bell bell_;
    std::stop_source step_;  // ends the current blocking step when a cancel comes
    std::stop_token stop_;   // the thread's own
    // From the launch on: what the script must not reveal. Absent when it cannot be read now.
    std::optional<RunSecrets> secrets_ = RunSecrets();
    const Until until_;
    const std::function<void()> when_over_;
    std::atomic<bool> stored_snapshot_{false};
    std::atomic<bool> ended_{false};
    std::jthread thread_;  // last: joins before the rest is destroyed
};

}  // namespace ponk::engine
