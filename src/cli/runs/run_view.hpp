// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "cli/client/context.hpp"

#include <string>
#include <string_view>
#include <vector>

namespace ponk::cli {

// The last eight digits of a run id: what tables show.
std::string brief_id(const Json& run);

// "2026-03-01T12:30:05.123Z" as tables have it: "12:30:05" on the day of `now`, "Mar 01 12:30" in
// that year, else the date.
std::string brief_time(const std::string& utc, std::string_view now);
// The same in the zone of the reader where a person reads; `now` is in UTC, too.
std::string brief_shown_time(const std::string& utc, const std::string& now);
// That zone, for the title of a column: "CET", or "UTC".
std::string shown_zone(const std::string& now);

// Its state, with what a reader should know of a run that is under way: "Running (unreachable)".
std::string brief_status(const Json& run);

// "4f1e22aa (trial 1), 77abc0de (trial 2)"; empty when its script made none.
std::string child_runs_text(const Json& run);
// What is to be said after a request to cancel this run.
std::string cancel_text(const Json& run);

// Runs as table rows: short id, status, script, times, and a column for each metric (scalars that
// one of them has, those of most runs first, at most this many). Runs of several projects have a
// column for it: its folder's name, or the whole path where two folders have the same.
inline constexpr std::size_t most_metric_columns = 12;
enum class Projects { one, several };
View view_of_runs(const JsonArray& runs, Projects projects = Projects::one);
// One run as rows of name and value.
View view_of_run(const Json& run);

// Metrics for people: of a list its last value and how many there are.
Json brief_metrics(const Json& metrics);

// Lists and objects of words as one would type them in a shell: "--lr 0.1", "team=x note='a b'".
std::string words_text(const Json& value);

// Any object for a table: lists as words, what is empty as "none".
Json in_words(const Json& value);

}  // namespace ponk::cli
