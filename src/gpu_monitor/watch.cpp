// SPDX-License-Identifier: Apache-2.0
// The second half of a keeper's life: the run is on its way.
#include "base/text.hpp"
#include "base/time.hpp"
#include "executor/run_directory/control_directory.hpp"
#include "executor/run_directory/run_files.hpp"
#include "executor/run_directory/run_folder.hpp"
#include "gpu/verdict/fallback.hpp"
#include "gpu_monitor/keeper.hpp"
#include "os/variables.hpp"
#include "os/wait.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <sys/stat.h>

namespace ponk::gpu_monitor {

using namespace std::chrono_literals;

namespace {

// A run can be over in a moment, or take weeks.
std::chrono::milliseconds sample_pause(std::int64_t age_ms)
{
    if (age_ms < 5'000) return 250ms;
    return age_ms < 3'600'000 ? 2000ms : 5000ms;
}

constexpr auto sample_patience = 8s;
// The end waits for the verdict, but not for ever: a sample that hangs, the last one and the looks
// for remains stay below that.
constexpr auto last_patience = 3s;
constexpr auto remains_patience = 2s;
// A supervisor in a container needs a moment before it holds the run's lock.
constexpr std::int64_t lock_patience_ms = 10'000;
// Once it had it, there is no gap.
constexpr std::int64_t lock_gap_ms = 200;
constexpr std::chrono::seconds end_grace{10};

std::uint64_t own_pid_namespace()
{
    struct stat info {};
    return ::stat("/proc/self/ns/pid", &info) == 0 ? info.st_ino : 0;
}

}  // namespace

bool Keeper::has_ended()
{
    if (const auto exit = options_.files.find(executor::control::exit); exit && *exit) return true;
    if (!executor::is_there(options_.directory.task())) return true;
    if (executor::is_locked(options_.directory.task())) {
        was_locked_ = true;
        unlocked_since_.reset();
        return false;
    }
    // Killed with all its supervisors, or not quite begun. A process that closed what it inherited
    // may go on all the same.
    own_.set_run(known_processes());
    own_.refresh();
    if (!own_.living().empty()) {
        unlocked_since_.reset();
        return false;
    }
    if (!unlocked_since_) unlocked_since_ = boot_milliseconds();
    return boot_milliseconds() - *unlocked_since_ > (was_locked_ ? lock_gap_ms : lock_patience_ms);
}

// Pids in the file `pid` of a container are those that the container sees.
gpu::RunProcesses Keeper::known_processes() const
{
    gpu::RunProcesses known;
    known.container = starter_->container();
    known.token = os::variable(options_.run_environment, "PONK_RUN_TOKEN");
    const auto processes = executor::read_processes(options_.files, options_.directory);
    if (!processes || !*processes) return known;
    if (known.container.empty()) {
        known.cgroup = (*processes)->cgroup;
        for (const auto& process : {(*processes)->stub, (*processes)->guard, (*processes)->main})
            if (process.pid > 0) known.roots.push_back({process.pid, process.start_ticks});
    } else if ((*processes)->pid_namespace != own_pid_namespace()) {
        known.pid_namespace = (*processes)->pid_namespace;
    }
    return known;
}

// The script's own process, by its pid of this machine; 0 when it is not known.
pid_t Keeper::find_main() const
{
    const auto processes = executor::read_processes(options_.files, options_.directory);
    if (!processes || !*processes) return 0;
    const auto main = (*processes)->main.pid;
    if (starter_->container().empty()) return main;
    for (const pid_t pid : own_.living())
        if (gpu::find_inner_pid("/proc", pid) == main) return pid;
    return 0;
}

void Keeper::watch()
{
    auto next = boot_milliseconds();
    while (!has_ended()) {
        const auto now = boot_milliseconds();
        if (now >= next) {
            take_sample(sample_patience);
            renew_leases();
            look_at_processes();
            keep_required();
            next = now + sample_pause(now - started_).count();
            continue;
        }
        pause(std::chrono::milliseconds(
            std::min<std::int64_t>(next - now, unlocked_since_ ? lock_gap_ms : 1000)));
    }
    const bool answered = take_sample(last_patience);
    leases_.clear();
    if (answered) look_for_remains();
}

// False when the driver did not answer.
bool Keeper::take_sample(std::chrono::seconds patience)
{
    const auto moment = boot_milliseconds();
    const auto sample = probe_->sample(after(patience), {});
    if (!sample) {
        collector_->add_failure(sample.error());
        return false;
    }
    // A look at all processes costs more than a sample does.
    if (const auto now = boot_milliseconds(); now >= next_refresh_) {
        next_refresh_ = now + std::clamp<std::int64_t>(now - started_, 200, 10'000);
        own_.set_run(known_processes());
        own_.refresh();
    }
    collector_->add(
        *sample, [this](pid_t pid) { return own_.whose(pid); }, moment);
    journal_->add(*sample);
    last_sample_ = *sample;
    return true;
}

// What speaks for a fall-back can only be seen while the processes live.
void Keeper::look_at_processes()
{
    touched_ = std::ranges::any_of(collector_->evidence().devices,
                                   [](const auto& device) { return !device.pids.empty(); });
    const auto now = boot_milliseconds();
    if (touched_ || now < next_look_) return;
    next_look_ = now + std::clamp<std::int64_t>(now - started_, 500, 60'000);
    auto leased = inventory_;
    leased.devices = devices_;
    for (auto& finding : gpu::find_fallback(own_.living(), leased, {.main = find_main()})) {
        const auto known = std::ranges::find(findings_, finding.code, &gpu::Finding::code);
        if (known == findings_.end()) {
            findings_.push_back(std::move(finding));
        } else if (finding.certain) {
            // Once can be a moment between two programs.
            if (known->certain) certain_ = finding.sentence;
            *known = std::move(finding);
        }
    }
}

gpu::Evidence Keeper::evidence() const
{
    auto evidence = collector_->evidence();
    evidence.remains = remains_;
    for (const auto& finding : findings_)
        evidence.findings.push_back(finding.sentence);
    return evidence;
}

void Keeper::keep_required()
{
    if (options_.job.request.need != executor::GpuRequest::Need::required || touched_ ||
        !enforced_.empty())
        return;
    const auto age = boot_milliseconds() - started_;
    const auto grace = std::chrono::milliseconds(options_.job.request.grace).count();
    const auto watched = collector_->evidence().seconds;
    if (!certain_.empty()) {
        enforced_ = certain_;
    } else if (age >= grace && watched * 1000 >= static_cast<double>(grace) &&
               gpu::judge(collector_->evidence()).verdict == gpu::Verdict::cpu_fallback) {
        // What could not be measured ends nobody: that is judged when the run is over.
        enforced_ = fmt::format("no process of the run touched a GPU in {:.0f} s", watched);
    }
    if (enforced_.empty()) return;
    state_.set("enforced", enforced_);
    write_state();
    static_cast<void>(executor::request_end(options_.directory.task(), end_grace));
    starter_->ask_to_end();
}

// A process that the kernel cannot end, or memory that the driver does not give back. The driver's
// list of processes lags behind their end.
void Keeper::look_for_remains()
{
    const auto deadline = after(remains_patience);
    while (last_sample_) {
        std::vector<std::string> left;
        for (const auto& device : last_sample_->devices) {
            for (const auto& process : device.processes) {
                if (!process.ended &&
                    std::ranges::any_of(devices_,
                                        [&](const auto& own) { return own.uuid == device.uuid; }) &&
                    own_.contains(process.pid))
                    left.push_back(fmt::format("process {} of the run still holds {} of '{}'",
                                               process.pid,
                                               byte_size_text(process.memory),
                                               device.uuid));
            }
        }
        remains_ = join(left, "; ");
        if (left.empty() || Deadline::clock::now() >= deadline) return;
        os::sleep_for(100ms, {});
        auto sample = probe_->sample(deadline, {});
        if (!sample) return;
        last_sample_ = std::move(*sample);
    }
}

void Keeper::judge()
{
    const auto work =
        executor::RunFolder::open(options_.directory.root(), executor::RunDirectory::work_part());
    if (!touched_ && work) {
        for (auto& finding : gpu::scan_scripts(work->path(), options_.job.script))
            findings_.push_back(std::move(finding));
    }
    const auto evidence = this->evidence();
    const auto judgement = gpu::judge(evidence);
    state_.set("phase", "ended");
    state_.set("verdict", gpu::to_string(judgement.verdict));
    state_.set("reason", judgement.reason);
    state_.set("evidence", gpu::to_json(evidence));
    write_state();
}

}  // namespace ponk::gpu_monitor
