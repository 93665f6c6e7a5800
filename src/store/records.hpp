// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "base/error.hpp"
#include "base/id.hpp"
#include "base/json.hpp"
#include "model/run.hpp"
#include "os/file.hpp"
#include "query/search/comparison.hpp"

#include <cstdint>
#include <limits>
#include <map>
#include <optional>
#include <string>
#include <utility>
#include <vector>

// The values that go into and come out of history, besides model::Run.
namespace ponk::store {

// How opening went. `notice` is for people and empty when there is nothing to say.
struct Opening {
    enum class Outcome {
        opened,    // as it was left
        created,   // there was none
        restored,  // it was damaged; this is the newest sound backup
        emptied,   // it was damaged and there was no sound backup
    };
    Outcome outcome = Outcome::opened;
    bool clean_stop = true;  // false: the last process that had it open was killed
    std::string notice;
    os::Path set_aside;            // where the damaged file is, else empty
    bool checked_in_part = false;  // the notice: History::check_integrity looks at the rest
    std::int64_t time = 0;         // wall-clock milliseconds

    // Run directories know more than history: import_runs.
    [[nodiscard]] bool must_import() const
    {
        return outcome == Outcome::restored || outcome == Outcome::emptied;
    }
};

// When a write that is durable on return counts as done.
enum class Sync {
    full,    // it is on the disk
    normal,  // it outlives the process; a power cut may take the last moments back
};
const char* to_string(Sync sync);  // "full", "normal"
std::optional<Sync> parse_sync(std::string_view word);

struct Created {
    model::Run run;
    bool is_new = false;
};

// Whether MLflow's clients deleted a thing, which only sets it aside.
enum class Lifecycle { active, deleted, all };

struct RunFilter {
    enum class Hidden { leave_out, include };

    std::string project;  // empty: all
    std::optional<model::RunState> state;
    std::string script;
    std::string target;
    std::string gpu_verdict;
    std::optional<std::pair<std::string, std::string>> tag;
    std::string parent = {};  // those that the script of this run made
    Hidden hidden = Hidden::leave_out;
    // nullopt: those that were deleted are left out together with hidden ones.
    std::optional<Lifecycle> lifecycle = std::nullopt;
    std::optional<RunId> before;  // runs older than this one
    std::size_t limit = 50;
};

struct RunPage {
    std::vector<model::Run> runs;
    std::optional<RunId> next;  // `before` of the next page; nullopt at the end
};

// A search in MLflow's language, parsed with one of the grammars for runs.
struct RunSearch {
    RunFilter scope;  // `before` plays no part
    query::search::Filter filter;
    // Then, unless they are among these: start_time DESC, run_id ASC. None at all: the newest
    // first, in the order of their arrival.
    std::vector<query::search::OrderKey> order_by;
    std::string page;  // `next` of the page before this one; empty: from the beginning
    // Only runs of these experiments; nullopt: of all.
    std::optional<std::vector<std::int64_t>> experiments = std::nullopt;
    // For clients every run has a name, and its artifacts are where its experiment says.
    enum class Words { history, mlflow } words = Words::history;
};

struct FoundRuns {
    std::vector<model::Run> runs;
    std::string next;  // `page` of the next page; empty at the end
};

// What may change in a run after it was made; what is absent stays.
struct RunChange {
    std::optional<std::string> name;
    std::optional<int> exit_code;
    std::optional<Error> error;
    std::optional<std::string> target_type;
    std::optional<std::string> framework;
    std::optional<std::int64_t> started;
    std::optional<std::int64_t> ended;
    std::optional<std::string> snapshot;
    std::optional<std::string> outputs;
    std::optional<std::string> job;
    std::optional<bool> hidden;
    std::optional<bool> cancel_requested;
    std::map<std::string, std::int64_t> timings;  // merged by phase
    std::optional<Json> git;
    std::optional<Json> configuration;
    std::optional<Json> evidence;
    std::optional<Json> environment;
    std::optional<Json> gpu;
    std::vector<std::string> warnings;  // added to those that are there, each once
};

struct JournalBatch {
    std::string journal;     // its file name in the run directory
    std::uint64_t from = 0;  // where these points begin
    std::uint64_t to = 0;    // and end
    std::vector<model::MetricPoint> points;
    std::vector<std::pair<std::string, std::string>> tags = {};  // set by this piece of the journal
};

// A list with more values than this is told by its length in a run's record.
constexpr std::int64_t longest_list = 200;
constexpr std::int64_t longest_lists = 20'000;  // of one run together

// The least and the greatest of finite numbers; of none, the other way round.
struct NumberRange {
    double low = std::numeric_limits<double>::infinity();
    double high = -std::numeric_limits<double>::infinity();

    void take(double value);
};

struct LatestMetric {
    model::MetricPoint point;
    std::int64_t count = 0;  // points of this key
    // Of all points; nullopt: an earlier version stored them, and nobody has looked yet.
    std::optional<NumberRange> range = NumberRange();
    // All points in the order of arrival, where the latest is one of a list that is not too long.
    std::vector<model::MetricPoint> list = {};
    // Of the key among those of its run, in the order in which they were first logged.
    std::int64_t place = 0;
};

// A stretch of a run's keys in their order.
struct MetricRange {
    std::optional<std::string> after =
        std::nullopt;  // the last key that is known; none: from the first
    std::size_t limit = 1'000'000;
};

// Numbers of a key, ordered by time, step and value.
struct MetricPage {
    std::vector<model::MetricPoint> points;
    std::string next;  // `after` of the next page; empty at the end
};

// Both included.
struct StepRange {
    std::int64_t first = std::numeric_limits<std::int64_t>::min();
    std::int64_t last = std::numeric_limits<std::int64_t>::max();
};

struct Event {
    std::int64_t number = 0;
    std::int64_t time = 0;  // wall-clock milliseconds
    std::string kind;       // state, progress, notice, metric
    std::string text;
};

struct Project {
    std::string id;
    std::string name;
    std::string path;
    // By what the folder is known again when it has moved; empty: not known.
    std::string place = {};
    std::string repository = {};
};

struct ProjectSummary {
    Project project;
    std::int64_t runs = 0;
    RunId last_run;  // empty when there is none
};

// A file of a run that was given a name to keep.
struct Asset {
    std::string project;
    std::string name;
    std::int64_t version = 0;
    RunId run;
    std::string path;    // "outputs/model.json"
    std::string digest;  // of its bytes
    std::uint64_t size = 0;
    std::int64_t created = 0;  // wall-clock milliseconds
};

struct Sizes {
    std::uint64_t database = 0;
    std::uint64_t log = 0;  // the write-ahead log; much above 256 MiB a reader never ended
};

}  // namespace ponk::store
