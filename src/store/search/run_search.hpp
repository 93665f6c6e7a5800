// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "store/points/tail_reader.hpp"
#include "store/records.hpp"
#include "store/search/row_search.hpp"
#include "store/search/search_order.hpp"
#include "store/search/search_sql.hpp"
#include "store/search/search_term.hpp"

#include <optional>
#include <string>
#include <vector>

namespace ponk::store {

struct FoundRunRows {
    std::vector<std::int64_t> rows;
    std::string next;  // empty at the end
    std::vector<OrderColumn> columns;
    std::vector<Marks> marks;  // of each

    // `next` of a page that ends with this row.
    [[nodiscard]] std::string place_behind(std::size_t row) const;
};
// The runs of a page in the order of the answer. Metrics are what chunks and tail together say.
Result<FoundRunRows>
find_run_rows(db::Connection& reader, const TailReader& tail, const RunSearch& search);

// What a walk to a page of so many runs may cost before another way is taken, in operations of
// SQLite's machine: those of some hundred runs, and for each run of the page those of a few more.
[[nodiscard]] int longest_walk(std::size_t limit);

// The statements that answer a search, to be asked one after the other until there are enough runs:
// each gives run.row, then rank and value of each column of the order, in that order.
//
// Many runs may have the same first key: epochs, an accuracy of 1. To sort them all for one page is
// long, so those are walked in the order of the other keys.
struct Tie {
    SqlValue value;
    enum class Before { none, some } before = Before::none;  // runs of the page with other values
};

// A search is answered in one of three ways. Where one of its terms holds for few runs, those are
// fetched by that term's index and sorted. Else runs are walked in the order of the answer, by the
// index of the first key, and the walk ends when the page is full: first those that have a value,
// then those with NaN, then those without. Where that takes long, because few runs fulfil all terms
// together, the runs for which each term holds are read from its index and those that are among all
// of them are sorted.
class RunSearchPlan {
public:
    // `marks` is empty, or where the page before ended. Runs of the rows `except` are left out. The
    // search must outlive the plan.
    RunSearchPlan(const RunSearch& search,
                  std::vector<OrderColumn> columns,
                  Marks marks,
                  const std::vector<std::int64_t>& except = {});
    // Terms point into the plan.
    RunSearchPlan(const RunSearchPlan&) = delete;
    RunSearchPlan& operator=(const RunSearchPlan&) = delete;

    [[nodiscard]] const std::vector<OrderColumn>& columns() const noexcept { return columns_; }
    // All that a run must fulfil but not to be hidden; project and verdict are among them.
    [[nodiscard]] const std::vector<Term>& terms() const noexcept { return terms_; }
    // False: walking in this order means to sort all runs.
    [[nodiscard]] bool can_walk() const;
    // `driver` is the term by which runs are fetched; nullopt: they are walked. `tie`: of the
    // values that `first_values` gives, one that very many runs have.
    [[nodiscard]] std::vector<Sql> statements(std::optional<std::size_t> driver,
                                              const std::optional<Tie>& tie = std::nullopt) const;
    // Values of the first key in the order of a walk, from the begin of the page on; nullopt: runs
    // with the same value cannot be walked.
    [[nodiscard]] std::optional<Sql> first_values() const;
    // For runs that fulfil all terms with an index.
    [[nodiscard]] Sql statement_for(const std::vector<std::int64_t>& rows) const;
    // For any runs: those of them that fulfil all terms.
    [[nodiscard]] Sql statement_among(const std::vector<std::int64_t>& rows) const;

private:
    // A statement in the making.
    struct Part {
        Sql from;
        std::vector<Sql> where;
        // What is known of the first column: nothing, or its rank, which may mean that no row has
        // a value in it.
        std::optional<Rank> first_rank = std::nullopt;
        // The value that all rows have in it.
        std::optional<SqlValue> first_value = std::nullopt;
    };
    // Which terms are checked on each run.
    struct Checked {
        std::optional<std::size_t> except = std::nullopt;
        enum class FirstKey { yes, no } first_key = FirstKey::yes;
        enum class Indexed { yes, no } indexed = Indexed::yes;
    };

    [[nodiscard]] Sql statement(const Part& part) const;
    void add_conditions(Part& part, const Checked& checked) const;
    void add_joins(Part& part) const;
    [[nodiscard]] Part fetch(const Sql& found, const Checked& checked) const;
    [[nodiscard]] Part walk_values() const;
    // Before the tie and behind it, between them those that have its value.
    [[nodiscard]] std::vector<Part> walk_around(const Tie& tie) const;
    [[nodiscard]] Part walk_tie(const SqlValue& value) const;
    [[nodiscard]] Part walk_others(Rank rank) const;
    [[nodiscard]] bool is_possible(Rank rank) const;
    [[nodiscard]] bool concerns_first_key(const Term& term) const;

    const RunSearch& search_;
    std::vector<OrderColumn> columns_;
    Marks marks_;
    std::optional<Sql> except_;
    std::vector<query::search::Comparison> comparisons_;  // of filter and scope
    std::vector<Term> terms_;
};

}  // namespace ponk::store
