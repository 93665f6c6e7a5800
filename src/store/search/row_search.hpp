// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "base/error.hpp"
#include "db/connection.hpp"
#include "query/search/comparison.hpp"
#include "store/rows/tracked_rows.hpp"
#include "store/search/search_order.hpp"
#include "store/search/search_sql.hpp"

#include <cstdint>
#include <string>
#include <vector>

namespace ponk::store {

// A search among the rows of one table: what passes all conditions, in order, a page at a time.
struct RowSearch {
    std::string row = {};   // "logged_model.row"
    std::string from = {};  // "logged_model", with what is always joined to it
    std::vector<Sql> where = {};
    std::vector<OrderColumn> columns = {};  // no two rows are equal in all of them
    std::string page = {};                  // `next` of the page before this one
    std::size_t limit = 100;
};

struct FoundRows {
    std::vector<std::int64_t> rows = {};
    std::string next = {};  // empty at the end
};

// `invalid_argument` for a page that is none of this order.
Result<FoundRows> find_rows(db::Connection& reader, const RowSearch& search);
// The statement that it asks, without its LIMIT; for tests of plans.
Sql row_statement(const RowSearch& search, const Marks& marks);

// Whether the owner in column `row` has a key in the table whose value compares so.
Sql has_pair(const PairTable& table,
             std::string_view row,
             const std::string& key,
             const query::search::Comparison& comparison);

}  // namespace ponk::store
