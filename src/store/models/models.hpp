// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "base/error.hpp"
#include "base/fields.hpp"
#include "query/search/comparison.hpp"
#include "store/rows/tracked_rows.hpp"

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

namespace ponk::store {

class History;

// A metric that was logged for a model. Which run it is of is not told where a run logs it.
struct ModelMetric {
    std::string model = {};
    std::string key = {};
    double value = 0;
    std::int64_t time = 0;
    std::int64_t step = 0;
    std::optional<std::string> dataset_name = std::nullopt;
    std::optional<std::string> dataset_digest = std::nullopt;
    std::string run = {};

    // Of lines of `history export`.
    static constexpr auto fields()
    {
        return std::tuple(field("key", &ModelMetric::key),
                          field("value", &ModelMetric::value),
                          field("time", &ModelMetric::time),
                          field("step", &ModelMetric::step),
                          field("dataset_name", &ModelMetric::dataset_name),
                          field("dataset_digest", &ModelMetric::dataset_digest),
                          field("run_id", &ModelMetric::run));
    }
    friend bool operator==(const ModelMetric&, const ModelMetric&) = default;
};

// A model as a run made it, before anybody gave it a name in the registry.
struct LoggedModel {
    std::string id = {};
    std::int64_t experiment = 0;
    std::string name = {};
    std::string type = {};
    std::string status = {};
    std::string source_run = {};
    std::string location = {};  // of its files
    std::int64_t created = 0;   // wall-clock milliseconds
    std::int64_t updated = 0;
    Pairs tags = {};
    Pairs params = {};
    std::vector<ModelMetric> metrics = {};

    // Of lines of `history export`.
    static constexpr auto fields()
    {
        return std::tuple(field("model_id", &LoggedModel::id),
                          field("name", &LoggedModel::name),
                          field("type", &LoggedModel::type),
                          field("status", &LoggedModel::status),
                          field("source_run", &LoggedModel::source_run),
                          field("location", &LoggedModel::location),
                          field("created", &LoggedModel::created),
                          field("updated", &LoggedModel::updated),
                          field("params", &LoggedModel::params),
                          field("tags", &LoggedModel::tags),
                          field("metrics", &LoggedModel::metrics));
    }
    friend bool operator==(const LoggedModel&, const LoggedModel&) = default;
};

struct NewModel {
    std::int64_t experiment = 0;
    std::string name = {};
    std::string type = {};
    std::string source_run = {};
    Pairs params = {};
    Pairs tags = {};
    // Of one that was made elsewhere; one that is there already stays as it is.
    std::string id = {};
    std::int64_t created = 0;  // 0: now
};

// A dataset by name and, when there is one, digest.
struct DatasetName {
    std::string name = {};
    std::optional<std::string> digest = std::nullopt;
};

struct ModelOrder {
    query::search::OrderKey key = {};
    // Only values that were measured on it.
    std::optional<std::string> dataset_name = std::nullopt;
    std::optional<std::string> dataset_digest = std::nullopt;
};

struct ModelSearch {
    std::vector<std::int64_t> experiments = {};
    query::search::Filter filter = {};       // metrics: any value that was logged
    std::vector<DatasetName> datasets = {};  // metrics count only on one of these; none: on all
    std::vector<ModelOrder> order_by = {};   // then the newest first
    std::string page = {};                   // `next` of the page before this one
    std::size_t limit = 100;
};

struct ModelPage {
    std::vector<LoggedModel> models = {};
    std::string next = {};  // empty at the end
};

inline constexpr std::string_view model_pending = "LOGGED_MODEL_PENDING";

// Models that clients log. Safe to call from any thread; every write is durable on return, and of a
// call that fails nothing was stored. Errors are in MLflow's words.
class Models {
public:
    enum class Deleted { leave_out, include };

    explicit Models(const History& history) : history_(history) {}

    // Gives it an id, unless it has one, and a place for its files; it is pending.
    Result<LoggedModel> create(const NewModel& model);
    Result<LoggedModel> get(const std::string& id, Deleted deleted = Deleted::leave_out) const;
    Result<LoggedModel> set_status(const std::string& id, std::string_view status);
    Result<> set_tags(const std::string& id, const Pairs& tags);
    // `not_found` when there is no such tag.
    Result<> remove_tag(const std::string& id, const std::string& key);
    // `invalid_argument` when one of them has another value already.
    Result<> log_params(const std::string& id, const Pairs& params);
    // Sets it aside: it is found no more, and read only by who asks for deleted ones.
    Result<> remove(const std::string& id);
    Result<ModelPage> search(const ModelSearch& search) const;

    Result<> log_metrics(const std::string& run,
                         const std::vector<ModelMetric>& metrics,
                         Into into = Into::active);

private:
    const History& history_;
};

// What a run logs for models, inside the transaction that stores its own points. `not_found` when
// there is no such model.
Result<> store_model_metrics(db::Connection& writer,
                             std::int64_t run,
                             const std::vector<ModelMetric>& metrics);

}  // namespace ponk::store
