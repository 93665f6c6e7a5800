// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "base/error.hpp"
#include "base/fields.hpp"
#include "base/json.hpp"
#include "store/rows/tracked_rows.hpp"

#include <cstdint>
#include <map>
#include <optional>
#include <string>
#include <vector>

namespace ponk::store {

class History;

// What a run read. Within an experiment name and digest say which one it is.
struct Dataset {
    std::string name = {};
    std::string digest = {};
    std::string source_type = {};
    std::string source = {};
    std::optional<std::string> schema = std::nullopt;
    std::optional<std::string> profile = std::nullopt;

    // Of lines of `history export`.
    static constexpr auto fields()
    {
        return std::tuple(field("name", &Dataset::name),
                          field("digest", &Dataset::digest),
                          field("source_type", &Dataset::source_type),
                          field("source", &Dataset::source),
                          field("schema", &Dataset::schema),
                          field("profile", &Dataset::profile));
    }
    friend bool operator==(const Dataset&, const Dataset&) = default;
};

struct DatasetInput {
    Dataset dataset = {};
    Pairs tags = {};
};

struct ModelOutput {
    std::string model = {};
    std::int64_t step = 0;

    // Of lines of `history export`.
    static constexpr auto fields()
    {
        return std::tuple(field("model", &ModelOutput::model), field("step", &ModelOutput::step));
    }
    friend bool operator==(const ModelOutput&, const ModelOutput&) = default;
};

// The `inputs` and `outputs` of one run.
struct RunInputs {
    std::vector<DatasetInput> datasets = {};  // in the order in which they were logged
    std::vector<std::string> models = {};
    std::vector<ModelOutput> outputs = {};
};

struct DatasetSummary {
    std::int64_t experiment = 0;
    std::string name = {};
    std::string digest = {};
    std::optional<std::string> context = std::nullopt;
};

// The tag of an input that says what it was for: training, validation…
inline constexpr std::string_view dataset_context_tag = "mlflow.data.context";

// What runs took and gave. Safe to call from any thread; every write is durable on return, and of a
// call that fails nothing was stored.
class Datasets {
public:
    explicit Datasets(const History& history) : history_(history) {}

    // An input that the run has already stays as it is, and of two equal ones the first counts.
    // `not_found`; `invalid_argument` for a deleted run.
    Result<> log_inputs(const std::string& run,
                        const std::vector<DatasetInput>& datasets,
                        const std::vector<std::string>& models,
                        Into into = Into::active);
    // Said again, the step is the latest one.
    Result<> log_outputs(const std::string& run,
                         const std::vector<ModelOutput>& models,
                         Into into = Into::active);
    // Adds to the tag in which runs of older clients list their models.
    Result<> add_model_history(const std::string& run, const Json& model);
    // What runs of these experiments read, each once; at most 1000.
    Result<std::vector<DatasetSummary>> search(const std::vector<std::int64_t>& experiments) const;

private:
    const History& history_;
};

// Those of the runs of these rows that have any. Used inside transactions.
Result<std::map<std::int64_t, RunInputs>> read_run_inputs(db::Connection& connection,
                                                          const std::vector<std::int64_t>& rows);

// What a run that is copied here took and gave. Used inside transactions.
Result<> insert_run_inputs(db::Connection& writer, const RunRow& run, const RunInputs& inputs);

}  // namespace ponk::store
