// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "base/error.hpp"

#include <optional>
#include <string_view>

namespace ponk::model {

// The words users see are the predecessor's, in this order, plus Lost: we know that the run is
// over and cannot know how it ended.
enum class RunState {
    not_started,
    preparing,
    queued,
    starting,
    running,
    finalizing,
    completed,
    failed,
    canceled,
    lost
};

// In the order of the enumeration.
inline constexpr std::string_view run_state_words[] = {"NotStarted",
                                                       "Preparing",
                                                       "Queued",
                                                       "Starting",
                                                       "Running",
                                                       "Finalizing",
                                                       "Completed",
                                                       "Failed",
                                                       "Canceled",
                                                       "Lost"};
inline constexpr std::string_view mlflow_statuses[] = {
    "RUNNING", "SCHEDULED", "FINISHED", "FAILED", "KILLED"};

const char* to_string(RunState state);
std::optional<RunState> parse_run_state(std::string_view word);
// The word for it that MLflow's clients know: SCHEDULED until the script begins, then RUNNING,
// FINISHED, FAILED, KILLED. Lost is FAILED.
const char* mlflow_status(RunState state);
bool is_terminal(RunState state);
// The one table of the state machine.
bool may_follow(RunState from, RunState to);
Result<> check_transition(RunState from, RunState to);

}  // namespace ponk::model
