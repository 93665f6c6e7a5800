// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "base/error.hpp"
#include "query/search/comparison.hpp"
#include "store/rows/tracked_rows.hpp"
#include "store/tracking/assessments.hpp"

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

namespace ponk::store {

class History;

// What is known of a trace besides its spans, which are a file among artifacts.
struct TraceInfo {
    std::string id = {};
    std::int64_t experiment = 0;
    std::int64_t time = 0;                                // when it began, wall-clock milliseconds
    std::optional<std::int64_t> duration = std::nullopt;  // milliseconds; not known before its end
    std::string state = {};  // OK, ERROR, IN_PROGRESS, STATE_UNSPECIFIED
    std::optional<std::string> client_id = std::nullopt;
    std::optional<std::string> request = std::nullopt;  // the beginnings of what went in and out
    std::optional<std::string> response = std::nullopt;
    Pairs metadata = {};  // written with the trace
    Pairs tags = {};      // may change later
    std::vector<Assessment> assessments = {};
};

struct TraceSearch {
    std::vector<std::int64_t> experiments = {};
    query::search::Filter filter = {};
    std::vector<query::search::OrderKey> order_by = {};  // then the newest first
    std::string page = {};                               // `next` of the page before this one
    std::size_t limit = 100;
};

struct TracePage {
    std::vector<TraceInfo> traces = {};
    std::string next = {};  // empty at the end
};

// How many traces pass filters.
struct TraceCounts {
    std::int64_t all = 0;
    std::int64_t first = 0;
    std::int64_t second = 0;
    std::int64_t both = 0;
};

// Traces by their ids, or the oldest that began at `until` or before, at most `most`.
struct TraceSelection {
    std::vector<std::string> ids = {};
    std::optional<std::int64_t> until = std::nullopt;
    std::optional<std::int64_t> most = std::nullopt;
};

inline constexpr std::string_view artifact_location_tag = "mlflow.artifactLocation";

// Tags of one trace; more are `invalid_argument`.
inline constexpr std::int64_t most_trace_tags = 1000;
inline constexpr std::int64_t most_trace_tag_bytes = std::int64_t{1} << 20;

// Versions of prompts of one trace; more are `invalid_argument`.
inline constexpr std::int64_t most_trace_prompts = 1000;

// Milliseconds: the years 0 to 9999, and as long. So sums of times and durations are numbers, too.
inline constexpr std::int64_t earliest_trace_time = -62'167'219'200'000;
inline constexpr std::int64_t latest_trace_time = 253'402'300'799'999;
inline constexpr std::int64_t longest_trace = 315'576'000'000'000;
// `invalid_argument` for times outside.
Result<> check_trace_time(std::int64_t ms);

// Traces that clients log. Safe to call from any thread; every write is durable on return, and of a
// call that fails nothing was stored. Errors are in MLflow's words.
class Traces {
public:
    explicit Traces(const History& history) : history_(history) {}

    // Stores it, with a tag that says where its files belong. Sent again it replaces what it says;
    // other tags, metadata and assessments stay.
    Result<TraceInfo> put(const TraceInfo& trace);
    Result<TraceInfo> get(const std::string& id) const;
    // Those that are there. `invalid_argument` when they are too large for one answer.
    Result<std::vector<TraceInfo>> find(const std::vector<std::string>& ids) const;
    // A page ends early when its texts are large.
    Result<TracePage> search(const TraceSearch& search) const;
    // Of those that `among` finds, whatever its order and page.
    Result<TraceCounts> count_both(const TraceSearch& among,
                                   const query::search::Filter& first,
                                   const query::search::Filter& second) const;
    Result<> set_tag(const std::string& id, const std::string& key, const std::string& value);
    // `not_found` when there is no such tag.
    Result<> remove_tag(const std::string& id, const std::string& key);
    // A search by the run's id finds them, too. Those that are not there are passed over.
    Result<> link_to_run(const std::vector<std::string>& ids, const std::string& run);
    // Versions of prompts that it used, as "name/version": a search by `prompt` finds it.
    Result<> link_prompts(const std::string& id, const std::vector<std::string>& prompts);
    // Returns how many there were.
    Result<std::int64_t> remove(std::int64_t experiment, const TraceSelection& selection);

private:
    const History& history_;
};

}  // namespace ponk::store
