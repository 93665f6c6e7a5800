// SPDX-License-Identifier: Apache-2.0
#include "api/api_test_support.hpp"
#include "api/native/run_json.hpp"
#include "os/golden_test_support.hpp"

#include <gtest/gtest.h>

#include <cstdlib>
#include <fcntl.h>
#include <filesystem>
#include <fstream>
#include <set>
#include <thread>

namespace ponk::api {
namespace {

class Api : public ApiFixture {};

TEST_F(Api, EveryRouteAnswersAndNoTwoAreAlike)
{
    const auto tokens = std::move(*Tokens::open(root_ / "home"));
    Endpoints endpoints(root_ / "home");
    endpoints.tracking_uri = endpoints.plain_uri = "http://127.0.0.1:1";
    const auto sessions = std::move(*Sessions::open(root_ / "home", *tokens));
    LoginCodes codes([] { return std::int64_t{0}; });
    const SignedAddresses addresses;
    services_->tokens = tokens.get();
    services_->sessions = sessions.get();
    services_->codes = &codes;
    services_->addresses = &addresses;
    services_->endpoints = &endpoints;
    std::set<std::string> seen;
    for (const auto& route : routes()) {
        // It starts the program itself, which a test is not.
        if (route.pattern == std::string_view("/samples")) continue;
        EXPECT_TRUE(seen.insert(std::string(route.method) + " " + route.pattern).second);
        EXPECT_NE(route.action, nullptr);
        std::vector<std::string> path;
        for (const auto& part : std::filesystem::path(route.pattern).relative_path())
            path.push_back(part.native().starts_with("{") ? "none" : part.native());
        const auto response = call(route.method, path);
        EXPECT_NE(response.status, 405) << route.pattern;
        EXPECT_LT(response.status, 500) << route.method << " " << route.pattern << response.body;
    }
    EXPECT_TRUE(stopped_);
}

TEST_F(Api, WhatIsNotThereIsSaid)
{
    EXPECT_EQ(call("GET", {"nothing"}).status, 404);
    EXPECT_EQ(call("PUT", {"runs"}).status, 405);
    EXPECT_EQ(call("GET", {"runs", "ffffffff"}).status, 404);
    EXPECT_EQ(call("POST", {"runs"}, JsonArray()).status, 400);
    EXPECT_EQ(call("POST", {"runs"}, JsonObject{{"run_id", "../x"}}).status, 400);
    net::Request outside;
    outside.method = "GET";
    outside.path = {"daemon"};
    EXPECT_EQ(dispatch(*services_, outside).status, 404);
}

TEST_F(Api, ARunIsSubmittedWaitedForAndRead)
{
    const auto run = submit();

    EXPECT_EQ(run.text("status"), "Completed");
    const auto id = run.text("run_id");
    EXPECT_EQ(drain(call("GET", {"runs", id, "log"})), "the key is hunter2-hunter2\n");
    EXPECT_EQ(body(call("GET", {"runs", "last"})).text("run_id"), id);
    EXPECT_EQ(body(call("GET", {"runs"}))["runs"].as_array().size(), 1U);
    EXPECT_NE(drain(call("GET", {"runs", id, "events"})).find("Completed"), std::string::npos);
    EXPECT_EQ(call("POST", {"runs", id, "cancel"}).status, 409);
}

TEST_F(Api, HolesOfALogAreServedToNobodyButWhoAsksForRawBytes)
{
    const auto id = submit().text("run_id");
    const auto log = executor::RunDirectory(root_ / "home/runs" / id).task() / "log";
    const auto first = os::read_file(log).value();
    std::filesystem::resize_file(log, 3 << 20);
    std::ofstream(log, std::ios::app) << "after";

    const auto from = [&](std::size_t offset, const char* raw) {
        return drain(call("GET",
                          {"runs", id, "log"},
                          {{"offset", std::to_string(offset)}, {"raw", raw}},
                          Json()));
    };
    const auto served = from(0, "");
    // What the file system took for written: the rest of the last page, or all where it knows no
    // holes.
    const auto file = os::open_file(log, O_RDONLY).value();
    const auto hole = os::hole_from(file.get(), 0, 3 << 20);
    EXPECT_EQ(served.size(), hole + ((3U << 20U) + 5 - os::data_from(file.get(), hole, 3 << 20)));
    EXPECT_TRUE(served.starts_with(first) && served.ends_with("after"));
    for (const auto at : {first.size() - 2, served.size() - 5, served.size() - 2, served.size()})
        EXPECT_EQ(from(at, ""), served.substr(at)) << at;
    EXPECT_EQ(from(0, "1").size(), (3U << 20U) + 5);
}

TEST_F(Api, SecretsOfARunAreMaskedUnlessItsOwnerAsks)
{
    ASSERT_EQ(call("PUT", {"secrets", "KEY"}, JsonObject{{"value", "hunter2-hunter2"}}).status,
              200);
    const auto id = submit(JsonObject{{"K", "secret:KEY"}}).text("run_id");

    EXPECT_EQ(drain(call("GET", {"runs", id, "log"})), "the key is ***\n");
    EXPECT_EQ(drain(call("GET", {"runs", id, "artifacts", "driver_log"})), "the key is ***\n");
    EXPECT_EQ(to_json(body(call("GET", {"runs", id}))).find("hunter2"), std::string::npos);
    EXPECT_EQ(call("GET", {"secrets"}).body.find("hunter2"), std::string::npos);
}

TEST_F(Api, VerdictsOnGpusAreToldAndFiltered)
{
    const auto id = *RunId::parse(submit().text("run_id"));
    submit();
    const Json evidence = JsonObject{{"phase", "ended"}, {"reason", "nobody was there"}};
    auto gpu = evidence;
    gpu.as_object().set("verdict", "cpu-fallback");
    ASSERT_TRUE(history_->update_run(id, {.gpu = gpu}));

    const auto run = body(call("GET", {"runs", id.text()}));
    const auto listed = body(call("GET", {"runs"}, {{"gpu", "cpu-fallback"}}, {}));

    EXPECT_EQ(run.text("gpu_verdict"), "cpu-fallback");
    EXPECT_TRUE(run["gpu_evidence"] == evidence);
    ASSERT_EQ(listed["runs"].as_array().size(), 1U);
    EXPECT_EQ(listed["runs"].as_array()[0].text("run_id"), id.text());
    EXPECT_EQ(call("GET", {"runs"}, {{"gpu", "passed"}}, {}).status, 400);
}

TEST_F(Api, MetricsAreFoundByTheBeginningOfTheirNames)
{
    const auto id = *RunId::parse(submit().text("run_id"));
    std::vector<model::MetricPoint> points;
    for (const char* key : {"loss", "system", "system.x", "zeta"})
        points.push_back({.key = key, .value = 1});
    for (int i = 0; i < 700; ++i)
        points.push_back({.key = fmt::format("system/gpu.{:03}.power", i), .value = 1});
    ASSERT_TRUE(history_->record_metrics(id, {"side", 0, 9, points}));

    const auto metrics = [&](const char* prefix) {
        const auto text =
            drain(call("GET", {"runs", id.text(), "metrics"}, {{"prefix", prefix}}, {}));
        return parse_json(text).value()["metrics"].as_object().size();
    };

    EXPECT_EQ(metrics("system/"), 700U);
    EXPECT_EQ(metrics("system/gpu.1"), 100U);
    EXPECT_EQ(metrics("none"), 0U);
    EXPECT_EQ(metrics(""), 704U);
}

TEST_F(Api, PointsThatAreKnownAlreadyAreNotSentAgain)
{
    const auto id = *RunId::parse(submit().text("run_id"));
    std::vector<model::MetricPoint> points;
    for (int i = 0; i < 5; ++i)
        points.push_back({.key = "loss", .value = 0.5, .step = i});
    ASSERT_TRUE(history_->record_metrics(id, {"side", 0, 9, points}));

    const auto steps = [&](const char* from) {
        const auto text = drain(
            call("GET", {"runs", id.text(), "metrics"}, {{"key", "loss"}, {"from", from}}, {}));
        std::string all;
        const auto answer = parse_json(text).value();
        for (const auto& point : answer["metrics"]["loss"]["points"].as_array())
            all += to_json(point.as_array()[0]);
        return all;
    };

    EXPECT_EQ(steps("0"), "01234");
    EXPECT_EQ(steps("3"), "34");
    EXPECT_EQ(steps("5"), "");
    EXPECT_EQ(steps("99"), "");
    const auto refused = [&](std::vector<std::pair<std::string, std::string>> parameters) {
        return call("GET", {"runs", id.text(), "metrics"}, std::move(parameters), {}).status;
    };
    EXPECT_EQ(refused({{"from", "1"}}), 400);
    EXPECT_EQ(refused({{"key", "loss"}, {"from", "-1"}}), 400);
    EXPECT_EQ(refused({{"key", "loss"}, {"from", "1"}, {"points", "9"}}), 400);
}

TEST(RunJson, LooksAsDocumented)
{
    model::Run run;
    run.id = *RunId::parse("0199aaaabbbb7ccc8dddeeeeffff0001");
    run.number = 4;
    run.project = "p";
    run.project_path = "/home/ann/mnist";
    run.state = model::RunState::failed;
    run.exit_code = 139;
    run.script_name = "train.py";
    run.arguments = {"--epochs", "3"};
    run.target = run.target_type = run.run_configuration = "local";
    run.framework = "Python";
    run.user = "ann";
    run.host = "box";
    run.created = 1'700'000'000'000;
    run.started = 1'700'000'000'100;
    run.ended = 1'700'000'005'223;
    run.timings = {{"run", 5123}};
    run.error = Error(ErrorKind::timeout, "the time limit of 5 s was reached", "Raise it.");
    run.evidence = JsonObject{{"signal", 11}};
    run.gpu = JsonObject{{"phase", "ended"},
                         {"requested", "all"},
                         {"required", false},
                         {"devices", JsonArray()},
                         {"verdict", "idle"},
                         {"reason", "processes of the run held 2.0 GiB"},
                         {"evidence", JsonObject{{"samples", 9}}},
                         {"enforced", ""}};
    run.tags = {{"k", "v"}, {"param.lr", "0.1"}};
    constexpr auto list = model::MetricPoint::Form::list;
    const std::vector<model::MetricPoint> two{{"curve", 3}, {"curve", 2}};
    const std::vector<store::LatestMetric> metrics{
        {{"loss", 0.5, std::nullopt, 7, 0}, 8},
        {{"curve", 2, std::nullopt, 1, 0, list}, 2, {}, two},
        {{"long", 9, std::nullopt, 999, 0, list}, 1000},
        {{"status", 1.0, std::nullopt, 0, 0}, 1}};

    const auto text = to_json(run_json(run, metrics, "mnist"), JsonStyle::pretty) + "\n";

    os::expect_golden(PONK_SOURCE_DIR "/tests/golden/api/run.json", text);
}

TEST_F(Api, RunsAreSearchedPageByPage)
{
    std::vector<std::string> ids;
    for (int i = 0; i < 3; ++i) {
        model::Run run;
        run.id = RunId::make();
        run.project = "p";
        run.script_name = "a.py";
        run.name = std::to_string(i);
        ASSERT_TRUE(history_->create_run(run));
        ASSERT_TRUE(history_->record_metrics(run.id, {"m", 0, 1, {{"loss", 1.0 - i, {}, 0, 0}}}));
    }
    JsonObject search{{"filter", "metrics.loss < 1"},
                      {"order_by", JsonArray{"metrics.loss"}},
                      {"project", "p"},
                      {"limit", 1}};
    const auto first = body(call("POST", {"runs", "search"}, search));
    ASSERT_EQ(first["runs"].as_array().size(), 1U);
    EXPECT_EQ(first["runs"].as_array()[0].text("name"), "2");
    search.set("page", first.text("next"));
    const auto second = body(call("POST", {"runs", "search"}, search));
    ASSERT_EQ(second["runs"].as_array().size(), 1U);
    EXPECT_EQ(second["runs"].as_array()[0].text("name"), "1");
    EXPECT_TRUE(second["next"].is_null());
}

TEST_F(Api, AWrongSearchIsToldWithItsPlace)
{
    const JsonObject wrong[] = {{{"filter", "metrics.loss > 'x'"}},
                                {{"order_by", JsonArray{"metrics.loss up"}}},
                                {{"order_by", "metrics.loss"}},
                                {{"order_by", JsonArray{1}}},
                                {{"page", "x"}},
                                {{"limit", 0}},
                                {{"limit", "1"}},
                                {{"limit", 1.5}},
                                {{"hidden", "1"}},
                                {{"hidden", 1}},
                                {{"filter", JsonArray{"metrics.loss < 1"}}},
                                {{"filter", 1}},
                                {{"page", 1}},
                                {{"project", 1}},
                                {{"script", JsonArray{"a.py"}}},
                                {{"target", JsonObject()}},
                                {{"gpu", true}},
                                {{"state", JsonArray{"Failed"}}},
                                {{"state", "Done"}}};
    for (const auto& search : wrong)
        EXPECT_EQ(call("POST", {"runs", "search"}, search).status, 400) << to_json(search);
    EXPECT_NE(call("POST", {"runs", "search"}, wrong[0]).body.find("filter at column 16"),
              std::string::npos);
    EXPECT_NE(call("POST", {"runs", "search"}, JsonObject{{"page", 1}}).body.find("'page'"),
              std::string::npos);
    const JsonObject right{{"hidden", true}, {"filter", Json()}, {"limit", 1}, {"state", Json()}};
    EXPECT_EQ(call("POST", {"runs", "search"}, right).status, 200);
}

}  // namespace
}  // namespace ponk::api
