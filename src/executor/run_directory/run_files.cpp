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

std::uint64_t size_of_journals(const Path& directory)
{
    std::uint64_t sum = 0;
    for (const auto& journal : Journals::of(directory).list())
        sum += journal.size;
    return sum;
}

}  // namespace

void read_lengths(const Path& directory, JobStatus& status)
{
    status.log_length = size_of(directory / control::log);
    status.journal_length = size_of_journals(directory);
}

Result<bool> read_exit(const SealedFiles& files, const Path& directory, JobStatus& status)
{
    const auto text = TRY(files.find(control::exit));
    if (!text) return false;
    status.exit = TRY(model::parse_exit_record(*text).map_error(
        while_doing("read {}", os::in_quotes(directory / control::exit))));
    status.phase = JobPhase::ended;
    status.started = status.exit->started;
    read_lengths(directory, status);  // what was written between an earlier look and the end
    return true;
}

Result<std::optional<RunProcesses>> read_processes(const SealedFiles& files, const Path& directory)
{
    const auto text = TRY(files.find(control::pid));
    if (!text) return std::nullopt;
    return TRY(parse_processes(*text).map_error(
        while_doing("read {}", os::in_quotes(directory / control::pid))));
}

bool is_new(const JobStatus& now, const JobStatus& seen)
{
    return now.phase != seen.phase || now.reason != seen.reason || now.gpu != seen.gpu ||
           now.log_length != seen.log_length || now.journal_length != seen.journal_length ||
           now.phase == JobPhase::ended || now.phase == JobPhase::lost;
}

}  // namespace ponk::executor
