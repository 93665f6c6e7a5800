// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "base/error.hpp"
#include "base/json.hpp"

#include <cstdint>
#include <string>
#include <string_view>

// The audit log of the server, docs/design/audit.md.
namespace ponk::audit {

// What one line says, before it has its place in the chain.
struct Record {
    std::int64_t time = 0;   // wall-clock milliseconds
    std::string kind;        // "request", "summary", "refused", or an event of the log itself
    std::string who;         // "uid:1000", "token:ann", "run:ID", "nobody"
    std::string role;        // of the token; empty: none
    std::string listener;    // "unix", "loopback", "network", "run"
    std::string peer;        // address; empty on the Unix socket
    std::string method;      // "POST"
    std::string route;       // "/api/v1/runs/{run}/cancel"
    JsonObject object;       // names and ids of what it is about
    int status = 0;          // of the answer; 0: none
    std::string outcome;     // "done", "failed", "refused"
    std::int64_t count = 0;  // how many calls this line counts; 0: one
    std::string text;        // events of the log itself: what happened
};

// The last record, and the place of the next one.
struct Head {
    std::int64_t number = 0;                  // 0: there is none yet
    std::string hash = std::string(64, '0');  // of that record
};

// A text that takes at most 200 bytes as it is written, its escapes included.
std::string bounded(std::string_view text);

// One line with its line feed: the members, then the SHA-256 of everything before the last one.
// `head` becomes that of the new record.
std::string line_of(const Record& record, Head& head);

// A line without its line feed, checked by itself: its members, and whether its hash is its own.
struct Line {
    Json members;
    std::int64_t number = 0;
    std::string previous;
    std::string hash;
};
Result<Line> parse_line(std::string_view line);

// When and of whom a line is, read without a check of the rest; 0 and nothing when it has neither.
struct Skimmed {
    std::int64_t time = 0;
    std::string_view who;
};
Skimmed skim_line(std::string_view line);

// The file `audit.head`.
std::string head_text(const Head& head);
Result<Head> parse_head(std::string_view text);

}  // namespace ponk::audit
