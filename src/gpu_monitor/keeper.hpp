// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "base/synced.hpp"
#include "executor/gpu/monitor.hpp"
#include "executor/run_directory/control_seal.hpp"
#include "gpu/lease/lease.hpp"
#include "gpu/probe/probe.hpp"
#include "gpu/verdict/fallback.hpp"
#include "gpu/verdict/own_processes.hpp"
#include "gpu/verdict/verdict.hpp"
#include "gpu_monitor/gpu_journal.hpp"
#include "gpu_monitor/start_run.hpp"
#include "model/exit_record.hpp"

#include <memory>
#include <optional>
#include <string>
#include <vector>

namespace ponk::gpu_monitor {

using os::Path;

// Where the one who started us hears whether the run is accepted; the first word counts.
class Report {
public:
    explicit Report(os::Fd fd) : fd_(std::move(fd)) {}
    // False when another word was heard before. From any thread.
    bool say(const std::string& word);
    bool refuse(const Error& error);

private:
    Synced<os::Fd> fd_;
};

struct KeeperOptions {
    executor::MonitorJob job;
    executor::RunDirectory directory;
    executor::SealedFiles files;
    std::string key;  // of the run, for its supervisor
    std::vector<std::string> own_environment;
    std::vector<std::string> run_environment;  // of the script
    os::Fd lease;                              // of the run's environment; may be none
};

// The devices that a scheduler's variables name, by place or name; all where there are none. Fails
// when one is not among those that the driver reports.
Result<std::vector<gpu::Device>> find_given(const std::vector<gpu::Device>& devices,
                                            const std::vector<std::string>& environment);

// From here on SIGTERM is read from this descriptor.
os::Fd catch_end_signal();

// One run and its GPUs, from the queue to the verdict. One thread; every failure of the driver is
// an answer (`unknown`), never the end of the run.
class Keeper {
public:
    Keeper(KeeperOptions options, Report& report);

    // Returns when the run is over and judged. An error only while nothing has been executed, and
    // only where somebody hears it.
    Result<> run();

private:
    enum class Turn { taken, cancelled, without };
    // Whether the script may see GPUs that are not the run's.
    enum class Others { seen, hidden };

    Result<> keep();
    Result<> look_for_gpus();
    void ask_driver(Deadline deadline);
    void make_starter(Others others);
    Result<> go_without(Others others, gpu::Verdict verdict, const std::string& reason);
    Result<> keep_given();
    Result<> run_to_its_end();
    Result<Turn> take_gpus();
    Result<Turn> wait_for_turn(const gpu::Ticket& ticket);
    Result<Turn> refuse_nested() const;
    [[nodiscard]] bool waits_for_parent(const gpu::Ticket& ticket) const;
    [[nodiscard]] std::string parent_has_them() const;
    Result<gpu::LeaseFolder::Outcome> try_take(const gpu::Ticket& ticket);
    [[nodiscard]] gpu::Owner owner() const;
    void have(std::vector<gpu::Device> devices);
    std::vector<std::string> strangers_on(const gpu::Device& device);
    void ask_driver_in_queue();
    void look_again_at_inventory();
    void tell_waiting(const gpu::Waiting& waiting);
    void wait_in_queue(std::chrono::milliseconds span);
    void renew_leases();
    Result<> start();
    void watch();
    bool take_sample(std::chrono::seconds patience);
    void look_at_processes();
    void look_for_remains();
    [[nodiscard]] gpu::RunProcesses known_processes() const;
    [[nodiscard]] pid_t find_main() const;
    [[nodiscard]] gpu::Evidence evidence() const;
    void keep_required();
    void judge();
    void write_state();
    void publish_end(model::ExitRecord record, std::string_view why);
    void pause(std::chrono::milliseconds span);
    void pass_on_signals();
    [[nodiscard]] bool is_cancelled() const;
    [[nodiscard]] bool may_go_without() const;
    [[nodiscard]] bool has_ended();

    KeeperOptions options_;
    std::string parent_;  // the run that submits this one and waits for it; may be none
    Report& report_;
    os::Fd changes_;  // inotify: something happened in the run directory
    os::Fd signals_;  // SIGTERM, where a scheduler sends it to us in the supervisor's place
    std::unique_ptr<gpu::Probe> probe_;
    gpu::Inventory inventory_;
    std::optional<gpu::Sample> last_sample_;
    std::vector<gpu::Device> devices_;
    std::optional<gpu::LeaseFolder> folder_;
    // Held until the run is over, beside the shares that its own processes have.
    std::vector<gpu::Lease> leases_;
    std::unique_ptr<RunStarter> starter_;
    std::optional<gpu::EvidenceCollector> collector_;
    std::unique_ptr<GpuJournal> journal_;
    JsonObject state_;
    std::string written_;       // the state as it was last written
    std::int64_t started_ = 0;  // CLOCK_BOOTTIME milliseconds
    std::int64_t next_look_ = 0;
    std::int64_t next_refresh_ = 0;
    std::int64_t next_telling_ = 0;
    unsigned told_position_ = 0;
    std::int64_t next_question_ = 0;    // to the driver, while we wait
    std::int64_t next_inventory_ = 0;   // the same, when the selection cannot be had from this one
    std::int64_t strangers_since_ = 0;  // 0: none were seen, and the driver answered
    std::string question_failed_;       // why the driver did not answer then
    gpu::OwnProcesses own_{gpu::RunProcesses()};
    bool touched_ = false;  // a process of the run had a context
    std::vector<gpu::Finding> findings_;
    std::string certain_;      // a certain one that was seen a second time
    std::string enforced_;     // why the run was ended
    std::string remains_;      // who keeps a GPU after the end
    bool was_locked_ = false;  // the run's supervisor was there
    std::optional<std::int64_t> unlocked_since_;
};

}  // namespace ponk::gpu_monitor
