// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "store/models/models.hpp"
#include "store/search/row_search.hpp"

namespace ponk::store {

inline constexpr PairTable model_tags{"logged_model_tag", "model"};
inline constexpr PairTable model_params{"logged_model_param", "model"};

// Used inside transactions. `not_found` when absent.
Result<std::int64_t> get_model_row(db::Connection& connection, const std::string& id);
Result<LoggedModel> read_model(db::Connection& connection, std::int64_t row);
// The search as a statement; also for tests of plans.
RowSearch model_rows(const ModelSearch& search);

}  // namespace ponk::store
