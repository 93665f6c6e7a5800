// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "base/error.hpp"
#include "db/connection.hpp"

#include <cstdint>
#include <string>

namespace ponk::store {

// The row of the project, which is made when it is not known. Used inside transactions.
Result<std::int64_t>
ensure_project(db::Connection& writer, const std::string& id, const std::string& path);
// A row that no project had before: clients know experiments by it.
Result<std::int64_t> next_project_row(db::Connection& writer);
// `name`, or something like it that no experiment is called yet.
Result<std::string>
free_experiment_name(db::Connection& writer, const std::string& name, std::int64_t row);
// `not_found` when absent.
Result<std::int64_t> get_project_row(db::Connection& connection, const std::string& id);

}  // namespace ponk::store
