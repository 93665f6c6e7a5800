// SPDX-License-Identifier: Apache-2.0
#include "base/text.hpp"
#include "base/work_count.hpp"
#include "model/metric_journal.hpp"
#include "os/directory.hpp"
#include "relay/relay_test_support.hpp"

#include <thread>

namespace ponk::relay {
namespace {

// All that the daemon would read.
model::JournalPiece read_all(const os::Path& journals)
{
    model::JournalPiece all;
    const auto entries = *os::list_directory(journals);
    for (const auto& entry : entries) {
        auto piece = model::read_journal(*os::read_file(journals / entry.name), 0);
        std::ranges::move(piece.points, std::back_inserter(all.points));
        std::ranges::move(piece.params, std::back_inserter(all.params));
        std::ranges::move(piece.tags, std::back_inserter(all.tags));
        all.damaged += piece.damaged;
    }
    return all;
}

TEST_F(RelayTest, WhatIsLoggedIsInTheJournalBeforeTheAnswer)
{
    ASSERT_EQ(log_metric("loss", 0.5, 3).status, 200);
    ASSERT_EQ(
        post("runs/log-parameter", {{"run_id", own_run}, {"key", "lr"}, {"value", "0.1"}}).status,
        200);
    ASSERT_EQ(post("runs/set-tag", {{"run_id", own_run}, {"key", "team"}, {"value", "a"}}).status,
              200);

    const auto there = read_all(folder_ / "journal");
    ASSERT_EQ(there.points.size(), 1U);
    EXPECT_EQ(there.points[0].key, "loss");
    EXPECT_EQ(there.points[0].value, 0.5);
    EXPECT_EQ(there.points[0].step, 3);
    EXPECT_EQ(there.points[0].time, 5003);
    EXPECT_EQ(there.params, (std::vector<std::pair<std::string, std::string>>{{"lr", "0.1"}}));
    EXPECT_EQ(there.tags, (std::vector<std::pair<std::string, std::string>>{{"team", "a"}}));
}

TEST_F(RelayTest, ARelayThatIsStartedAgainKnowsTheSame)
{
    log_metric("loss", 0.5, 1);
    log_metric("loss", "NaN", 2);
    log_metric("loss", 9.0, 0);  // a smaller step is not the latest
    post("runs/log-parameter", {{"run_id", own_run}, {"key", "lr"}, {"value", "0.1"}});
    post("runs/update", {{"run_id", own_run}, {"run_name", "night"}, {"status", "FINISHED"}});
    post("runs/set-tag", {{"run_id", own_run}, {"key", "mlflow.runName"}, {"value", ""}});
    const auto before = own();

    start_again();

    EXPECT_EQ(own(), before);
    EXPECT_EQ(before["info"].text("run_name"), "night");
    EXPECT_EQ(before["info"].text("status"), "FINISHED");
    EXPECT_EQ(value_in(before["data"]["tags"], "mlflow.runName"), Json("night"));
    EXPECT_EQ(value_in(before["data"]["metrics"], "loss"), Json("NaN"));
    ASSERT_EQ(log_metric("loss", 0.25, 3).status, 200);
    EXPECT_EQ(get("metrics/get-history", {{"run_id", own_run}, {"metric_key", "loss"}})["metrics"]
                  .as_array()
                  .size(),
              4U);
}

TEST_F(RelayTest, AParameterIsWrittenOnce)
{
    const auto log = [this](const char* value) {
        return post("runs/log-parameter", {{"run_id", own_run}, {"key", "lr"}, {"value", value}});
    };
    EXPECT_EQ(log("0.1").status, 200);
    EXPECT_EQ(log("0.1").status, 200);
    const auto refused = log("0.2");
    EXPECT_EQ(refused.status, 400);
    EXPECT_NE(refused.body.find("Changing param values is not allowed"), std::string::npos);
    EXPECT_EQ(read_all(folder_ / "journal").params.size(), 1U);
}

TEST_F(RelayTest, ABatchIsTakenWholeOrNotAtAll)
{
    const auto refused =
        post("runs/log-batch",
             {{"run_id", own_run},
              {"metrics",
               JsonArray{JsonObject{{"key", "a"}, {"value", 1}, {"timestamp", 1}},
                         JsonObject{{"key", "b\n"}, {"value", 1}, {"timestamp", 1}}}}});
    EXPECT_EQ(refused.status, 400);
    EXPECT_TRUE(own()["data"]["metrics"].is_null());

    const auto taken = post(
        "runs/log-batch",
        {{"run_id", own_run},
         {"metrics", JsonArray{JsonObject{{"key", "a"}, {"value", "1.5"}, {"timestamp", "1"}}}},
         {"params", JsonArray{JsonObject{{"key", "p"}, {"value", ""}}}},
         {"tags", JsonArray{JsonObject{{"key", "t"}, {"value", "x"}}}}});
    EXPECT_EQ(taken.status, 200);
    EXPECT_EQ(value_in(own()["data"]["metrics"], "a"), Json(1.5));
    EXPECT_EQ(value_in(own()["data"]["params"], "p"), Json(""));
}

TEST_F(RelayTest, MistakesAreTheClients)
{
    JsonArray many;
    for (int i = 0; i < 1001; ++i)
        many.emplace_back(JsonObject{{"key", "k"}, {"value", 1}, {"timestamp", 1}});
    EXPECT_EQ(post("runs/log-batch", {{"run_id", own_run}, {"metrics", many}}).status, 400);
    EXPECT_EQ(post("runs/log-metric", {{"run_id", own_run}}).status, 400);
    EXPECT_EQ(log_metric("a/../b", 1, 1).status, 400);
    EXPECT_EQ(log_metric(std::string(251, 'x'), 1, 1).status, 400);
    EXPECT_EQ(post("runs/log-metric",
                   {{"run_id", own_run}, {"key", "a"}, {"value", 1}, {"timestamp", -1}})
                  .status,
              400);
    EXPECT_EQ(post("runs/delete-tag", {{"run_id", own_run}, {"key", "none"}}).status, 404);
    EXPECT_EQ(post("runs/update", {{"run_id", own_run}, {"status", "BOGUS"}}).status, 400);
    // Of another run only the daemon knows.
    EXPECT_EQ(post("runs/set-tag", {{"run_id", "other"}, {"key", "a"}, {"value", "b"}}).status, 0);
    EXPECT_EQ(post("runs/search", {}).status, 0);
}

TEST_F(RelayTest, LongValuesAreCut)
{
    const std::string text(9000, 'x');
    post("runs/log-parameter", {{"run_id", own_run}, {"key", "p"}, {"value", text}});
    post("runs/set-tag", {{"run_id", own_run}, {"key", "t"}, {"value", text}});
    EXPECT_EQ(value_in(own()["data"]["params"], "p").as_string().size(), 6000U);
    EXPECT_EQ(value_in(own()["data"]["tags"], "t").as_string().size(), 8000U);
}

TEST_F(RelayTest, APointThatIsSentAgainIsOnePoint)
{
    log_metric("loss", 0.5, 1);
    log_metric("loss", 0.5, 1);
    EXPECT_EQ(read_all(folder_ / "journal").points.size(), 1U);
}

TEST_F(RelayTest, HistoryComesInPages)
{
    for (int step = 0; step < 5; ++step)
        log_metric("loss", step, 4 - step);
    const JsonObject query{{"run_id", own_run}, {"metric_key", "loss"}, {"max_results", "3"}};
    const auto first = get("metrics/get-history", query);
    auto next = query;
    next.set("page_token", first["next_page_token"]);
    const auto second = get("metrics/get-history", next);

    ASSERT_EQ(first["metrics"].as_array().size(), 3U);
    EXPECT_EQ(first["metrics"].as_array()[0].integer("timestamp"), 5000);
    ASSERT_EQ(second["metrics"].as_array().size(), 2U);
    EXPECT_TRUE(second["next_page_token"].is_null());
}

TEST_F(RelayTest, APointThatComesLateShiftsNoPage)
{
    for (int step = 10; step < 16; ++step)
        log_metric("loss", step, step);
    JsonObject query{{"run_id", own_run}, {"metric_key", "loss"}, {"max_results", "3"}};
    const auto first = get("metrics/get-history", query);
    log_metric("loss", 2, 2);  // before all that were on the page
    log_metric("loss", 20, 20);
    query.set("page_token", first["next_page_token"]);
    const auto second = get("metrics/get-history", query);

    std::vector<std::int64_t> steps;
    for (const auto& page : {first, second}) {
        for (const auto& point : page["metrics"].as_array())
            steps.push_back(point.integer("step"));
    }
    EXPECT_EQ(steps, (std::vector<std::int64_t>{10, 11, 12, 13, 14, 15}));
    query.set("page_token", second["next_page_token"]);
    EXPECT_EQ(get("metrics/get-history", query)["metrics"].as_array()[0].integer("step"), 20);
    query.set("page_token", "17");
    EXPECT_EQ(get("metrics/get-history", query).text("error_code"), "INVALID_PARAMETER_VALUE");
}

TEST_F(RelayTest, AllPagesOfAHistoryReadTheJournalsOnce)
{
    constexpr int batches = 20;
    constexpr int each = 200;
    for (int batch = 0; batch < batches; ++batch) {
        JsonArray metrics;
        for (int i = 0; i < each; ++i)
            metrics.emplace_back(JsonObject{{"key", i % 2 == 0 ? "loss" : "gain"},
                                            {"value", i},
                                            {"timestamp", 5000 + i},
                                            {"step", batch * each + i}});
        ASSERT_EQ(
            post("runs/log-batch", {{"run_id", own_run}, {"metrics", std::move(metrics)}}).status,
            200);
    }
    std::size_t seen = 0;
    const WorkCount work;
    JsonObject loss{{"run_id", own_run}, {"metric_key", "loss"}, {"max_results", "20"}};
    JsonObject gain{{"run_id", own_run}, {"metric_key", "gain"}, {"max_results", "20"}};
    for (auto* query : {&loss, &gain}) {
        query->set("page_token", "");
    }
    for (bool more = true; more;) {
        more = false;
        for (auto* query : {&loss, &gain}) {  // in turn, as a client that plots both
            const auto page = get("metrics/get-history", *query);
            seen += page["metrics"].as_array().size();
            query->set("page_token", page.text("next_page_token"));
            more = !page.text("next_page_token").empty();
        }
    }
    EXPECT_EQ(seen, std::size_t{batches} * each);
    // A look at each record for each of the two, and what reading the answers takes.
    EXPECT_LT(work.steps(), std::uint64_t{100} * batches * each);
}

TEST_F(RelayTest, ManyAtOnceAreAllThere)
{
    constexpr int threads = 8;
    constexpr int each = 25;
    {
        std::vector<std::jthread> all;
        for (int thread = 0; thread < threads; ++thread) {
            all.emplace_back([this, thread] {
                for (int i = 0; i < each; ++i)
                    EXPECT_EQ(log_metric(fmt::format("m{}", thread), i, i).status, 200);
            });
        }
    }
    const auto there = read_all(folder_ / "journal");
    EXPECT_EQ(there.points.size(), std::size_t{threads} * each);
    EXPECT_EQ(there.damaged, 0U);
}

TEST_F(RelayTest, WhatCannotBeWrittenIsRefusedAndNotThere)
{
    // Its folder is gone, as if the disk were: nothing can be made there.
    const auto journals = folder_ / "journal";
    ASSERT_TRUE(os::remove_tree(journals));

    const auto refused =
        post("runs/log-parameter", {{"run_id", own_run}, {"key", "lr"}, {"value", "0.1"}});
    EXPECT_EQ(refused.status, 503);
    EXPECT_NE(refused.body.find("TEMPORARILY_UNAVAILABLE"), std::string::npos);

    ASSERT_TRUE(os::make_directories(journals));
    EXPECT_EQ(
        post("runs/log-parameter", {{"run_id", own_run}, {"key", "lr"}, {"value", "0.2"}}).status,
        200);
    EXPECT_EQ(value_in(own()["data"]["params"], "lr"), Json("0.2"));
}

TEST_F(RelayTest, ATornEndOfAnEarlierJournalIsLeftOut)
{
    log_metric("loss", 0.5, 1);
    log_metric("loss", 0.25, 2);
    const auto name = os::list_directory(folder_ / "journal")->front().name;
    recorder_.reset();
    auto bytes = *os::read_file(folder_ / "journal" / name);
    bytes.resize(bytes.size() - 5);
    ASSERT_TRUE(os::replace_file(folder_ / "journal" / name, bytes));

    start_again();

    EXPECT_EQ(value_in(own()["data"]["metrics"], "loss"), Json(0.5));
}

TEST_F(RelayTest, TheFirstRunThatAScriptMakesIsItsOwn)
{
    const auto create = [this](JsonObject body) {
        return parse_json(post("runs/create", std::move(body)).body)->operator[]("run");
    };
    const auto first = create({{"experiment_id", "7"}, {"run_name", "mine"}});
    EXPECT_EQ(first["info"].text("run_id"), own_run);
    EXPECT_EQ(first["info"].text("run_name"), "mine");

    const auto second = create({{"experiment_id", "7"}, {"start_time", 77}});
    const auto id = second["info"].text("run_id");
    EXPECT_NE(id, own_run);
    EXPECT_EQ(value_in(second["data"]["tags"], "mlflow.parentRunId"), Json(own_run));
    EXPECT_EQ(
        post("runs/log-metric", {{"run_id", id}, {"key", "m"}, {"value", 3}, {"timestamp", 1}})
            .status,
        200);
    EXPECT_TRUE(own()["data"]["metrics"].is_null());
    EXPECT_TRUE(read_all(folder_ / "journal").points.empty());
    start_again();
    EXPECT_EQ(value_in(get("runs/get", {{"run_id", id}})["run"]["data"]["metrics"], "m"),
              Json(3.0));
}

}  // namespace
}  // namespace ponk::relay
