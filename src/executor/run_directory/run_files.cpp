// SPDX-License-Identifier: Apache-2.0
#include "executor/run_directory/run_files.hpp"

#include "executor/run_directory/journals.hpp"

#include <sys/stat.h>

namespace ponk::executor {

namespace {

std::uint64_t size_of(const Path& file)
{
    struct stat info {};
    if (::lstat(file.c_str(), &info) != 0 || !S_ISREG(info.st_mode)) return 0;
    return static_cast<std::uint64_t>(info.st_size);
}

std::uint64_t size_of_journals(const RunDirectory& directory)
{
    std::uint64_t sum = 0;
    for (const auto& journal : Journals::of(directory).list())
        sum += journal.size;
    return sum;
}

void set_lengths(const RunDirectory& directory, auto& out)
{
    out.log_length = size_of(directory.task() / control::log);
    out.journal_length = size_of_journals(directory);
}

}  // namespace

void read_lengths(const RunDirectory& directory, JobStatus& status)
{
    set_lengths(directory, status);
}

Result<RunReport> read_report(const SealedFiles& files, const RunDirectory& directory)
{
    RunReport report;
    // Before the lengths: what has ended writes no more.
    if (const auto text = TRY(files.find(control::exit))) {
        report.exit = TRY(model::parse_exit_record(*text).map_error(
            while_doing("read {}", os::in_quotes(directory.task() / control::exit))));
        report.started = report.exit->started;
    }
    set_lengths(directory, report);
    return report;
}

JobStatus status_of(const RunReport& report, const Liveness& liveness)
{
    JobStatus status{.phase = report.started != 0 ? JobPhase::running : JobPhase::starting,
                     .log_length = report.log_length,
                     .journal_length = report.journal_length,
                     .started = report.started,
                     .exit = report.exit,
                     .reason = {},
                     .gpu = {}};
    if (report.exit) {
        status.phase = JobPhase::ended;
        return status;
    }
    if (liveness.state == Liveness::State::gone) status.phase = JobPhase::lost;
    status.reason = liveness.reason;
    return status;
}

Result<std::optional<RunProcesses>> read_processes(const SealedFiles& files,
                                                   const RunDirectory& directory)
{
    const auto text = TRY(files.find(control::pid));
    if (!text) return std::nullopt;
    return TRY(parse_processes(*text).map_error(
        while_doing("read {}", os::in_quotes(directory.task() / control::pid))));
}

bool is_new(const JobStatus& now, const JobStatus& seen)
{
    return now.phase != seen.phase || now.reason != seen.reason || now.gpu != seen.gpu ||
           now.log_length != seen.log_length || now.journal_length != seen.journal_length ||
           now.phase == JobPhase::ended || now.phase == JobPhase::lost;
}

}  // namespace ponk::executor
