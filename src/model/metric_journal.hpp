// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "model/logged_limits.hpp"
#include "model/run.hpp"

#include <cstdint>
#include <functional>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

namespace ponk::model {

// A file that the script handed over by name: it lies below `outputs/`.
struct LoggedArtifact {
    std::string path;  // relative to `outputs/`
    std::string kind;  // "file" or "image"
    std::int64_t step = 0;
    std::int64_t time = 0;
};

// The name of a metric, a parameter or a tag as it is kept: at most so many characters, and blanks
// for control characters. What every client can ask for, and every table can show. Not for names
// that secrets were not hidden in yet: a part of one is not known again.
constexpr std::size_t longest_logged_name = limits::key;
std::string logged_name(std::string text);

// What a piece of a metric journal says. docs/design/metric-journal.md describes the format.
struct JournalPiece {
    std::vector<MetricPoint> points;
    std::vector<std::pair<std::string, std::string>> params;
    std::vector<std::pair<std::string, std::string>> tags;
    std::vector<std::string> untags;  // tags that are gone; none of them is among `tags`
    std::vector<LoggedArtifact> artifacts;
    // In their order: records about runs and models that the script made, and about what the run
    // took and gave. docs/design/relay.md has them.
    std::vector<Json> tracked;
    std::vector<Json> asks;  // calls that only the daemon can answer, and those taken back
    // Where to read on: everything before it was understood or given up. A record whose end is not
    // there yet lies behind it.
    std::uint64_t next = 0;
    std::uint64_t damaged = 0;  // bytes given up
};

// Largest record; a longer stretch without an end is damage.
constexpr std::size_t journal_record_limit = std::size_t{1} << 20;

// Points, tags and other records after which a piece ends, at the end of their record.
constexpr std::size_t journal_piece_points = 20'000;

// Reads the bytes of a journal that begin at `offset`. Never fails: damage is skipped and counted.
// Bytes can be cut anywhere, also inside a record; the caller comes back with those from `next` on,
// until `next` stays where it is.
JournalPiece read_journal(std::string_view bytes,
                          std::uint64_t offset,
                          std::size_t most_points = journal_piece_points);

// The payloads of whole, undamaged records, one after the other; `visit` returns false to refuse
// one, which counts as damage. Ends early when `is_enough` says so after a record.
struct JournalScan {
    std::uint64_t next = 0;
    std::uint64_t damaged = 0;
};
JournalScan scan_journal(std::string_view bytes,
                         std::uint64_t offset,
                         const std::function<bool(std::string_view payload)>& visit,
                         const std::function<bool()>& is_enough = {});

// A number of a record, or one of the words for what JSON cannot say.
std::optional<double> journal_number(const Json& value);

// One record with its frame, as the writers make it.
std::string journal_record(const Json& payload);

}  // namespace ponk::model
