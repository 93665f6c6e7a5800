// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "base/error.hpp"
#include "db/connection.hpp"
#include "store/tracking/tracking.hpp"

#include <string_view>

// Projects as experiments. Used inside transactions.
namespace ponk::store {

// What `read_experiment` expects.
extern const std::string_view experiment_columns;  // "project.row, …"
// Without its tags.
Experiment read_experiment(const db::Statement& row);
Result<> read_experiment_tags(db::Connection& connection, Experiment& experiment);

// `not_found` when absent; without its tags.
Result<Experiment> get_stored_experiment(db::Connection& connection, std::int64_t id);
// `invalid_argument` when it is deleted.
Result<Experiment> get_active_experiment(db::Connection& connection, std::int64_t id);

}  // namespace ponk::store
