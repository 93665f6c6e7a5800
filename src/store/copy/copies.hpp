// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "base/error.hpp"
#include "base/fields.hpp"
#include "base/json.hpp"
#include "model/run.hpp"
#include "store/models/models.hpp"
#include "store/models/registry.hpp"
#include "store/points/points_by_key.hpp"
#include "store/records.hpp"
#include "store/rows/run_row.hpp"
#include "store/tracking/datasets.hpp"

#include <array>
#include <cstdint>
#include <optional>
#include <string>
#include <vector>

// What one history holds, on its way into another: docs/design/history-lines.md.
namespace ponk::store {

class History;

struct ExperimentCopy {
    std::int64_t id = 0;       // where it comes from; kept when it is free here
    std::string project = {};  // the project's id; empty: it comes from no history of ours
    std::string project_name = {};
    std::string path = {};
    enum class Kind { folder, client } kind = Kind::client;
    std::string name = {};      // as clients know it
    std::string location = {};  // of its artifacts; empty: in the store itself
    std::int64_t deleted = 0;   // wall-clock milliseconds; 0: it is not
    std::int64_t created = 0;
    std::int64_t updated = 0;
    Pairs tags = {};

    // Of lines of `history export`.
    static constexpr auto fields()
    {
        return std::tuple(field("id", &ExperimentCopy::id),
                          field("name", &ExperimentCopy::name),
                          field("project", &ExperimentCopy::project),
                          field("project_name", &ExperimentCopy::project_name),
                          field("path", &ExperimentCopy::path),
                          field("origin", &ExperimentCopy::kind),
                          field("location", &ExperimentCopy::location),
                          field("deleted", &ExperimentCopy::deleted),
                          field("created", &ExperimentCopy::created),
                          field("updated", &ExperimentCopy::updated),
                          field("tags", &ExperimentCopy::tags));
    }
    friend bool operator==(const ExperimentCopy&, const ExperimentCopy&) = default;
};
constexpr std::array<std::string_view, 2> names_of(ExperimentCopy::Kind /*of*/)
{
    return {"folder", "client"};
}

struct RunCopy {
    model::Run run = {};  // number 0: the next one
    Origin origin = Origin::client;
    std::int64_t deleted = 0;  // wall-clock milliseconds; 0: it is not
    RunInputs inputs = {};
    std::vector<Event> events = {};
    PointsByKey points = {};
    // tracked: it was another tracker's, which knows nothing of the rest.
    enum class Depth { whole, tracked } depth = Depth::whole;
};

struct ModelCopy {
    LoggedModel model = {};  // `experiment` is the one here
    bool deleted = false;
};

struct RegisteredCopy {
    RegisteredModel model = {};  // `latest` plays no part
    std::int64_t last_version = 0;
    std::vector<ModelVersion> versions = {};  // without aliases
};

// As members of a line; without points.
Json experiment_json(const ExperimentCopy& experiment);
Json run_copy_json(const RunCopy& run);
Json inputs_json(const RunInputs& inputs);
Json events_json(const std::vector<Event>& events);
Json model_copy_json(const ModelCopy& model);
Json registered_json(const RegisteredCopy& registered);

// The reverse; `invalid_argument` says which member is not what it should be.
Result<ExperimentCopy> parse_experiment(const Json& json);
// Of `run` with `inputs` and `events` beside it.
Result<RunCopy> parse_run_copy(const Json& run, const Json& inputs, const Json& events);
Result<ModelCopy> parse_model_copy(const Json& json);
Result<RegisteredCopy> parse_registered(const Json& json);

// Brings copies in. What is there stays as it is: an equal thing is the `same`, another one of the
// same name a `conflict` that says what differs. Each call stores all or nothing. Safe to call from
// any thread.
//
// Commits outlive this process at once, a power cut only after `finish`.
class Copies {
public:
    enum class Mode { store, look };  // look: nothing is written
    enum class Outcome { added, same };

    Copies(History& history, Mode mode) : history_(history), mode_(mode) {}

    struct Place {
        Outcome outcome = Outcome::added;
        std::int64_t id = 0;        // here; of one that is only looked at and would be new: -1
        std::string location = {};  // of its artifacts; empty: in this store
        bool deleted = false;
        std::vector<std::string> notes = {};  // what of it stays behind
    };
    // Found by the project's id, else by its name.
    Result<Place> put(const ExperimentCopy& experiment);
    Result<Outcome> put(std::int64_t experiment, const RunCopy& run);
    // Values that runs logged which are not here are left out; `metrics_left_out` counts them.
    Result<Outcome> put(const ModelCopy& model, std::size_t& metrics_left_out);
    Result<Outcome> put(const RegisteredCopy& registered);
    // All of it is on the disk.
    Result<> finish();

private:
    History& history_;
    Mode mode_;
};

}  // namespace ponk::store
