// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "base/error.hpp"

#include <span>
#include <string_view>
#include <type_traits>

namespace ponk::cli {

// ponk's own exit codes. A script owns all 256, so the sure sign of a failure of ponk itself is the
// last line "ponk: error: …"; docs/design/exit-codes.md says the same in prose.
namespace exit_code {
inline constexpr int success = 0;
inline constexpr int usage = 64;        // the command line itself is wrong
inline constexpr int invalid = 65;      // a file, a configuration or a value is wrong
inline constexpr int not_found = 66;    // no such run, project, target, file
inline constexpr int not_built = 68;    // documented, but not in this version
inline constexpr int unavailable = 69;  // the daemon or a target cannot be reached
inline constexpr int internal = 70;     // a fault of ponk
inline constexpr int run_failed = 72;   // no exit code, time limit, or a failure after the script
inline constexpr int conflict = 73;     // it exists already, or its state forbids that
inline constexpr int damaged = 74;      // stored data is damaged, or a file cannot be written
inline constexpr int timeout = 75;      // no answer in time
inline constexpr int lost = 76;         // the run is over and nobody can know how it ended
inline constexpr int cancelled = 77;    // the run was canceled
inline constexpr int detached = 79;     // Ctrl-C: the run goes on without us; no failure
}  // namespace exit_code

struct ExitCodeRow {
    int code;
    std::string_view word;
    std::string_view meaning;
};
// The table that help and man pages print.
std::span<const ExitCodeRow> exit_code_table();

int exit_code_of(ErrorKind kind);

// Why a command did not do its work, and the code to leave with.
struct Failure {
    Error error;
    int code;

    Failure(Error cause) : error(std::move(cause)), code(exit_code_of(error.kind())) {}
    Failure(Error cause, int exit) : error(std::move(cause)), code(exit) {}
};

// What a command returns: the exit code it ends with, or its failure.
using Outcome = tl::expected<int, Failure>;

template <class... Args>
[[nodiscard]] tl::unexpected<Failure>
fail_with(int code, ErrorKind kind, fmt::format_string<Args...> format, Args&&... args)
{
    return tl::unexpected<Failure>(
        Failure(Error(kind, fmt::format(format, std::forward<Args>(args)...)), code));
}

template <class... Args>
[[nodiscard]] tl::unexpected<Failure> fail_usage(fmt::format_string<Args...> format, Args&&... args)
{
    return fail_with(
        exit_code::usage, ErrorKind::invalid_argument, format, std::forward<Args>(args)...);
}

// What was wrong is a word of the command line.
template <class T>
tl::expected<T, Failure> as_usage(Result<T> result)
{
    return std::move(result).map_error(
        [](const Error& error) { return Failure(error, exit_code::usage); });
}

}  // namespace ponk::cli

// Lets TRY work on an Outcome and its kin as well.
namespace ponk::detail {
template <class T>
T take(tl::expected<T, cli::Failure>&& outcome)
{
    if constexpr (!std::is_void_v<T>) return std::move(*outcome);
}
}  // namespace ponk::detail
