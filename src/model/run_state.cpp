// SPDX-License-Identifier: Apache-2.0
#include "model/run_state.hpp"

#include <array>

namespace ponk::model {

namespace {

using enum RunState;

constexpr std::size_t count = std::size(run_state_words);

constexpr std::array<const char*, count> mlflow_words{"SCHEDULED",
                                                      "SCHEDULED",
                                                      "SCHEDULED",
                                                      "SCHEDULED",
                                                      "RUNNING",
                                                      "RUNNING",
                                                      "FINISHED",
                                                      "FAILED",
                                                      "KILLED",
                                                      "FAILED"};

// Row: from. Column: to, in the order of the enumeration. A state is never left for itself, and a
// terminal state never at all: an end that was published once stays.
constexpr std::array<std::array<bool, count>, count> table{{
    // NotS   Prep   Queu   Star   Runn   Fina   Comp   Fail   Canc   Lost
    {false, true, true, true, false, false, false, true, true, false},    // NotStarted
    {false, false, true, true, false, false, false, true, true, false},   // Preparing
    {false, false, false, true, false, false, false, true, true, false},  // Queued
    {false, false, true, false, true, true, false, true, true, true},     // Starting
    {false, false, false, false, false, true, false, true, true, true},   // Running
    {false, false, false, false, false, false, true, true, true, true},   // Finalizing
    {},                                                                   // Completed
    {},                                                                   // Failed
    {},                                                                   // Canceled
    {},                                                                   // Lost
}};

}  // namespace

const char* to_string(RunState state)
{
    return run_state_words[static_cast<std::size_t>(state)].data();  // a literal: it has its end
}

const char* mlflow_status(RunState state)
{
    return mlflow_words.at(static_cast<std::size_t>(state));
}

std::optional<RunState> parse_run_state(std::string_view word)
{
    for (std::size_t i = 0; i < count; ++i) {
        if (word == run_state_words[i]) return static_cast<RunState>(i);
    }
    return std::nullopt;
}

bool is_terminal(RunState state)
{
    return state >= completed;
}

bool may_follow(RunState from, RunState to)
{
    return table.at(static_cast<std::size_t>(from)).at(static_cast<std::size_t>(to));
}

Result<> check_transition(RunState from, RunState to)
{
    if (may_follow(from, to)) return {};
    return fail(
        ErrorKind::conflict, "a run cannot go from {} to {}", to_string(from), to_string(to));
}

}  // namespace ponk::model
