// SPDX-License-Identifier: Apache-2.0
#include "db/step_limit.hpp"
#include "store/history/history.hpp"
#include "store/history/history_impl.hpp"
#include "store/rows/run_row.hpp"
#include "store/search/run_search.hpp"
#include "store/search/search_page.hpp"
#include "store/search/tailed_runs.hpp"

#include <algorithm>
#include <cmath>
#include <limits>

namespace ponk::store {

namespace {

constexpr std::size_t largest_page = 50'000;
constexpr double always_fetched = 500;

struct Found {
    std::int64_t row = 0;
    Marks marks;
};

Result<std::int64_t> count(db::Connection& reader, const Sql& rows, std::int64_t at_most)
{
    auto statement = TRY(Sql("SELECT count(*) FROM (")
                             .add(rows)
                             .add(" LIMIT ")
                             .value(at_most)
                             .add(")")
                             .prepare(reader));
    return TRY(statement.step()) ? statement.integer(0) : 0;
}

// With fewer runs than this it is cheaper to fetch and sort all of them than to walk: to fetch
// costs as many steps as there are, to walk costs the page's size divided by their share of all
// runs.
Result<std::int64_t> fewest_to_walk(db::Connection& reader, std::size_t limit)
{
    const auto all = static_cast<double>(TRY(reader.query_integer("SELECT max(row) FROM run")));
    return std::llround(std::max(always_fetched, std::sqrt(all * static_cast<double>(limit + 1))));
}

// The term that holds for the fewest runs, unless that are `least` or more.
Result<std::optional<std::size_t>>
choose_driver(db::Connection& reader, const RunSearchPlan& plan, std::int64_t least)
{
    std::optional<std::size_t> driver;
    for (std::size_t i = 0; i < plan.terms().size(); ++i) {
        const auto& term = plan.terms()[i];
        if (!term.rows) continue;
        const auto found = TRY(count(reader, term.counted, least));
        if (found >= least) continue;
        least = found;
        driver = i;
    }
    return driver;
}

// A value that begins on the page and that `many` runs or more have, whatever else is asked of
// them.
Result<std::optional<Tie>>
find_tie(db::Connection& reader, const RunSearchPlan& plan, std::size_t limit, std::int64_t many)
{
    const auto values = plan.first_values();
    if (!values) return std::nullopt;
    auto statement = TRY(
        Sql(*values).add(" LIMIT ").value(many + static_cast<std::int64_t>(limit)).prepare(reader));
    std::optional<Tie> tie;
    for (std::int64_t same = 0; TRY(statement.step());) {
        const auto value = value_at(statement, plan.columns().front(), 0);
        if (!tie || tie->value != value) {
            tie = Tie{value, tie ? Tie::Before::some : Tie::Before::none};
            same = 0;
        }
        if (++same >= many) return tie;
    }
    return std::nullopt;
}

// Appends what the statement finds, until there are `limit`.
Result<> collect(db::Connection& reader,
                 const RunSearchPlan& plan,
                 Sql sql,
                 std::size_t limit,
                 std::vector<Found>& all)
{
    auto statement = TRY(
        sql.add(" LIMIT ").value(static_cast<std::int64_t>(limit - all.size())).prepare(reader));
    while (TRY(statement.step())) {
        all.push_back({statement.integer(0), marks_at(statement, plan.columns())});
    }
    return {};
}

Result<std::vector<Found>> collect_all(db::Connection& reader,
                                       const RunSearchPlan& plan,
                                       const std::vector<Sql>& statements,
                                       std::size_t limit)
{
    std::vector<Found> all;
    for (const auto& sql : statements) {
        if (all.size() < limit) TRY(collect(reader, plan, sql, limit, all));
    }
    return all;
}

// Rows of the runs that fulfil all terms with an index, read from these indexes alone.
Result<std::vector<std::int64_t>> intersect(db::Connection& reader, const RunSearchPlan& plan)
{
    const auto last = TRY(reader.query_integer("SELECT max(row) FROM run"));
    std::vector<std::uint8_t> fulfilled(static_cast<std::size_t>(last) + 1);
    std::uint8_t terms = 0;
    for (const auto& term : plan.terms()) {
        if (!term.rows) continue;
        auto statement = TRY(term.rows->prepare(reader));
        while (TRY(statement.step())) {
            auto& count = fulfilled[static_cast<std::size_t>(statement.integer(0))];
            if (count == terms) ++count;
        }
        ++terms;
    }
    std::vector<std::int64_t> rows;
    for (std::size_t row = 0; row < fulfilled.size(); ++row) {
        if (fulfilled[row] == terms) rows.push_back(static_cast<std::int64_t>(row));
    }
    return rows;
}

// At most `limit`.
Result<std::vector<Found>>
find_rows(db::Connection& reader, const RunSearchPlan& plan, std::size_t limit)
{
    const auto few = plan.can_walk() ? TRY(fewest_to_walk(reader, limit))
                                     : std::numeric_limits<std::int64_t>::max();
    const auto driver = TRY(choose_driver(reader, plan, few));
    const auto tie = driver ? std::nullopt : TRY(find_tie(reader, plan, limit, few));
    const auto walk = plan.statements(driver, tie);
    const auto& terms = plan.terms();
    const auto indexed = std::count_if(
        terms.begin(), terms.end(), [](const Term& term) { return term.rows.has_value(); });
    if (driver || indexed == 0) return collect_all(reader, plan, walk, limit);
    {
        db::StepLimit bound(reader, longest_walk(limit));
        auto found = collect_all(reader, plan, walk, limit);
        if (found || !bound.exceeded()) return found;
    }
    const auto rows = TRY(intersect(reader, plan));
    // Only where no other term may turn down one after the other is the walk sure to end soon.
    const bool ends_soon = static_cast<std::int64_t>(rows.size()) >= few &&
                           indexed == static_cast<std::ptrdiff_t>(terms.size());
    return collect_all(
        reader, plan, ends_soon ? walk : std::vector{plan.statement_for(rows)}, limit);
}

Result<StoredRun> read_row(db::Connection& reader, std::int64_t row)
{
    auto statement = TRY(reader.prepare(std::string(select_runs) + "WHERE run.row = ?"));
    statement.bind(row);
    if (!TRY(statement.step())) return fail(ErrorKind::internal, "row {} of a run is gone", row);
    return read_run(reader, statement);
}

// Those of the tail among `found`, which has none of them; at most `limit` stay. `marks` is where
// the page before ended.
Result<> add_tailed(db::Connection& reader,
                    const TailedRuns& tailed,
                    const RunSearch& search,
                    const std::vector<OrderColumn>& columns,
                    const Marks& marks,
                    std::size_t limit,
                    std::vector<Found>& found)
{
    const auto rows = tailed.rows_for(search);
    if (rows.empty()) return {};
    const auto others = without_metrics(search);
    const RunSearchPlan plan(others, without_metrics(columns), {});
    std::vector<Found> more;
    TRY(collect(reader, plan, plan.statement_among(rows), rows.size(), more));
    for (auto& one : more)
        tailed.set_marks(one.row, columns, one.marks);
    const auto before = [&columns](const Found& a, const Found& b) {
        return comes_before(columns, a.marks, b.marks);
    };
    if (!marks.empty())
        std::erase_if(more,
                      [&](const Found& one) { return !comes_before(columns, marks, one.marks); });
    std::sort(more.begin(), more.end(), before);
    const auto middle = static_cast<std::ptrdiff_t>(found.size());
    std::move(more.begin(), more.end(), std::back_inserter(found));
    std::inplace_merge(found.begin(), found.begin() + middle, found.end(), before);
    if (found.size() > limit) found.resize(limit);
    return {};
}

}  // namespace

std::string FoundRunRows::place_behind(std::size_t row) const
{
    return page_word(columns, marks[row]);
}

Result<FoundRunRows>
find_run_rows(db::Connection& reader, const TailReader& tail, const RunSearch& search)
{
    auto columns = order_columns(search.order_by, search.words);
    const auto marks = search.page.empty() ? Marks() : TRY(parse_page_word(columns, search.page));
    const auto tailed = TRY(TailedRuns::read(reader, tail, search));
    const RunSearchPlan plan(search, std::move(columns), marks, tailed.rows());
    const auto limit = std::clamp<std::size_t>(search.scope.limit, 1, largest_page);
    auto rows = TRY(find_rows(reader, plan, limit + 1));
    TRY(add_tailed(reader, tailed, search, plan.columns(), marks, limit + 1, rows));
    const bool more = rows.size() > limit;
    if (more) rows.pop_back();
    FoundRunRows found;
    found.columns = plan.columns();
    for (auto& row : rows) {
        found.rows.push_back(row.row);
        found.marks.push_back(std::move(row.marks));
    }
    if (more) found.next = found.place_behind(rows.size() - 1);
    return found;
}

Result<FoundRuns> History::search_runs(const RunSearch& search) const
{
    return impl_->read([&](db::Connection& reader, const TailReader& tail) -> Result<FoundRuns> {
        auto rows = TRY(find_run_rows(reader, tail, search));
        FoundRuns found{{}, std::move(rows.next)};
        std::size_t bytes = 0;
        for (std::size_t at = 0; at < rows.rows.size(); ++at) {
            if (bytes >= enough_text) {
                found.next = rows.place_behind(at - 1);
                break;
            }
            auto stored = TRY(read_row(reader, rows.rows[at]));
            bytes += stored.bytes;
            found.runs.push_back(std::move(stored.run));
        }
        return found;
    });
}

}  // namespace ponk::store
