// SPDX-License-Identifier: Apache-2.0
#include "cli/syntax/exit_code.hpp"

namespace ponk::cli {
namespace {

constexpr ExitCodeRow rows[] = {
    {exit_code::success, "success", "success; for a followed run: the script ended with 0"},
    {exit_code::usage, "usage", "the command line is wrong: unknown command, option or value"},
    {exit_code::invalid, "invalid", "a configuration, file, expression or value is wrong"},
    {exit_code::not_found, "not-found", "no such run, project, target, configuration or file"},
    {exit_code::not_built, "not-built", "documented, but this version does not support it yet"},
    {exit_code::unavailable, "unavailable", "the daemon or something it needs cannot be reached"},
    {exit_code::internal, "internal", "an error in ponk itself"},
    {exit_code::run_failed,
     "run-failed",
     "the run failed: no exit code, time limit, or an error after the script"},
    {exit_code::conflict, "conflict", "it already exists, or its state does not allow this"},
    {exit_code::damaged, "damaged", "stored data is damaged, or output could not be written"},
    {exit_code::timeout, "timeout", "no answer within the time allowed"},
    {exit_code::lost, "lost", "the run has ended, and its result cannot be known"},
    {exit_code::cancelled, "canceled", "the run was canceled, or a question was answered with no"},
    {exit_code::detached,
     "detached",
     "Ctrl-C: the run continues; the last line is 'ponk: detached: …'"},
};

}  // namespace

std::span<const ExitCodeRow> exit_code_table()
{
    return rows;
}

int exit_code_of(ErrorKind kind)
{
    switch (kind) {
    case ErrorKind::invalid_argument:
        return exit_code::invalid;
    case ErrorKind::not_found:
        return exit_code::not_found;
    case ErrorKind::conflict:
        return exit_code::conflict;
    case ErrorKind::unavailable:
    case ErrorKind::unreachable:
        return exit_code::unavailable;
    case ErrorKind::timeout:
        return exit_code::timeout;
    case ErrorKind::cancelled:
        return exit_code::cancelled;
    case ErrorKind::damaged:
        return exit_code::damaged;
    case ErrorKind::internal:
        return exit_code::internal;
    }
    return exit_code::internal;
}

}  // namespace ponk::cli
