// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "base/error.hpp"
#include "db/connection.hpp"
#include "store/records.hpp"

#include <cstdint>
#include <string_view>
#include <vector>

// Rows of the table `event`. Used inside transactions.
namespace ponk::store {

// Returns its number within the run.
Result<std::int64_t> insert_event(db::Connection& connection,
                                  std::int64_t run,
                                  std::string_view kind,
                                  std::string_view text);
Result<std::vector<Event>>
read_events(db::Connection& connection, std::int64_t run, std::int64_t after, std::size_t limit);

}  // namespace ponk::store
