// SPDX-License-Identifier: Apache-2.0
#include "store/search/run_search_test_support.hpp"

#include <cmath>
#include <limits>

namespace ponk::store {
namespace {

constexpr double infinity = std::numeric_limits<double>::infinity();
constexpr double nan = std::numeric_limits<double>::quiet_NaN();

class RunSearchTest : public SearchTest {
protected:
    void SetUp() override
    {
        add_samples({
            {"A", {{"m", 1}, {"x", 5}}, {{"param.p", "Foo"}, {"color", "red"}}, 100},
            {"B", {{"m", 2}, {"x", 5}}, {{"param.p", "foo"}, {"color", "blue"}}, 200},
            {"C", {{"m", infinity}}, {{"param.p", ""}}, 300, RunState::failed},
            {"D", {}, {{"param.q", "1"}}, 0, RunState::queued},
            {"N", {{"m", nan}, {"x", 4}}, {}, 300, RunState::canceled},
        });
    }
};

TEST_F(RunSearchTest, EverythingPassesAnEmptyFilterNewestFirst)
{
    EXPECT_EQ(found(""), "NDCBA");
}

TEST_F(RunSearchTest, MetricsAreComparedByTheirLatestValue)
{
    EXPECT_EQ(found("metrics.m > 1"), "CB");
    EXPECT_EQ(found("metrics.m >= 1"), "CBA");
    EXPECT_EQ(found("metrics.m < 1e1"), "BA");
    EXPECT_EQ(found("metrics.m = 2.0"), "B");
    EXPECT_EQ(found("metrics.m <= -1"), "");
    log("A", {{"m", 7, {}, 1, 0}, {"m", 9, {}, 0, 0}});
    EXPECT_EQ(found("metrics.m = 7"), "A");
}

TEST_F(RunSearchTest, ARunWithoutTheKeyMatchesNothingAndNanDiffersFromEveryNumber)
{
    EXPECT_EQ(found("metrics.m != 1"), "NCB");
    EXPECT_EQ(found("metrics.m = 0"), "");
    EXPECT_EQ(found("metrics.m > -1"), "CBA");
    EXPECT_EQ(found("params.p != 'x'"), "CBA");
    EXPECT_EQ(found("metrics.nothing != 1"), "");
}

TEST_F(RunSearchTest, ValuesThatAreNoNumbersAreNoMetrics)
{
    log("D", {{"m", 0, "text", 0, 0}});

    EXPECT_EQ(found("metrics.m = 0"), "");
    EXPECT_EQ(found("metrics.m != 5", {"metrics.m DESC"}), "CBAN");
    EXPECT_EQ(found("", {"metrics.m DESC"}), "CBAND");
}

TEST_F(RunSearchTest, TextsAreComparedByCaseAndPatternsAsTheySay)
{
    EXPECT_EQ(found("params.p = 'Foo'"), "A");
    EXPECT_EQ(found("params.p = ''"), "C");
    EXPECT_EQ(found("params.p LIKE 'f%'"), "B");
    EXPECT_EQ(found("params.p LIKE '_oo'"), "BA");
    EXPECT_EQ(found("params.p ILIKE '%OO'"), "BA");
    EXPECT_EQ(found("params.p LIKE '%'"), "CBA");
    EXPECT_EQ(found("params.p LIKE '*'"), "");
    EXPECT_EQ(found("tags.color != 'red'"), "B");
    EXPECT_EQ(found("params.p IS NULL"), "ND");
    EXPECT_EQ(found("params.p IS NOT NULL"), "CBA");
}

// As clients of MLflow see them; one that was set stands before ours.
TEST_F(RunSearchTest, TagsThatNobodySetAreFoundAndOrderedBy)
{
    add_samples({{"E", {}, {{"mlflow.user", "bob"}}, 400, RunState::lost}});
    const auto seen = [this](const std::string& filter,
                             const std::vector<std::string>& order = {}) {
        auto search = search_for(filter, order);
        search.words = RunSearch::Words::mlflow;
        return names(search);
    };

    EXPECT_EQ(seen("tags.`mlflow.user` = 'ann'"), "NDCBA");
    EXPECT_EQ(seen("tags.`mlflow.user` LIKE 'b%'"), "E");
    EXPECT_EQ(seen("tags.`mlflow.source.name` = 'train.py' AND tags.color = 'red'"), "A");
    EXPECT_EQ(seen("tags.`mlflow.source.type` != 'LOCAL'"), "");
    EXPECT_EQ(seen("tags.`mlflow.source.git.commit` IS NULL"), "ENDCBA");
    EXPECT_EQ(seen("tags.`ponk.state` = 'Lost'"), "E");
    EXPECT_EQ(seen("tags.`mlflow.runName` = 'C'"), "C");
    EXPECT_EQ(seen("", {"tags.`mlflow.user` DESC", "tags.`mlflow.runName` ASC"}), "EABCDN");
    EXPECT_EQ(seen("", {"tags.`ponk.state` ASC", "tags.`mlflow.runName` DESC"}), "ENDCBA");
    EXPECT_EQ(found("tags.`mlflow.user` = 'ann'"), "");
}

TEST_F(RunSearchTest, ParametersAreNoTags)
{
    EXPECT_EQ(found("tags.`param.p` = 'Foo'"), "");
    EXPECT_EQ(found("tags.`param.p` IS NULL"), "NDCBA");
    EXPECT_EQ(found("tags.p = 'Foo'"), "");
}

TEST_F(RunSearchTest, AttributesAreThoseOfTheRun)
{
    const auto id = ids_.at("B").text();
    EXPECT_EQ(found("run_id = '" + id + "'"), "B");
    EXPECT_EQ(found("run_id IN ('" + id + "', '" + ids_.at("D").text() + "', 'x')"), "DB");
    EXPECT_EQ(found("run_id NOT IN ('" + id + "')"), "NDCA");
    EXPECT_EQ(found("run_id LIKE '" + id.substr(0, 30) + "%' AND name = 'B'"), "B");
    EXPECT_EQ(found("name != 'B'"), "NDCA");
    EXPECT_EQ(found("user_id = 'ann' AND script = 'train.py' AND target ILIKE 'LOC%'"), "NDCBA");
    EXPECT_EQ(found("artifact_uri = 'runs:/" + id + "'"), "B");
    EXPECT_EQ(found("start_time > 100"), "NCB");
    EXPECT_EQ(found("start_time <= 100.5"), "A");
    EXPECT_EQ(found("start_time != 100"), "NCB");
    EXPECT_EQ(found("end_time >= 210"), "NCB");
    EXPECT_EQ(found("end_time < 1000"), "NCBA");
}

TEST_F(RunSearchTest, AStateHasTwoWords)
{
    EXPECT_EQ(found("status = 'FINISHED'"), "BA");
    EXPECT_EQ(found("status = 'Completed'"), "BA");
    EXPECT_EQ(found("status != 'FINISHED'"), "NDC");
    EXPECT_EQ(found("status = 'SCHEDULED'"), "D");
    EXPECT_EQ(found("status = 'KILLED'"), "N");
    EXPECT_EQ(found("status LIKE 'F%'"), "CBA");
    EXPECT_EQ(found("status ILIKE 'fail%'"), "C");
    EXPECT_EQ(found("status LIKE 'nothing'"), "");
    for (int i = 0; i <= static_cast<int>(RunState::lost); ++i) {
        const auto state = static_cast<RunState>(i);
        for (const std::string word : {model::to_string(state), model::mlflow_status(state)})
            EXPECT_TRUE(parse_filter(query::search::history_runs, "status = '" + word + "'"));
    }
}

TEST_F(RunSearchTest, NoRunHasADataset)
{
    EXPECT_EQ(found("dataset.name != 'x'"), "");
}

TEST_F(RunSearchTest, NumbersComeBeforeNanAndThatBeforeNothing)
{
    EXPECT_EQ(found("", {"metrics.m"}), "ABCND");
    EXPECT_EQ(found("", {"metrics.m DESC"}), "CBAND");
    EXPECT_EQ(found("", {"params.p"}), "CABND");
    EXPECT_EQ(found("", {"params.p DESC"}), "BACND");
    EXPECT_EQ(found("", {"start_time"}), "ABCND");
    EXPECT_EQ(found("", {"start_time DESC"}), "CNBAD");
    EXPECT_EQ(found("", {"end_time"}), "ABCND");
}

TEST_F(RunSearchTest, RunsAreOrderedByTheLeastAndGreatestOfAllPoints)
{
    const auto not_a_number = std::numeric_limits<double>::quiet_NaN();
    for (const char* const name : {"W", "X", "Y", "Z"})
        add_samples({{.name = name, .tags = {{"set", "ranges"}}}});
    log("W", {{"q", 5, {}, 0, 0}, {"q", 1, {}, 1, 0}, {"q", 3, {}, 2, 0}});
    log("X", {{"q", 4, {}, 0, 0}, {"q", not_a_number, {}, 1, 0}, {"q", 9, {}, 2, 0}});
    log("Y", {{"q", not_a_number, {}, 0, 0}, {"q", 0, "text", 1, 0}});
    const std::string scope = "tags.set = 'ranges'";

    EXPECT_EQ(found(scope, {"min.q"}), "WXYZ");
    EXPECT_EQ(found(scope, {"min.q DESC"}), "XWYZ");
    EXPECT_EQ(found(scope, {"max.q"}), "WXYZ");
    EXPECT_EQ(found(scope, {"max.q DESC"}), "XWYZ");
    EXPECT_EQ(paged(search_for(scope, {"max.q DESC"}), 1), "XWYZ");
    // What is not compacted counts, too, together with what is.
    const std::vector<model::MetricPoint> lower{{"q", -1, {}, 3, 0}};
    const std::vector<model::MetricPoint> higher{{"q", 20, {}, 3, 0}};
    ASSERT_TRUE(history_->log_points(ids_.at("X"), lower));
    ASSERT_TRUE(history_->log_points(ids_.at("Z"), higher));
    EXPECT_EQ(found(scope, {"min.q"}), "XWZY");
    EXPECT_EQ(found(scope, {"max.q DESC"}), "ZXWY");
    EXPECT_EQ(paged(search_for(scope, {"max.q DESC"}), 1), "ZXWY");
    ASSERT_TRUE(history_->compact_all());
    EXPECT_EQ(found(scope, {"min.q"}), "XWZY");
    EXPECT_EQ(found(scope, {"max.q DESC"}), "ZXWY");
}

TEST_F(RunSearchTest, EqualRunsComeByStartThenById)
{
    EXPECT_EQ(found("", {"metrics.x"}), "NBACD");
    EXPECT_EQ(found("", {"metrics.x DESC", "metrics.m DESC"}), "BANCD");
    EXPECT_EQ(found("", {"metrics.x DESC", "start_time"}), "ABNCD");
    EXPECT_EQ(found("", {"target", "run_id DESC"}), "NDCBA");
    EXPECT_EQ(found("", {"status", "name"}), "CABND");
}

TEST_F(RunSearchTest, PagesTogetherAreTheWhole)
{
    const std::vector<std::vector<std::string>> orders = {{},
                                                          {"metrics.m"},
                                                          {"metrics.m DESC"},
                                                          {"metrics.x DESC", "params.p"},
                                                          {"params.p", "metrics.x"},
                                                          {"tags.color DESC"},
                                                          {"start_time"},
                                                          {"end_time DESC"},
                                                          {"status", "metrics.m"},
                                                          {"run_id"}};
    for (const auto& order : orders) {
        for (const auto* filter : {"", "metrics.m != 2", "params.p IS NULL", "user_id = 'ann'"}) {
            const auto search = search_for(filter, order);
            const auto whole = names(search);
            for (const auto size : {1U, 2U, 3U, 5U, 6U})
                EXPECT_EQ(paged(search, size), whole) << filter << ", " << size;
        }
    }
}

TEST_F(RunSearchTest, TimesBeforeTheEpochArePagedLikeOthers)
{
    add_samples({{"X", {}, {}, -300}, {"Y", {}, {}, -20}});
    const auto ascending = search_for("", {"start_time"});
    EXPECT_EQ(names(ascending), "XYABCND");
    EXPECT_EQ(names(search_for("", {"end_time"})), "XYABCND");
    for (const auto* order : {"start_time", "start_time DESC", "end_time", "end_time DESC"}) {
        const auto search = search_for("", {order});
        for (const auto size : {1U, 2U, 3U, 7U})
            EXPECT_EQ(paged(search, size), names(search)) << order << ", " << size;
    }
}

TEST_F(RunSearchTest, APageGoesOnWhateverHappensToTheOneBefore)
{
    auto search = search_for("", {"metrics.m"});
    search.scope.limit = 2;
    const auto first = history_->search_runs(search).value();
    ASSERT_EQ(first.runs.back().name, "B");
    search.page = first.next;
    search.scope.limit = 10;

    log("B", {{"m", 100, {}, 1, 0}});
    EXPECT_EQ(names(search), "BCND");
    ASSERT_TRUE(history_->delete_run(ids_.at("B")));
    EXPECT_EQ(names(search), "CND");
}

TEST_F(RunSearchTest, AWordOfAnotherOrderIsNoPage)
{
    auto search = search_for("", {"metrics.m"});
    search.scope.limit = 1;
    const auto word = history_->search_runs(search).value().next;
    for (const auto& bad : {word.substr(1), word + "AAAA", std::string("x"), std::string("e30=")}) {
        search.page = bad;
        EXPECT_EQ(names(search), "the page token does not belong to this search") << bad;
    }
    auto other = search_for("", {"metrics.m DESC"});
    other.page = word;
    EXPECT_EQ(names(other), "the page token does not belong to this search");
}

TEST_F(RunSearchTest, TheScopeBoundsTheSearch)
{
    add_samples({{"Z", {{"m", 9}}, {}, 1, RunState::completed, "p2"}});
    ASSERT_TRUE(history_->update_run(ids_.at("A"), {.hidden = true}));

    auto search = search_for("metrics.m > 0", {"metrics.m DESC"});
    EXPECT_EQ(names(search), "CZB");
    search.scope.project = "p1";
    EXPECT_EQ(names(search), "CB");
    search.scope.hidden = RunFilter::Hidden::include;
    EXPECT_EQ(names(search), "CBA");
    search.scope.state = RunState::failed;
    EXPECT_EQ(names(search), "C");
    search.scope.script = "other.py";
    EXPECT_EQ(names(search), "");
}

// Each term holds for many runs and both for one, the last in every order: no walk is short.
TEST_F(RunSearchTest, WhatHoldsForManyRunsApartMayHoldForOneTogether)
{
    std::vector<Sample> many{{"O", {{"m", -5}}, {{"color", "red"}, {"team", "x"}}, 1}};
    for (int i = 0; i < 1400; ++i) {
        const auto* key = i % 2 == 0 ? "team" : "color";
        many.push_back({std::to_string(i), {}, {{key, i % 2 == 0 ? "x" : "red"}}, 1000});
    }
    add_samples(many);

    for (const auto& order :
         {std::vector<std::string>(), {"start_time DESC"}, {"metrics.m DESC"}}) {
        auto search = search_for("tags.color = 'red' AND tags.team LIKE '_'", order);
        search.scope.limit = 1;
        EXPECT_EQ(names(search), "O");
    }
}

TEST_F(RunSearchTest, HostileTextsAreValues)
{
    for (const std::string text : {"x'; DROP TABLE run; --", "?", "?1", ":a", "%s", "\\", "\xff"}) {
        ASSERT_TRUE(history_->set_tag(ids_.at("A"), text, text));
        const auto quote = text.find('\'') == std::string::npos ? "'" : "\"";
        EXPECT_EQ(found("tags.`" + text + "` = " + quote + text + quote), "A");
        EXPECT_EQ(found("", {"tags.`" + text + "`"}).front(), 'A');
    }
}

TEST_F(RunSearchTest, TheLargestFiltersAreAnswered)
{
    std::string many = "metrics.m >= 1";
    for (int i = 0; i < 99; ++i)
        many +=
            i % 2 == 0 ? " AND metrics.m < 1e300" : " AND tags.t" + std::to_string(i) + " IS NULL";
    std::vector<std::string> order;
    for (int i = 0; i < 10; ++i)
        order.push_back("metrics.k" + std::to_string(i));
    auto search = search_for(many, order);
    EXPECT_EQ(names(search), "BA");
    EXPECT_EQ(paged(search, 1), "BA");

    std::string list = "run_id IN ('" + ids_.at("C").text() + "'";
    for (int i = 0; i < 9'999; ++i)
        list += ",'x'";
    EXPECT_EQ(found(list + ")"), "C");
    EXPECT_EQ(found("params.p LIKE '" + std::string(8'000, '*') + "'"), "");
}

}  // namespace
}  // namespace ponk::store
