// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "store/models/registry.hpp"
#include "store/search/row_search.hpp"

// Rows of the registry's tables. Used inside transactions.
namespace ponk::store {

inline constexpr PairTable registered_tags{"registered_model_tag", "model"};
inline constexpr PairTable version_tags{"model_version_tag", "version"};

// `not_found` when absent.
Result<std::int64_t> get_registered_row(db::Connection& connection, const std::string& name);
Result<std::int64_t>
get_version_row(db::Connection& connection, const std::string& name, std::int64_t version);

Result<RegisteredModel> read_registered(db::Connection& connection, std::int64_t row);
enum class Aliases { leave_out, include };
Result<ModelVersion> read_version(db::Connection& connection, std::int64_t row, Aliases aliases);
// With its tags, as the version that it says it is; its row. `model` is a row.
Result<std::int64_t>
insert_version(db::Connection& writer, std::int64_t model, const ModelVersion& version);
// The newest version of each stage, by number.
Result<std::vector<std::int64_t>> latest_rows(db::Connection& connection, std::int64_t model);

// The model was changed now.
Result<> touch_registered(db::Connection& writer, std::int64_t row, std::int64_t now);

// Searches as statements; also for tests of plans.
RowSearch registered_rows(const RegistrySearch& search);
RowSearch version_rows(const RegistrySearch& search);

}  // namespace ponk::store
