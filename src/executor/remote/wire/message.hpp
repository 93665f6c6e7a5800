// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "base/json.hpp"
#include "executor/job/job.hpp"

#include <string>
#include <vector>

// The heads of messages as values: docs/design/agent-protocol.md has the table. What comes from the
// other side is checked here and nowhere else.
namespace ponk::executor::remote {

inline constexpr int protocol_version = 2;

// What the other side said first.
struct Hello {
    std::string program;  // SHA-256 of its file
    std::string boot;     // boot id of its machine
    std::string home;     // its folder
    std::string architecture;
    std::string identity;  // of that folder: another one in its place has another
};

Json hello_of_daemon();
Json to_json(const Hello& hello);
// `conflict` when the other side speaks another version.
Result<Hello> parse_hello(const Json& head);

Json error_to_json(const Error& error);
Error parse_error(const Json& head);

// Text of the other side that people will see: no control characters, no lines that could pass for
// ours, an end.
std::string shown_text(std::string_view text);
// The same for all texts of an answer but the files in it ("lock").
Json shown_texts(const Json& answer);

// The members `spec` and `context` of a call: all of a job but what belongs to the machine that
// sends it.
void put_job(JsonObject& head, const Job& job);
Result<Job> parse_job(const Json& head);

Json to_json(const JobStatus& status);
Result<JobStatus> parse_job_status(const Json& head);

Json to_json(const Notices& notices);
Notices parse_notices(const Json& list);

// The answer to `stage`.
JsonObject to_json(const Staged& staged);
Result<Staged> parse_staged(const Json& head);

// The answer to `finish`.
JsonObject to_json(const Rest& rest);
Result<Rest> parse_rest(const Json& head);

// Digests as they lie in a payload: 32 bytes each.
std::string pack_digests(const std::vector<Digest>& digests);
Result<std::vector<Digest>> unpack_digests(std::string_view payload);

// The file `host` of a run directory: where the run is.
Json to_json(const HostAddress& host);
Result<HostAddress> parse_host(const Json& value);

}  // namespace ponk::executor::remote
