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
// `not_found` when absent.
Result<std::int64_t> get_project_row(db::Connection& connection, const std::string& id);

}  // namespace ponk::store
