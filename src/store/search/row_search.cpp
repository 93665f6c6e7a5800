// SPDX-License-Identifier: Apache-2.0
#include "store/search/row_search.hpp"

#include "store/search/search_page.hpp"
#include "store/search/search_term.hpp"

#include <fmt/format.h>

namespace ponk::store {

using query::search::Operator;

namespace {

void add_place(const RowSearch& search, const Marks& marks, std::vector<Sql>& where)
{
    const auto& first = search.columns.front();
    // Says nothing that the next does not; it is what an index can use.
    if (first.rank.empty() && marks.front().value) {
        where.push_back(
            Sql(first.value).add(goes_down(first) ? " <= " : " >= ").value(*marks.front().value));
    }
    where.push_back(behind(search.columns, marks, 0));
}

}  // namespace

Sql row_statement(const RowSearch& search, const Marks& marks)
{
    Sql sql("SELECT " + search.row);
    for (const auto& column : search.columns)
        sql.add(fmt::format(", {}, {}", column.rank.empty() ? "0" : column.rank, column.value));
    sql.add(" FROM ").add(search.from);
    for (const auto& column : search.columns)
        sql.add(column.join);
    auto where = search.where;
    if (!marks.empty()) add_place(search, marks, where);
    return sql.add(" WHERE ")
        .add(all_of(where))
        .add(" ORDER BY ")
        .add(order_text(search.columns, std::nullopt));
}

Result<FoundRows> find_rows(db::Connection& reader, const RowSearch& search)
{
    const auto marks =
        search.page.empty() ? Marks() : TRY(parse_page_word(search.columns, search.page));
    auto statement = TRY(row_statement(search, marks)
                             .add(" LIMIT ")
                             .value(static_cast<std::int64_t>(search.limit) + 1)
                             .prepare(reader));
    FoundRows found;
    Marks last;
    while (TRY(statement.step())) {
        if (found.rows.size() == search.limit) {
            found.next = page_word(search.columns, last);
            break;
        }
        found.rows.push_back(statement.integer(0));
        last = marks_at(statement, search.columns);
    }
    return found;
}

Sql has_pair(const PairTable& table,
             std::string_view row,
             const std::string& key,
             const query::search::Comparison& comparison)
{
    const auto of_key = Sql(table.name).add(" WHERE key = ").value(key);
    if (comparison.op == Operator::equal || comparison.op == Operator::in) {
        return Sql(row)
            .add(" IN (SELECT ")
            .add(table.owner)
            .add(" FROM ")
            .add(of_key)
            .add(" AND ")
            .add(compare(Sql("value"), comparison))
            .add(")");
    }
    Sql sql(comparison.op == Operator::is_null ? "NOT EXISTS (SELECT 1 FROM "
                                               : "EXISTS (SELECT 1 FROM ");
    sql.add(of_key).add(fmt::format(" AND {}.{} = {}", table.name, table.owner, row));
    if (comparison.op != Operator::is_null && comparison.op != Operator::is_not_null)
        sql.add(" AND ").add(compare(Sql("value"), comparison));
    return sql.add(")");
}

}  // namespace ponk::store
