// SPDX-License-Identifier: Apache-2.0
#include "db/database.hpp"
#include "db/step_limit.hpp"
#include "store/schema/schema.hpp"
#include "store/search/run_search.hpp"
#include "store/search/run_search_test_support.hpp"

#include <fmt/format.h>

#include <limits>
#include <random>

namespace ponk::store {
namespace {

class SearchPlanTest : public SearchTest {
protected:
    // Statements are looked at and run without History.
    void open_database()
    {
        history_.reset();
        database_ =
            db::Database::open({.folder = folder_, .name = "history", .schema = history_schema()})
                .value();
    }

    // What SQLite will do for each statement of the search.
    std::string explained(const RunSearch& search,
                          std::optional<std::size_t> driver,
                          const std::optional<Tie>& tie = std::nullopt)
    {
        const RunSearchPlan plan(search, order_columns(search.order_by), {});
        std::string lines;
        for (const auto& sql : plan.statements(driver, tie)) {
            const auto text = database_->read([&](db::Connection& reader) -> Result<std::string> {
                auto statement =
                    TRY(Sql("EXPLAIN QUERY PLAN ").add(sql).add(" LIMIT 10").prepare(reader));
                std::string steps;
                while (TRY(statement.step()))
                    steps += statement.text(3) + "\n";
                return steps;
            });
            EXPECT_TRUE(text) << text.error().message() << sql.text();
            lines += text.value_or("") + "--\n";
        }
        return lines;
    }

    // Rows of all statements, without a limit.
    std::vector<std::int64_t>
    rows(const RunSearch& search, std::optional<std::size_t> driver, const Marks& marks = {})
    {
        const RunSearchPlan plan(search, order_columns(search.order_by), marks);
        return rows(plan.statements(driver));
    }
    std::vector<std::int64_t> rows(const std::vector<Sql>& statements)
    {
        std::vector<std::int64_t> all;
        for (const auto& sql : statements) {
            const auto read = database_->read([&](db::Connection& reader) -> Result<> {
                auto statement = TRY(sql.prepare(reader));
                while (TRY(statement.step()))
                    all.push_back(statement.integer(0));
                return {};
            });
            EXPECT_TRUE(read) << read.error().message() << sql.text();
        }
        return all;
    }

    // What the first key of the order has, in that order.
    std::vector<SqlValue> distinct_values(const RunSearchPlan& plan)
    {
        std::vector<SqlValue> values;
        const auto sql = plan.first_values();
        if (!sql) return values;
        const auto read = database_->read([&](db::Connection& reader) -> Result<> {
            auto statement = TRY(sql->prepare(reader));
            while (TRY(statement.step())) {
                const bool real = plan.columns().front().type == OrderColumn::Type::real;
                const auto value = real ? SqlValue(statement.real(0)) : SqlValue(statement.text(0));
                if (values.empty() || values.back() != value) values.push_back(value);
            }
            return {};
        });
        EXPECT_TRUE(read) << read.error().message();
        return values;
    }
    // Where the n-th run of the answer is.
    Marks marks_of(RunSearch search, std::size_t n)
    {
        search.scope.limit = n + 1;
        const Uncompacted nothing;
        return database_
            ->read([&](db::Connection& reader) -> Result<Marks> {
                return TRY(find_run_rows(reader, TailReader(nothing), search)).marks.back();
            })
            .value();
    }

    static std::vector<Sample> random_samples(std::mt19937& random, int count)
    {
        const auto pick = [&random](unsigned n) { return static_cast<int>(random() % n); };
        const double values[] = {0, 1, 2, -3, std::numeric_limits<double>::quiet_NaN()};
        std::vector<Sample> samples;
        for (int i = 0; i < count; ++i) {
            Sample sample{fmt::format("{:03}", i)};
            for (const auto* key : {"a", "b"}) {
                if (pick(4) > 0) sample.metrics[key] = values[pick(5)];
            }
            for (const auto* key : {"param.p", "t"}) {
                if (pick(3) > 0) sample.tags.emplace_back(key, std::string(1, "xyz"[pick(3)]));
            }
            sample.started = pick(4) * 100;
            sample.state = static_cast<RunState>(pick(10));
            sample.project = pick(3) == 0 ? "p2" : "p1";
            samples.push_back(sample);
        }
        return samples;
    }

    std::unique_ptr<db::Database> database_;
};

// Whichever way is taken, the answer is the same.
TEST_F(SearchPlanTest, AllWaysLeadToTheSameAnswer)
{
    std::mt19937 random(7);
    add_samples(random_samples(random, 80));
    open_database();
    const char* const filters[] = {"metrics.a > 0",
                                   "metrics.a != 1 AND params.p = 'x'",
                                   "tags.t LIKE '%' AND metrics.b <= 1",
                                   "status = 'FAILED' AND metrics.a >= -3",
                                   "params.p IS NOT NULL AND start_time > 0",
                                   "metrics.a != 5 AND metrics.a != 2",
                                   "script = 'train.py' AND params.p IS NULL"};
    const std::vector<std::vector<std::string>> orders = {{},
                                                          {"metrics.a"},
                                                          {"metrics.a DESC", "metrics.b"},
                                                          {"params.p DESC", "status"},
                                                          {"tags.t", "metrics.b DESC"},
                                                          {"start_time", "metrics.a"},
                                                          {"start_time DESC"},
                                                          {"end_time DESC", "metrics.b"},
                                                          {"status", "run_id DESC"}};
    for (const auto* filter : filters) {
        for (const auto& order : orders) {
            auto search = search_for(filter, order);
            search.scope.project = "p1";
            const auto walked = rows(search, std::nullopt);
            EXPECT_FALSE(walked.empty()) << filter;
            const RunSearchPlan plan(search, order_columns(search.order_by), {});
            for (std::size_t i = 0; i < plan.terms().size(); ++i) {
                if (!plan.terms()[i].rows) continue;
                EXPECT_EQ(rows(search, i), walked) << filter << i;
            }
            EXPECT_EQ(rows({plan.statement_for(walked)}), walked) << filter;
        }
    }
}

// Runs that share a value are found in the same order, from every place in it.
TEST_F(SearchPlanTest, RunsWithTheSameValueComeInTheSameOrderWhenTheyAreWalked)
{
    std::mt19937 random(8);
    add_samples(random_samples(random, 80));
    open_database();
    for (const auto* order : {"metrics.a", "metrics.a DESC", "params.p DESC", "tags.t"}) {
        for (const auto* filter : {"", "metrics.a >= -3", "tags.t != 'y'", "params.p = 'x'"}) {
            const auto search = search_for(filter, {order});
            const auto columns = order_columns(search.order_by);
            const auto sorted = rows(search, std::nullopt);
            const RunSearchPlan whole(search, columns, {});
            const auto values = distinct_values(whole);
            ASSERT_FALSE(values.empty()) << order;
            for (const auto& value : values) {
                const auto before = value == values.front() ? Tie::Before::none : Tie::Before::some;
                EXPECT_EQ(rows(whole.statements(std::nullopt, Tie{value, before})), sorted)
                    << order << filter;
            }
            for (std::size_t i = 0; i < sorted.size(); i += 5) {
                const RunSearchPlan rest(search, columns, marks_of(search, i));
                const auto next = distinct_values(rest);
                if (next.empty()) continue;
                const auto found = rows(rest.statements(std::nullopt, Tie{next.front()}));
                EXPECT_EQ(
                    found,
                    std::vector(sorted.begin() + static_cast<std::ptrdiff_t>(i) + 1, sorted.end()))
                    << order << filter << i;
            }
        }
    }
}

TEST_F(SearchPlanTest, RunsWithTheSameValueAreWalkedInTheOrderOfTheirStart)
{
    open_database();
    auto search = search_for("", {"metrics.a DESC"});
    const auto tied = [&] { return explained(search, std::nullopt, Tie{1.0}); };
    EXPECT_EQ(tied().find("SCAN run USING INDEX run_by_started"), 0U) << tied();
    EXPECT_GT(tied().find("TEMP B-TREE"), tied().find("--")) << tied();
    search.scope.project = "p1";
    EXPECT_EQ(tied().find("SEARCH run USING INDEX run_by_project_started (project=?)"), 0U);
    EXPECT_GT(tied().find("TEMP B-TREE"), tied().find("--")) << tied();
}

// More runs with one value than are sorted for a page.
TEST_F(SearchPlanTest, PagesOfRunsWithTheSameValueGoOnWhereTheOneBeforeEnded)
{
    constexpr int count = 700;
    std::vector<Sample> samples;
    for (int i = 0; i < count; ++i) {
        const double value = i % 100 == 7 ? 11 : i % 100 == 8 ? 9 : 10;
        samples.push_back({fmt::format("{},", i), {{"epochs", value}}, {}, 1 + i % 50});
    }
    add_samples(samples);
    for (const auto* order : {"metrics.epochs DESC", "metrics.epochs"}) {
        const auto search = search_for("", {order});
        auto whole = search;
        whole.scope.limit = 2000;
        const auto all = names(whole);
        EXPECT_EQ(std::count(all.begin(), all.end(), ','), count);
        EXPECT_EQ(paged(search, 100), all) << order;
        EXPECT_EQ(paged(search, 30), all) << order;
    }
}

TEST_F(SearchPlanTest, AForgedPageOfRunsWithTheSameValueHarmsNobody)
{
    const auto search = search_for("", {"metrics.a DESC"});
    const auto columns = order_columns(search.order_by);
    add_samples({{"A", {{"a", 1}}, {}, 5}, {"B", {{"a", 1}}, {}, 6}});
    open_database();
    const RunSearchPlan plan(
        search, columns, {{Rank::value, 1.0}, {Rank::missing}, {Rank::value, std::string("x")}});
    EXPECT_LE(rows(plan.statements(std::nullopt, Tie{1.0})).size(), 2U);
}

// With 100,000 runs a page must cost as much as with 10.
TEST_F(SearchPlanTest, CommonSearchesWalkAnIndexInTheOrderOfTheAnswer)
{
    open_database();
    struct Row {
        const char* filter;
        std::vector<std::string> order;
        const char* first_step;
    };
    const Row common[] = {
        {"metrics.a > 0.9",
         {"metrics.a DESC"},
         "SEARCH o0 USING COVERING INDEX metric_by_value (key=? AND value>?)"},
        {"params.p = 'x'",
         {"metrics.a"},
         "SEARCH o0 USING COVERING INDEX metric_by_value (key=? AND value>?)"},
        {"tags.t = 'x'", {"params.p DESC"}, "SEARCH o0 USING COVERING INDEX tag_by_value (key=?)"},
        {"metrics.a > 0.9", {"start_time DESC"}, "SCAN run USING INDEX run_by_started"},
        {"", {"start_time"}, "SEARCH run USING INDEX run_by_started (started<?)"},
        {"metrics.a > 0.9", {"end_time DESC"}, "SCAN run USING INDEX run_by_ended"},
        {"", {"end_time"}, "SEARCH run USING INDEX run_by_ended (ended<?)"},
        {"metrics.a > 0.9 AND status = 'FAILED'", {}, "SCAN run\n"},
        {"", {}, "SCAN run\n"},
    };
    for (const auto& row : common) {
        const auto plan = explained(search_for(row.filter, row.order), std::nullopt);
        EXPECT_EQ(plan.find(row.first_step), 0U) << row.filter << '\n' << plan;
        // Of the first statement; runs with NaN, which come next, are few.
        EXPECT_GT(plan.find("TEMP B-TREE FOR ORDER BY"), plan.find("--")) << plan;
        EXPECT_EQ(plan.find("AUTOMATIC"), std::string::npos) << plan;
    }
    auto of_project = search_for("metrics.a > 0.9", {"start_time DESC"});
    of_project.scope.project = "p1";
    const auto plan = explained(of_project, std::nullopt);
    EXPECT_EQ(plan.find("SEARCH run USING INDEX run_by_project_started (project=?)"), 0U) << plan;
    EXPECT_EQ(plan.find("TEMP B-TREE"), std::string::npos) << plan;
    of_project = search_for("");
    of_project.scope.project = "p1";
    const auto newest = explained(of_project, std::nullopt);
    EXPECT_EQ(newest.find("SEARCH run USING INDEX run_by_project (project=?)"), 0U) << newest;
    EXPECT_EQ(newest.find("TEMP B-TREE"), std::string::npos) << newest;
}

TEST_F(SearchPlanTest, ExperimentsAreWalkedInTheOrderOfTheAnswer)
{
    open_database();
    auto search = search_for("metrics.a > 0.9", {"start_time DESC"});
    search.words = RunSearch::Words::mlflow;
    search.scope.lifecycle = Lifecycle::active;
    search.experiments = {1};
    const auto one = explained(search, std::nullopt);
    EXPECT_EQ(one.find("SEARCH run USING INDEX run_by_project_started (project=?)"), 0U) << one;
    EXPECT_EQ(one.find("TEMP B-TREE"), std::string::npos) << one;
    search.experiments = {1, 2};
    const auto two = explained(search, std::nullopt);
    EXPECT_NE(two.find("SCAN run USING INDEX run_by_started"), std::string::npos) << two;
    EXPECT_EQ(two.find("TEMP B-TREE"), std::string::npos) << two;
    const auto fetched = explained(search, 0);
    EXPECT_NE(fetched.find("SEARCH run USING COVERING INDEX run_by_project"), std::string::npos)
        << fetched;
    search = search_for("metrics.a > 0.9", {"metrics.a DESC"});
    search.experiments = {1};
    const auto best = explained(search, std::nullopt);
    EXPECT_EQ(best.find("SEARCH o0 USING COVERING INDEX metric_by_value (key=? AND value>?)"), 0U)
        << best;
}

TEST_F(SearchPlanTest, ATermThatHoldsForFewRunsFetchesThemByItsIndex)
{
    open_database();
    struct Row {
        const char* filter;
        const char* first_step;
    };
    const Row rows[] = {
        {"metrics.a > 0.9",
         "SEARCH metric USING COVERING INDEX metric_by_value (key=? AND value>?)"},
        {"metrics.a = 1", "SEARCH metric USING COVERING INDEX metric_by_value (key=? AND value=?)"},
        {"metrics.a != 1", "SEARCH metric USING COVERING INDEX metric_by_value (key=?)"},
        {"params.p = 'x'", "SEARCH tag USING COVERING INDEX tag_by_value (key=? AND value=?)"},
        {"tags.t LIKE '%x'", "SEARCH tag USING COVERING INDEX tag_by_value (key=?)"},
        {"tags.t LIKE 'x%'",
         "SEARCH tag USING COVERING INDEX tag_by_value (key=? AND value>? AND value<?)"},
        {"params.p IS NOT NULL", "SEARCH tag USING COVERING INDEX tag_by_value (key=?)"},
        {"status = 'FAILED'", "SEARCH run USING COVERING INDEX run_by_state (state=?)"},
        {"script = 'x'", "SEARCH run USING COVERING INDEX run_by_script (script_name=?)"},
        {"target = 'x'", "SEARCH run USING COVERING INDEX run_by_target (target=?)"},
        {"user_id = 'x'", "SEARCH run USING COVERING INDEX run_by_user (user=?)"},
        {"run_id IN ('x', 'y')", "SEARCH run USING COVERING INDEX sqlite_autoindex_run_1 (id=?)"},
    };
    for (const auto& row : rows) {
        for (const auto& order : {std::vector<std::string>(), {"metrics.b DESC", "params.p"}}) {
            const auto plan = explained(search_for(row.filter, order), 0);
            EXPECT_EQ(plan.find(row.first_step), 0U) << row.filter << '\n' << plan;
            EXPECT_NE(plan.find("SEARCH run USING INTEGER PRIMARY KEY (rowid=?)"),
                      std::string::npos)
                << plan;
        }
    }
    auto idle = search_for("");
    idle.scope.gpu_verdict = "idle";
    const RunSearchPlan plan(idle, order_columns({}), {});
    ASSERT_EQ(plan.terms().size(), 1U);
    ASSERT_TRUE(plan.terms()[0].rows);
    EXPECT_EQ(explained(idle, 0).find("SEARCH run USING COVERING INDEX run_by_gpu (gpu_verdict=?)"),
              0U)
        << explained(idle, 0);
}

// The verdict of most runs has no place in the index.
TEST_F(SearchPlanTest, AVerdictIsATermLikeOthers)
{
    add_samples({{"A"}, {"B"}, {"C"}});
    ASSERT_TRUE(history_->update_run(ids_.at("B"), {.gpu = JsonObject{{"verdict", "confirmed"}}}));
    auto search = search_for("script = 'train.py'");
    search.scope.gpu_verdict = "confirmed";
    EXPECT_EQ(names(search), "B");
    search.scope.gpu_verdict = "not-requested";
    EXPECT_EQ(names(search), "CA");
    search.scope.gpu_verdict = "idle";
    EXPECT_EQ(names(search), "");
}

// A walk is given up where it meets few runs that belong to the answer, not because the page is
// long.
TEST_F(SearchPlanTest, ALongPageWithoutGapsIsWalkedToItsEnd)
{
    constexpr std::size_t count = 3000;
    std::vector<Sample> samples;
    for (std::size_t i = 0; i < count; ++i)
        samples.push_back({std::to_string(i), {}, {{"team", "x"}}, static_cast<int>(i) + 1});
    add_samples(samples);
    open_database();
    for (const auto& order : {std::vector<std::string>(), {"start_time DESC"}, {"tags.team"}}) {
        const auto search = search_for("tags.team = 'x'", order);
        const RunSearchPlan plan(search, order_columns(search.order_by), {});
        const auto read = database_->read([&](db::Connection& reader) -> Result<> {
            db::StepLimit bound(reader, longest_walk(count));
            auto statement = TRY(plan.statements(std::nullopt).front().prepare(reader));
            std::size_t found = 0;
            while (TRY(statement.step()))
                ++found;
            EXPECT_EQ(found, count);
            return {};
        });
        EXPECT_TRUE(read) << read.error().message();
    }
}

}  // namespace
}  // namespace ponk::store
