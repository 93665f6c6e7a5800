// SPDX-License-Identifier: Apache-2.0
#include "executor/slurm/slurm_run.hpp"

#include "base/text.hpp"
#include "executor/slurm/job_script.hpp"
#include "gpu/verdict/verdict.hpp"
#include "os/directory.hpp"

#include <algorithm>
#include <csignal>
#include <sys/stat.h>

namespace ponk::executor::slurm {

using namespace std::chrono_literals;

namespace {

// The controller serves everybody: what files tell is not asked for.
constexpr std::chrono::milliseconds first_pause = 5s;
constexpr std::chrono::milliseconds usual_pause = 30s;
constexpr std::chrono::milliseconds shortest_pause = 1s;
constexpr auto young = 1min;
// A job that was told to end is completing for a while before Slurm says why.
constexpr std::int64_t cause_patience_ms = 20'000;

// Shared file systems remember that a file was not there until its folder is listed again.
void list_again(const Path& folder)
{
    static_cast<void>(os::list_directory(folder));
}

// Nothing of ours watches the cards of a node.
std::string unjudged(const std::string& gres)
{
    return to_json(
        JsonObject{{"phase", "ended"},
                   {"requested", gres},
                   {"required", false},
                   {"devices", JsonArray()},
                   {"verdict", gpu::to_string(gpu::Verdict::unknown)},
                   {"reason", "this version does not check the use of GPUs on Slurm clusters"}});
}

}  // namespace

SlurmRun::SlurmRun(RunDirectory directory,
                   SealedFiles files,
                   SlurmNote note,
                   JobTable& table,
                   std::chrono::milliseconds visibility)
    : directory_(std::move(directory)), files_(std::move(files)), note_(std::move(note)),
      table_(table), visibility_(visibility), since_(Deadline::clock::now()),
      next_question_(since_ + first_pause)
{
}

Result<JobStatus> SlurmRun::look(const std::stop_token& stop)
{
    const std::lock_guard lock(mutex_);
    auto status = TRY(look_at_files(stop));
    if (!note_.gres.empty() && status.phase == JobPhase::ended) status.gpu = unjudged(note_.gres);
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

void SlurmRun::expect_end()
{
    const std::lock_guard lock(mutex_);
    next_question_ = std::min(next_question_, after(shortest_pause));
}

// Seldom, unless the run is new.
std::chrono::milliseconds SlurmRun::pause() const
{
    return Deadline::clock::now() - since_ < young ? first_pause : usual_pause;
}

// nullopt: Slurm does not know the job, or could not be asked (`away_`).
Result<std::optional<SlurmJob>> SlurmRun::ask(std::chrono::milliseconds oldest,
                                              const std::stop_token& stop)
{
    // An answer from before the job was submitted would say that there is none.
    const auto age = std::chrono::floor<std::chrono::milliseconds>(Deadline::clock::now() - since_);
    auto answer = table_.find(note_.where, note_.job, std::min(oldest, age), stop);
    last_question_ = Deadline::clock::now();
    next_question_ = last_question_ + pause();
    if (!answer && answer.error().kind() == ErrorKind::cancelled)
        return tl::unexpected(answer.error());
    away_ = answer ? std::nullopt : std::optional(answer.error());
    if (!answer) return std::nullopt;
    known_ = std::move(answer->job);
    // Forgotten: the accounts may remember.
    if (!known_) known_ = TRY(SlurmClient(note_.where).find_in_accounts(note_.job, stop));
    return known_;
}

// Told to end, and not by us: Slurm knows why. It signals the script as well as the supervisor,
// which may see the script's end first.
Result<JobStatus> SlurmRun::ended(RunReport report, const std::stop_token& stop)
{
    const auto& exit = *report.exit;
    const bool by_signal = exit.cause == "script" &&
                           (exit.status() == 128 + SIGTERM || exit.status() == 128 + SIGKILL);
    if ((exit.cause != "terminated" && !by_signal) || is_there(directory_.task() / control::cancel))
        return status_of(report, {});
    if ((!known_ || !known_->is_over()) &&
        Deadline::clock::now() - last_question_ >= shortest_pause)
        TRY(ask(shortest_pause, stop));
    if (known_ && known_->is_over()) {
        auto cause = known_->state == "CANCELLED" ? "terminated" : cause_of(*known_);
        if (!cause.empty()) report.exit->cause = std::move(cause);
        return status_of(report, {});
    }
    if (wall_milliseconds() - exit.ended > cause_patience_ms) return status_of(report, {});
    report.started = exit.started;
    report.exit.reset();
    return status_of(report, {});
}

Result<JobStatus> SlurmRun::judge(RunReport report, const std::stop_token& stop)
{
    const auto now = Deadline::clock::now();
    const bool has_news = said_something_new();
    if (!over_since_ && (now >= next_question_ || has_news)) {
        const auto job = TRY(ask(has_news ? shortest_pause : pause(), stop));
        if (!away_ && (!job || job->is_over())) over_since_ = now;
    }
    if (over_since_ && has_settled()) {
        if (TRY(is_another_job(stop))) return status_of(report, {});
        // It may have come while we asked.
        list_again(directory_.task());
        if (auto late = TRY(read_report(files_, directory_)); late.exit)
            return ended(std::move(late), stop);
        if (known_ && known_->is_over()) {
            TRY(publish_end(*known_, report));
            if (auto late = TRY(read_report(files_, directory_)); late.exit)
                return status_of(late, {});
        }
        const auto what = known_ ? describe(note_.job, *known_)
                                 : fmt::format("Slurm no longer knows job {}", note_.job);
        return status_of(report,
                         Liveness::gone(fmt::format("{}, and the run's supervisor wrote no record "
                                                    "of its end{}",
                                                    what,
                                                    last_words())));
    }
    auto status = status_of(report, {});
    if (!known_ || report.started != 0) {
        if (known_ && known_->state == "SUSPENDED")
            status.reason = fmt::format("Slurm has suspended job {}", note_.job);
        return status;
    }
    if (known_->is_waiting()) {
        status.phase = JobPhase::queued;
        status.reason = describe(note_.job, *known_);
    }
    return status;
}

// A submission whose answer was lost may have been repeated: then one job executes the script, and
// the other one has found the run claimed.
Result<bool> SlurmRun::is_another_job(const std::stop_token& stop)
{
    const auto run = RunId::parse(directory_.name());
    if (!run) return false;
    auto jobs = SlurmClient(note_.where).find_by_name(job_name(*run), stop);
    if (!jobs && jobs.error().kind() == ErrorKind::cancelled) return tl::unexpected(jobs.error());
    if (!jobs) {
        away_ = jobs.error();
        over_since_ = Deadline::clock::now();  // asked again after the same patience
        return true;
    }
    const auto number = number_of_living(*jobs);
    if (number.empty() || number == note_.job || jobs->at(number).is_over()) return false;
    note_.job = number;
    known_ = jobs->at(number);
    over_since_.reset();
    return true;
}

// A record that is on its way from the node must have had its time to get here. One that a cancel
// kept from starting has none.
bool SlurmRun::has_settled()
{
    const bool never_began = !is_there(directory_.task() / control::claim) && known_ &&
                             known_->state == "CANCELLED" && known_->nodes.empty();
    return never_began || Deadline::clock::now() - *over_since_ >= visibility_;
}

// What Slurm did to the run, where its supervisor could not write it down. Other ends are nobody's
// knowledge.
Result<> SlurmRun::publish_end(const SlurmJob& job, const RunReport& report)
{
    model::ExitRecord record;
    record.by = "daemon";
    record.cause = cause_of(job);
    const bool was_asked = is_there(directory_.task() / control::cancel);
    if (record.cause.empty() && job.state == "CANCELLED")
        record.cause = was_asked ? "cancel" : "terminated";
    if (record.cause.empty()) return {};
    record.signal = report.started != 0 ? SIGKILL : SIGTERM;
    record.ended = wall_milliseconds();
    record.started = report.started != 0 ? report.started : record.ended;
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
