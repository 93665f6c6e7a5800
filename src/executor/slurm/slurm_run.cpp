// SPDX-License-Identifier: Apache-2.0
#include "executor/slurm/slurm_run.hpp"

#include "base/text.hpp"
#include "executor/gpu/monitor.hpp"
#include "executor/slurm/job_script.hpp"
#include "os/directory.hpp"

#include <algorithm>
#include <csignal>
#include <sys/stat.h>

namespace ponk::executor::slurm {

using namespace std::chrono_literals;

namespace {

// The controller serves everybody: what files tell is not asked for.
constexpr std::chrono::milliseconds first_pause = 5s;
constexpr std::chrono::milliseconds waiting_pause = 30s;
constexpr std::chrono::milliseconds running_pause = 120s;
constexpr std::chrono::milliseconds shortest_pause = 1s;
constexpr auto young = 1min;
// A job that was told to end is completing for a while before Slurm says why.
constexpr auto cause_patience = 20s;
// Of a job that came to its own end there is a record, which a file system may be slow to show.
constexpr int patience_with_success = 12;

// Shared file systems remember that a file was not there until its folder is listed again.
void list_again(const Path& folder)
{
    static_cast<void>(os::list_directory(folder));
}

}  // namespace

SlurmRun::SlurmRun(RunDirectory directory,
                   SealedFiles files,
                   SlurmNote note,
                   JobTable& table,
                   std::chrono::milliseconds visibility,
                   Since since)
    : directory_(std::move(directory)), files_(std::move(files)), note_(std::move(note)),
      name_("ponk-" + directory_.name()), table_(table), visibility_(visibility),
      since_(Deadline::clock::now()), is_hurried_(since == Since::earlier)
{
}

Result<JobStatus> SlurmRun::look(const std::stop_token& stop)
{
    const std::lock_guard lock(mutex_);
    auto status = TRY(look_at_files(stop));
    if (!is_there(directory_.task() / control::monitor)) return status;
    if (status.phase == JobPhase::ended && !record_since_) record_since_ = Deadline::clock::now();
    const auto age = record_since_ ? Deadline::clock::now() - *record_since_ : 0ns;
    add_verdict(
        TRY(read_gpu_state(files_)), std::chrono::floor<std::chrono::milliseconds>(age), status);
    return status;
}

Result<JobStatus> SlurmRun::look_at_files(const std::stop_token& stop)
{
    list_again(directory_.task());
    auto report = TRY(read_report(files_, directory_));
    if (report.exit) return ended(std::move(report), stop);
    if (const auto processes = TRY(read_processes(files_, directory_)))
        report.started = processes->started;
    return judge(std::move(report), stop);
}

std::optional<Error> SlurmRun::away() const
{
    const std::lock_guard lock(mutex_);
    return away_;
}

std::optional<SlurmNote> SlurmRun::take_news()
{
    const std::lock_guard lock(mutex_);
    if (!std::exchange(has_news_, false)) return std::nullopt;
    return note_;
}

bool SlurmRun::was_asked_to_end() const
{
    return is_there(directory_.task() / control::cancel);
}

// A run that has begun tells the rest by its files; one that waits has nobody else to tell of it.
bool SlurmRun::is_due(const RunReport& report)
{
    const auto now = Deadline::clock::now();
    const bool is_young = now - since_ < young;
    const auto pause = report.started != 0 ? running_pause : is_young ? first_pause : waiting_pause;
    const auto last = std::max(since_, last_question_);
    // Where locks of nodes are seen here, they tell that nobody watches the run any more.
    const bool is_watched = is_locked(directory_.task());
    const bool was_watched = std::exchange(was_watched_, is_watched);
    if (report.started != 0 && was_watched && !is_watched) return true;
    if (said_something_new()) return true;
    if (is_hurried_ && now - last_question_ >= shortest_pause) {
        is_hurried_ = false;
        return true;
    }
    return now >= last + pause;
}

// As far as Slurm could tell. Without a number a claim tells that there was a job.
bool SlurmRun::is_over() const
{
    if (away_) return false;
    if (known_) return known_->is_over();
    return !note_.job.empty() || is_there(directory_.task() / control::claim);
}

// Slurm does not know the job when nothing is `known_` afterwards, unless it is `away_`.
Result<> SlurmRun::ask(std::chrono::milliseconds oldest, const std::stop_token& stop)
{
    // An answer from before the job was submitted would say that there is none.
    const auto age = std::chrono::floor<std::chrono::milliseconds>(Deadline::clock::now() - since_);
    auto jobs = table_.find(note_.where, name_, std::min(oldest, age), stop);
    last_question_ = Deadline::clock::now();
    if (!jobs && jobs.error().kind() == ErrorKind::cancelled) return tl::unexpected(jobs.error());
    away_ = jobs ? std::nullopt : std::optional(jobs.error());
    if (!jobs) return {};
    known_.reset();
    // A submission whose answer was lost may have been repeated: then one job executes the script,
    // and the other one has found the run claimed.
    if (const auto number = number_of_best(*jobs); !number.empty()) {
        has_news_ = has_news_ || number != note_.job;
        note_.job = number;
        known_ = jobs->at(number);
    } else if (!note_.job.empty()) {
        // Forgotten: the accounts may remember.
        auto kept = SlurmClient(note_.where).find_in_accounts(note_.job, name_, stop);
        if (!kept && kept.error().kind() == ErrorKind::cancelled)
            return tl::unexpected(kept.error());
        if (kept) known_ = std::move(*kept);
    }
    return {};
}

// Told to end, and not by us: Slurm knows why. It signals the script as well as the supervisor,
// which may see the script's end first.
Result<JobStatus> SlurmRun::ended(RunReport report, const std::stop_token& stop)
{
    const auto& exit = *report.exit;
    const bool by_signal = exit.cause == "script" &&
                           (exit.status() == 128 + SIGTERM || exit.status() == 128 + SIGKILL);
    if ((exit.cause != "terminated" && !by_signal) || exit.by == "daemon" || was_asked_to_end())
        return status_of(report, {});
    const auto now = Deadline::clock::now();
    if (!record_since_) record_since_ = now;
    if ((!known_ || !known_->is_over()) && now - last_question_ >= shortest_pause)
        TRY(ask(shortest_pause, stop));
    if (known_ && known_->is_over()) {
        auto cause = known_->state == "CANCELLED" ? "terminated" : cause_of(*known_);
        if (!cause.empty()) report.exit->cause = std::move(cause);
        return status_of(report, {});
    }
    if (now - *record_since_ > cause_patience) return status_of(report, {});
    report.started = exit.started;
    report.exit.reset();
    return status_of(report, {});
}

Result<JobStatus> SlurmRun::judge(RunReport report, const std::stop_token& stop)
{
    if (!over_since_ && is_due(report)) {
        TRY(ask(shortest_pause, stop));
        if (is_over()) over_since_ = Deadline::clock::now();
    }
    if (over_since_ && has_settled()) {
        // Another one may have been accepted meanwhile.
        TRY(ask(shortest_pause, stop));
        over_since_ = away_ ? std::optional(Deadline::clock::now()) : std::nullopt;
        if (is_over()) return judge_end(report, stop);
    }
    if (report.started == 0) return waiting(report);
    auto status = status_of(report, {});
    if (known_ && known_->state == "SUSPENDED")
        status.reason = fmt::format("Slurm has suspended job {}", note_.job);
    return status;
}

// A job with a number was accepted, whatever else is known.
JobStatus SlurmRun::waiting(const RunReport& report) const
{
    auto status = status_of(report, {});
    if (note_.job.empty()) return status;
    if (known_ && !known_->is_waiting()) return status;
    status.phase = JobPhase::queued;
    status.reason = known_ ? describe(note_.job, *known_)
                           : fmt::format("job {} was submitted to Slurm", note_.job);
    return status;
}

// Slurm says that nothing of it runs any more, and there was time for its record to get here.
Result<JobStatus> SlurmRun::judge_end(const RunReport& before, const std::stop_token& stop)
{
    list_again(directory_.task());
    auto report = TRY(read_report(files_, directory_));
    if (report.exit) return ended(std::move(report), stop);
    report.started = before.started;
    TRY(publish_end(report));
    if (auto late = TRY(read_report(files_, directory_)); late.exit) return status_of(late, {});
    const auto what = known_ ? describe(note_.job, *known_)
                             : fmt::format("Slurm no longer knows job {}", note_.job);
    return status_of(report,
                     Liveness::gone(fmt::format("{}, and the run's supervisor wrote no record of "
                                                "its end{}",
                                                what,
                                                last_words())));
}

// One that was removed from the queue has no record to wait for.
bool SlurmRun::has_settled() const
{
    const bool never_began = !is_there(directory_.task() / control::claim) && known_ &&
                             known_->state == "CANCELLED" && known_->nodes.empty();
    const bool succeeded = known_ && known_->state == "COMPLETED";
    return never_began || Deadline::clock::now() - *over_since_ >=
                              visibility_ * (succeeded ? patience_with_success : 1);
}

// What Slurm did to the run, where its supervisor could not write it down. Other ends are nobody's
// knowledge.
Result<> SlurmRun::publish_end(const RunReport& report)
{
    const bool began = report.started != 0;
    const bool is_claimed = is_there(directory_.task() / control::claim);
    const auto job = known_.value_or(SlurmJob());
    model::ExitRecord record;
    record.by = "daemon";
    record.cause = cause_of(job);
    // What Slurm has forgotten, and was asked to end before it began, will not begin.
    if (was_asked_to_end() && (job.state == "CANCELLED" || (!known_ && !began && !is_claimed)))
        record.cause = "cancel";
    if (record.cause.empty() && job.state == "CANCELLED") record.cause = "terminated";
    if (record.cause == "terminated" && !began)
        record.message = fmt::format("job {} was removed from Slurm's queue, and not by ponk; "
                                     "nothing was executed",
                                     note_.job);
    if (record.cause.empty() && !began && !is_claimed && job.state == "FAILED") {
        record.cause = "start-failure";
        record.message = fmt::format("{}, before the run's supervisor could begin{}",
                                     describe(note_.job, job),
                                     last_words());
    }
    if (record.cause.empty()) return {};
    if (record.cause == "start-failure") {
        record.code = 126;
    } else {
        record.signal = began ? SIGKILL : SIGTERM;
    }
    record.ended = wall_milliseconds();
    // The node's clock may be another one.
    record.started = began ? std::min(report.started, record.ended) : record.ended;
    record.duration_ms = record.ended - record.started;
    record.log_length = report.log_length;
    return files_.publish(control::exit, to_text(record));
}

// More than our supervisor's word: Slurm has something to say about the job.
bool SlurmRun::said_something_new()
{
    struct stat info {};
    const auto file = directory_.task() / job_output_file;
    if (::lstat(file.c_str(), &info) != 0 || !S_ISREG(info.st_mode)) return false;
    const auto size = static_cast<std::uint64_t>(info.st_size);
    constexpr std::string_view usual = "started\n";
    if (size == said_ || size <= usual.size()) return false;
    if (Deadline::clock::now() - last_question_ < shortest_pause) return false;
    said_ = size;
    return true;
}

// The last line of the job's own output, for a reason.
std::string SlurmRun::last_words() const
{
    const auto text = os::read_file_if_any(directory_.task() / job_output_file, 1 << 20);
    if (!text || !*text) return {};
    const auto lines = split(trim(**text), '\n');
    if (lines.empty() || lines.back().empty() || lines.back() == "started") return {};
    return fmt::format(" (its output ends with: {})", printable(lines.back()));
}

}  // namespace ponk::executor::slurm
