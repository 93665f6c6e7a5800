// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "base/error.hpp"
#include "db/connection.hpp"

#include <cstdint>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

// Rows of experiments and runs for those who keep something beside them. Used inside transactions;
// errors are in the words of MLflow's clients.
namespace ponk::store {

// The experiment that is always there.
inline constexpr std::int64_t default_experiment = 0;
// The tag by which clients name a run: its name itself.
inline constexpr std::string_view run_name_tag = "mlflow.runName";
// The tag by which clients see whose script made a run, a model or a trace. Of a run it is its
// column `parent`, of the others it is stored.
inline constexpr std::string_view parent_tag = "ponk.made_by";

using Pairs = std::vector<std::pair<std::string, std::string>>;

struct ExperimentRow {
    std::int64_t row = 0;
    std::string location = {};  // where its artifacts are, never empty
};

struct RunRow {
    std::int64_t row = 0;
    std::int64_t project = 0;
    std::string location = {};  // of its artifacts
};

// What clients deleted takes nothing more from them. What a run's own journal tells was answered
// when it came in, and belongs to it all the same: it may be restored.
enum class Into { active, any };

// `not_found`; `invalid_argument` when it was deleted.
Result<ExperimentRow> get_writable_experiment(db::Connection& connection, std::int64_t id);
Result<RunRow>
get_writable_run(db::Connection& connection, const std::string& id, Into into = Into::active);

// Keys and values that a table keeps for each of its owners.
struct PairTable {
    std::string_view name = {};   // "logged_model_tag"
    std::string_view owner = {};  // its column "model"
};
// Sorted by key.
Result<Pairs> read_pairs(db::Connection& connection, const PairTable& table, std::int64_t owner);
// Replaces values that are there.
Result<>
put_pairs(db::Connection& writer, const PairTable& table, std::int64_t owner, const Pairs& pairs);
// Whether there was such a key.
Result<bool> remove_pair(db::Connection& writer,
                         const PairTable& table,
                         std::int64_t owner,
                         const std::string& key);

}  // namespace ponk::store
