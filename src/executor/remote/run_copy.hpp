// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "executor/job/job.hpp"
#include "executor/remote/link/agent_connection.hpp"

#include <string>
#include <utility>
#include <vector>

namespace ponk::executor::remote {

// A growing file of a run, as both sides speak of it: its name and how much of it is here.
struct GrowingFile {
    std::string name;  // of the run directory: "log", "journal/NAME"
    std::uint64_t offset = 0;
    std::uint64_t size = 0;  // of the bytes that come along
    std::uint64_t hole = 0;  // zeros that were never written, before those bytes
};

// Log and journals of a run directory on this machine, with their lengths.
std::vector<GrowingFile> growing_files(const RunDirectory& directory);

// The host's end: adds to `seen` how much of the files that are here now the daemon has.
void add_lengths(const RunDirectory& directory,
                 const std::vector<GrowingFile>& there,
                 JobStatus& seen);

// Of a log nobody fetches more than this.
inline constexpr std::uint64_t longest_log = std::uint64_t{1} << 40;
// Of all journals of a run together.
inline constexpr std::uint64_t longest_journals = std::uint64_t{8} << 30;

// Bytes of one answer, at most.
inline constexpr std::size_t most_at_once = std::size_t{2} << 20;

// The host's end: bytes behind what the daemon has, as much as fits into one answer. A file that is
// shorter than that was cut by the script: all of it is sent again. Holes stay holes.
struct Increment {
    std::vector<GrowingFile> files;
    std::string bytes;
    bool more = false;
    std::size_t left_out = 0;  // journals that are too many or too long to be sent
};
// Of `lengths` comes no byte, only whether there are `more`.
enum class Wanted { bytes, lengths };
Result<Increment> read_increment(const RunDirectory& directory,
                                 const std::vector<GrowingFile>& there,
                                 Wanted wanted = Wanted::bytes);

// The daemon's end: makes our copy hold what came. `damaged` for names that are none of a run.
Result<> apply_increment(const RunDirectory& directory, const Increment& increment);

// A log that is to be fetched again is kept under another name until more of it is here.
Result<> set_log_aside(const RunDirectory& directory);
// Of both, the one to keep: the new one if it is what the script wrote, else the longer one.
enum class LogState { same, different };
Result<> keep_one_log(const RunDirectory& directory, LogState state);

Json to_json(const std::vector<GrowingFile>& files);
Result<std::vector<GrowingFile>> parse_growing_files(const Json& list);

// Our copy is what the script wrote, byte for byte, and survives a power cut.
Result<LogState> finish_copy(const RunDirectory& directory, const model::ExitRecord& exit);

}  // namespace ponk::executor::remote
