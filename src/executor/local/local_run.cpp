// SPDX-License-Identifier: Apache-2.0
#include "executor/local/local_run.hpp"

#include "base/text.hpp"

#include <csignal>
#include <poll.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <unistd.h>

namespace ponk::executor::local {

using namespace std::chrono_literals;

namespace {

// For ending survivors and hashing the rest of a log.
constexpr auto record_patience = 15s;

bool lives(const std::optional<os::Fd>& pidfd)
{
    if (!pidfd) return false;
    pollfd polled{pidfd->get(), POLLIN, 0};
    return ::poll(&polled, 1, 0) == 0;
}

}  // namespace

Result<JobStatus> LocalRun::look()
{
    const std::lock_guard lock(mutex_);
    auto said = TRY(read_report(files_, directory_));
    if (said.exit) return status_of(said, {});
    const auto living = TRY(liveness());
    if (living.state == Liveness::State::gone) said = TRY(read_report(files_, directory_));
    if (!said.exit && processes_) said.started = processes_->started;
    return status_of(said, living);
}

// As the kernel tells it.
Result<Liveness> LocalRun::liveness()
{
    if (TRY(find_processes())) return liveness_of_processes();
    if (is_locked(directory_.task())) return Liveness();
    // Nobody holds the lock, so nothing changes any more; but it may have, just before we asked.
    if (TRY(find_processes())) return Liveness();
    if (files_.is_taken(control::pid) || files_.is_taken(control::exit)) {
        return Liveness::gone("another program changed files in the run's folder, so the result of "
                              "the script cannot be known");
    }
    if (is_there(directory_.task() / control::claim))
        return Liveness::gone("the supervisor was killed before the script started");
    return Liveness();  // nobody ever began it
}

Result<bool> LocalRun::find_processes()
{
    if (processes_) return true;
    processes_ = TRY(read_processes(files_, directory_));
    if (!processes_) return false;
    stub_ = os::open_process(processes_->stub);
    guard_ = os::open_process(processes_->guard);
    main_ = os::open_process(processes_->main);
    return true;
}

// Another boot of this machine has no process any more. Another machine that shares our files may.
Result<bool> LocalRun::is_of_this_boot() const
{
    if (processes_->main.boot_id == os::boot_id()) return true;
    if (processes_->machine.empty() || processes_->machine == os::host_name()) return false;
    if (!is_there(directory_.task()))
        return fail(ErrorKind::not_found, "{} does not exist", os::in_quotes(directory_.root()));
    return fail(ErrorKind::unreachable,
                "the run is on the machine '{}', not on this one ('{}'); if that machine no longer "
                "exists, remove the folder {}, and the run is recorded as lost",
                printable(processes_->machine),
                os::host_name(),
                os::in_quotes(directory_.root()));
}

bool LocalRun::is_supervised() const
{
    return lives(stub_) || lives(guard_);
}

Result<Liveness> LocalRun::liveness_of_processes()
{
    if (!TRY(is_of_this_boot()))
        return Liveness::gone("the host was rebooted while the script ran");
    if (is_supervised()) return Liveness{.reason = late_record()};
    const auto recorded = [] {
        return Liveness::gone("the record of its end was removed from the run's folder");
    };
    // Written before the last of the two ended: nothing is left to do for it.
    if (TRY(files_.find(control::exit))) return recorded();
    if (!stand_in_)
        stand_in_ =
            std::make_unique<StandIn>(directory_.task(), files_, *processes_, std::move(main_));
    const auto progress = TRY(stand_in_->step());
    if (progress == StandIn::Progress::unknown) return Liveness::gone(stand_in_->reason());
    return progress == StandIn::Progress::published ? recorded() : Liveness();
}

// A supervisor whose record cannot be written tries on, for a day; the user must hear of it sooner.
std::string LocalRun::late_record()
{
    if (!main_ || lives(main_)) return {};
    const auto now = Deadline::clock::now();
    if (!record_due_) record_due_ = now + record_patience;
    if (now < *record_due_) return {};
    return fmt::format(
        "the script has ended, but its supervisor (process {}) has not recorded the result: check "
        "whether {} is on a full or read-only disk, or the process is stopped",
        (lives(stub_) ? processes_->stub : processes_->guard).pid,
        os::in_quotes(directory_.root()));
}

LocalRun::Wake LocalRun::next_wake()
{
    const std::lock_guard lock(mutex_);
    // A supervisor that has not said who it is can only be watched through its lock.
    if (!processes_) return {{}, after(20ms)};
    if (stand_in_) {
        Wake wake{{}, stand_in_->look_again()};
        if (stand_in_->wait_for() >= 0) wake.descriptors.push_back(stand_in_->wait_for());
        return wake;
    }
    // While one of the two lives it does the work; the end of the last one wakes us.
    const auto& last = lives(guard_) ? guard_ : stub_;
    Wake wake{{}, after(60s)};
    if (last) wake.descriptors.push_back(last->get());
    if (lives(main_)) wake.descriptors.push_back(main_->get());
    if (record_due_ && *record_due_ > Deadline::clock::now())
        wake.at = std::min(wake.at, *record_due_);
    return wake;
}

Result<> LocalRun::ask_to_end()
{
    const std::lock_guard lock(mutex_);
    const auto known = find_processes();
    if (!known || !*known) return {};  // it finds the request when it starts
    if (is_supervised()) {
        for (const auto* supervisor : {&stub_, &guard_}) {
            if (!lives(*supervisor)) continue;
            for (const int number : {SIGTERM, SIGCONT})  // a stopped one cannot obey
                ::syscall(SYS_pidfd_send_signal, (*supervisor)->get(), number, nullptr, 0);
        }
        return {};
    }
    if (!TRY(is_of_this_boot())) return {};
    if (!stand_in_)
        stand_in_ =
            std::make_unique<StandIn>(directory_.task(), files_, *processes_, std::move(main_));
    [[maybe_unused]] const auto progress = stand_in_->step();
    return {};
}

std::vector<os::Fd> LocalRun::take_remains()
{
    const std::lock_guard lock(mutex_);
    std::vector<os::Fd> remains;
    for (auto* process : {&stub_, &guard_, &main_}) {
        if (*process && **process) remains.push_back(std::move(**process));
        process->reset();
    }
    return remains;
}

}  // namespace ponk::executor::local
