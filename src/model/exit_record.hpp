// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "base/error.hpp"

#include <cstdint>
#include <string>
#include <string_view>

namespace ponk::model {

// How a script ended and what was seen around it. Published once, by whoever saw the end.
struct ExitRecord {
    int code = 0;
    int signal = 0;
    std::string by = "stub";       // stub, daemon
    std::string cause = "script";  // script, cancel, time-limit, start-failure, terminated
    std::string message;           // for start-failure: why
    std::int64_t started = 0;      // wall-clock milliseconds
    std::int64_t ended = 0;
    std::int64_t duration_ms = 0;  // by CLOCK_BOOTTIME
    std::uint64_t log_length = 0;
    std::string log_sha256;  // empty when not computed
    std::int64_t user_ms = 0;
    std::int64_t system_ms = 0;
    std::int64_t max_rss_kib = 0;
    std::int64_t oom_kills = -1;  // kills by memory shortage in the run's group; -1: no way to know
    std::string oom_evidence;     // where that number comes from, before and after; for people
    std::int64_t survivors = 0;   // processes of the run that outlived its main one and were ended
    std::string survivor_commands;  // the command lines of some of these, for people
    std::int64_t unkillable = 0;    // of these, the ones that even SIGKILL did not end
    std::int64_t disk_full = 0;     // 1: there was no room to keep ready for the log

    // What a shell would say: 128+n for signal n.
    [[nodiscard]] int status() const { return signal != 0 ? 128 + signal : code; }
};

// The file `exit` of a run directory; docs/design/run-directory.md describes it. Unknown lines are
// skipped, a text without its last line is `damaged`.
Result<ExitRecord> parse_exit_record(std::string_view text);
std::string to_text(const ExitRecord& record);

}  // namespace ponk::model
