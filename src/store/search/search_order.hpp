// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "query/search/comparison.hpp"
#include "store/search/search_sql.hpp"
#include "store/search/search_term.hpp"

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

namespace ponk::store {

// Whatever the direction: what has a value comes before NaN, that before what has none.
enum class Rank : std::int64_t { value, nan, missing };

// One key of an order, as columns of a statement.
struct OrderColumn {
    enum class Type { integer, real, text };

    query::search::OrderKey key;
    Type type = Type::text;
    std::optional<Place> place;  // where it is kept, when it is not in the row of `run`
    std::string value;           // "run.started", "o0.value"
    std::string rank;            // empty: all runs have a value, or the order of values suffices
    Sql join = {};               // brings the value to each run
};
[[nodiscard]] inline bool goes_down(const OrderColumn& column)
{
    return column.key.direction == query::search::Direction::descending;
}

// Where a page ended: for each column the rank and, where there is one, the value.
struct Mark {
    Rank rank = Rank::value;
    std::optional<SqlValue> value = std::nullopt;
};
using Marks = std::vector<Mark>;

// Whether what has the marks `a` comes before what has `b`: as order_text() says it to SQLite.
bool comes_before(const std::vector<OrderColumn>& columns, const Marks& a, const Marks& b);

// What is in column `at` of a row of the statement's answer.
SqlValue value_at(const db::Statement& row, const OrderColumn& column, int at);
// Rank and value of each column, from the second of the answer on.
Marks marks_at(const db::Statement& row, const std::vector<OrderColumn>& columns);

// The given keys, completed so that no two runs are equal; for no keys at all the order of arrival,
// newest first. Columns are called o0, o1… where they
// come from other tables.
std::vector<OrderColumn> order_columns(const std::vector<query::search::OrderKey>& order_by,
                                       RunSearch::Words words = RunSearch::Words::history);

// "rank, value DESC, …". Where all rows have the same rank in the first column it is left out, and
// so is the value when that rank means that there is none.
std::string order_text(const std::vector<OrderColumn>& columns, std::optional<Rank> first_rank);
// Holds for what comes behind the marks, of the columns from `first` on.
Sql behind(const std::vector<OrderColumn>& columns, const Marks& marks, std::size_t first);
// The same when the rank of column `first` is known to be that of its mark.
Sql behind_in_rank(const std::vector<OrderColumn>& columns, const Marks& marks, std::size_t first);

}  // namespace ponk::store
