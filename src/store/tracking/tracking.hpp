// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "base/error.hpp"
#include "base/id.hpp"
#include "model/run.hpp"
#include "store/models/models.hpp"
#include "store/points/points_by_key.hpp"
#include "store/records.hpp"
#include "store/rows/artifact_location.hpp"
#include "store/rows/tracked_rows.hpp"
#include "store/tracking/datasets.hpp"

#include <cstdint>
#include <functional>
#include <optional>
#include <string>
#include <utility>
#include <vector>

namespace ponk::store {

class History;

// A project as MLflow's clients see it.
struct Experiment {
    std::int64_t id = 0;
    std::string name;      // no two have the same
    std::string location;  // where artifacts of its runs are; empty: in this store
    bool deleted = false;
    std::int64_t created = 0;  // wall-clock milliseconds
    std::int64_t updated = 0;
    // Whether clients made it, or it is the project of a folder.
    enum class Kind { folder, client } kind = Kind::client;
    Pairs tags = {};
};

struct ExperimentSearch {
    query::search::Filter filter;
    // Then the latest id first. None: the newest first, then the first id.
    std::vector<query::search::OrderKey> order_by;
    Lifecycle lifecycle = Lifecycle::active;
    std::string page;  // `next` of the page before this one
    std::size_t limit = 1000;
};

struct ExperimentPage {
    std::vector<Experiment> experiments;
    std::string next;  // empty at the end
};

// A run that a client begins.
struct NewRun {
    std::int64_t experiment = 0;
    std::string name;
    std::string user;
    std::int64_t started = 0;
    Pairs tags = {};
    std::string parent = {};  // the run whose script made it
    RunId id = {};  // of one that was made elsewhere; one that is there already stays as it is
};

// A run, ours or a client's, as clients see it.
struct TrackedRun {
    std::int64_t row = 0;
    RunId id;
    std::int64_t experiment = 0;
    std::string location;  // of the experiment
    std::string name;      // never empty
    std::string user;
    model::RunState state = model::RunState::running;
    std::int64_t started = 0;
    std::int64_t ended = 0;
    bool deleted = false;
    std::string parent = {};  // the run whose script made it; empty: none
    // Sorted by key.
    Pairs tags = {};
    Pairs params = {};
    std::vector<model::MetricPoint> metrics = {};  // the latest of each; `text` is never set
    RunInputs inputs = {};
};

// Where a run's artifacts are.
struct RunPlace {
    std::int64_t experiment = 0;
    std::string location;  // chosen by a client and not ours to open; empty: in this store
    bool deleted = false;
};

struct TrackedPage {
    std::vector<TrackedRun> runs;
    std::string next;  // empty at the end
};

struct TrackedChange {
    std::optional<model::RunState> state = std::nullopt;
    std::optional<std::int64_t> ended = std::nullopt;
    std::optional<std::string> name = std::nullopt;
};

// What a client logs at once.
struct Logged {
    PointsByKey points = {};
    std::vector<ModelMetric> model_metrics = {};  // those of the points that are a model's too
    Pairs params = {};
    Pairs tags = {};
};

std::string artifact_uri(const TrackedRun& run);

// History as MLflow's clients use it. Errors are in their words: `not_found`, `conflict` when a
// name is taken, `invalid_argument` when something is deleted. Safe to call from any thread; every
// write is durable on return, and of a call that fails nothing was written.
class Tracking {
public:
    explicit Tracking(const History& history) : history_(history) {}

    // Experiments -----------------------------------------------------------------------------

    Result<std::int64_t>
    create_experiment(const std::string& name, const std::string& location, const Pairs& tags);
    Result<Experiment> get_experiment(std::int64_t id) const;
    Result<Experiment> get_experiment_named(const std::string& name) const;
    Result<ExperimentPage> search_experiments(const ExperimentSearch& search) const;
    // `cancelled` when it is deleted.
    Result<> rename_experiment(std::int64_t id, const std::string& name);
    // With all its runs. `not_found` also when it is deleted, or not deleted, already.
    Result<> delete_experiment(std::int64_t id);
    Result<> restore_experiment(std::int64_t id);
    Result<> set_experiment_tag(std::int64_t id, const std::string& key, const std::string& value);
    Result<> delete_experiment_tag(std::int64_t id, const std::string& key);

    // Runs ------------------------------------------------------------------------------------

    // Gives it an id and, when it has none, a name; it is Running.
    Result<TrackedRun> create_run(const NewRun& run);
    Result<TrackedRun> get_run(const std::string& id) const;
    // Cheap, for those who look after its artifacts.
    Result<std::optional<RunPlace>> find_place(const RunId& id) const;
    Result<TrackedPage> search_runs(const RunSearch& search) const;
    // The state and the times of a run of ours stay as they are, whatever a client says.
    Result<TrackedRun>
    update_run(const std::string& id, const TrackedChange& change, Into into = Into::active);
    // Done already is fine.
    Result<> delete_run(const std::string& id);
    // leave: the experiment can still be restored, with all that was deleted with it.
    enum class OfDeletedExperiment { leave, restore_both };
    Result<> restore_run(const std::string& id, OfDeletedExperiment its);
    // All of it or nothing. A parameter that has another value already is an `invalid_argument`.
    Result<> log(const std::string& id, const Logged& logged, Into into = Into::active);
    // Points alone, without waiting: `done` is called on another thread and must not wait either.
    // False when too much waits to be compacted; then `log` does, and nothing is called.
    bool
    log_later(const std::string& id, const PointsByKey& points, std::function<void(Result<>)> done);
    Result<> delete_tag(const std::string& id, const std::string& key, Into into = Into::active);

private:
    const History& history_;
};

}  // namespace ponk::store
