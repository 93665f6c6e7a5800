// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "base/id.hpp"
#include "cli/client/context.hpp"
#include "model/run_request.hpp"

#include <chrono>
#include <string>
#include <vector>

// What the body of a submission is made of.
namespace ponk::cli {

// A snapshot is taken before the answer; a large one takes its time.
inline constexpr std::chrono::minutes submit_limit{10};

// Sends a submission (or a rerun) and sees to it that a daemon restarted before the launch hears it
// again. With `Until::accepted` it tells what happens and returns once the snapshot is taken, so
// that the project may be changed, and the script has begun or something else that takes long (a
// build, a queue); else as soon as the run is recorded.
enum class Until { recorded, accepted };
Result<Json> submit(Context& context, const std::string& path, const Json& body, Until until);

// "K=V" words: the daemon looks for engines and programs as this shell would.
Json own_environment();

// Our environment and umask. A run inside of which we are is named there only when it waits for the
// new one, that is when we follow it.
JsonObject submitter_body(Until until);
// The same and what is asked for: the body of a submission.
JsonObject request_body(const model::RunRequest& request, Until until);

// What the options say that submit and prepare have in common.
model::RunRequest basic_request(const os::Path& project, const Invocation& words);

// The script relative to the project: as given when it is there, else seen from the current folder.
Result<std::string> script_in_project(const os::Path& project, const std::string& script);

// "PATH" and "PLACE=PATH" words with absolute paths, seen from the current folder, else from the
// project's.
Result<std::vector<std::string>> absolute_inputs(const os::Path& project,
                                                 const std::vector<std::string>& words);

// "K=V" words.
Result<model::Variables> key_values(const std::vector<std::string>& words, std::string_view option);

// "90", "90s", "30m", "12h", "7d" in seconds.
Result<std::int64_t> parse_time_span(std::string_view text);

// The bare id, for $(…); with -o the record.
Outcome print_started(Context& context, const Json& run);

}  // namespace ponk::cli
