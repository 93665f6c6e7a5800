// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "db/connection.hpp"
#include "store/records.hpp"

#include <string>
#include <vector>

namespace ponk::store {

enum class Order { newest_first, oldest_first };

// What a run that is not left out fulfils: texts without parameters.
std::vector<std::string> visibility(const RunFilter& filter);
// The text of the query, with a parameter for each condition that the filter has.
std::string filtered_sql(const RunFilter& filter, Order order);
// The runs that pass the filter, as rows for read_run. `not_found` when `before` is not there.
Result<db::Statement> select_filtered(db::Connection& connection,
                                      const RunFilter& filter,
                                      Order order,
                                      std::size_t limit);

}  // namespace ponk::store
