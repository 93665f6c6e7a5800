// SPDX-License-Identifier: Apache-2.0
// Calls that read never write and never wait for a writer.
#include "api/api_test_support.hpp"
#include "api/mlflow/routes.hpp"
#include "base/text.hpp"
#include "doubles/held_writer.hpp"
#include "store/history/history_access.hpp"

#include <gmock/gmock.h>

namespace ponk::api {
namespace {

class ReadsTest : public ApiFixture {
protected:
    ReadsTest()
    {
        const auto run = submit();
        id_ = run.text("run_id");
        project_ = run.text("project");
        const std::vector<model::MetricPoint> first{{"loss", 0.5, {}, 1, 1}};
        EXPECT_TRUE(history_->log_points(RunId::parse(id_).value(), first));
        EXPECT_TRUE(history_->compact_all());
        const std::vector<model::MetricPoint> newest{{"loss", 0.25, {}, 2, 2}};
        EXPECT_TRUE(history_->log_points(RunId::parse(id_).value(), newest));
    }

    [[nodiscard]] std::vector<std::string> path_of(std::string_view pattern) const
    {
        std::vector<std::string> path;
        for (auto& part : split(pattern.substr(1), '/')) {
            if (part == "{run}") part = id_;
            if (part == "{project}") part = project_;
            path.push_back(part.starts_with('{') ? "something" : std::move(part));
        }
        return path;
    }
    net::Response ask(const std::string& method, std::vector<std::string> path)
    {
        net::Request request;
        request.method = method;
        request.path = std::move(path);
        const std::vector<std::pair<std::string, std::string>> fields{
            {"run_id", id_}, {"run_uuid", id_}, {"metric_key", "loss"}, {"experiment_id", "0"}};
        if (method == "GET") {
            request.query = fields;
        } else {
            JsonObject body{{"experiment_ids", JsonArray{Json("0"), Json("1")}}};
            for (const auto& [key, value] : fields)
                body.set(key, value);
            request.headers = {{"Content-Type", "application/json"}};
            request.body = to_json(body);
        }
        return dispatch(*services_, request);
    }

    std::string id_;
    std::string project_;
};

TEST_F(ReadsTest, EveryCallThatReadsAnswersWhileSomebodyHoldsTheWriter)
{
    const db::HeldWriter held(store::HistoryAccess::database(*history_));

    constexpr std::string_view get = "GET";
    constexpr std::string_view doctor = "/doctor";  // it looks at targets, and takes its time
    int asked = 0;
    for (const auto& route : routes()) {
        const bool reads = route.permission == Permission::read || route.method == get;
        if (!reads || !route.action || route.pattern == doctor) continue;
        // It starts the program itself, which a test is not.
        if (route.pattern == std::string_view("/samples")) continue;
        auto path = path_of(route.pattern);
        path.insert(path.begin(), {"api", "v1"});
        auto answer = ask(route.method, path);
        EXPECT_NE(answer.status, 500) << route.method << " " << route.pattern;
        drain(std::move(answer));
        ++asked;
    }
    for (const auto& route : mlflow::routes()) {
        if (route.permission != Permission::read || !route.action) continue;
        EXPECT_NE(ask(route.method, path_of(route.pattern)).status, 500) << route.pattern;
        ++asked;
    }
    EXPECT_GT(asked, 60);
}

TEST_F(ReadsTest, ACheckOfALogTellsOfDamageWhileSomebodyHoldsTheWriter)
{
    const auto log = engine_->context().log_of(RunId::parse(id_).value()).path;
    ASSERT_TRUE(os::replace_file(log, "another text\n"));
    const db::HeldWriter held(store::HistoryAccess::database(*history_));

    EXPECT_FALSE(body(call("GET", {"runs", id_, "log", "check"}))["problem"].is_null());
}

TEST_F(ReadsTest, SeeTheNewestPointsWhileSomebodyHoldsTheWriter)
{
    const db::HeldWriter held(store::HistoryAccess::database(*history_));

    EXPECT_THAT(drain(call("GET", {"runs", id_})), testing::HasSubstr("0.25"));
    EXPECT_THAT(drain(call("GET", {"runs", id_, "metrics"})), testing::HasSubstr("0.25"));
    EXPECT_THAT(drain(call("GET", {"export"})), testing::HasSubstr("0.25"));
    EXPECT_THAT(drain(call("GET", {"runs"}, {{"filter", "metrics.loss < 0.3"}}, {})),
                testing::HasSubstr(id_));
    const std::vector<std::string> api{"api", "2.0", "mlflow"};
    const auto below = [&api](std::initializer_list<std::string> more) {
        auto path = api;
        path.insert(path.end(), more);
        return path;
    };
    EXPECT_THAT(ask("GET", below({"runs", "get"})).body, testing::HasSubstr("0.25"));
    EXPECT_THAT(ask("GET", below({"metrics", "get-history"})).body, testing::HasSubstr("0.25"));
    EXPECT_THAT(ask("POST", below({"runs", "search"})).body, testing::HasSubstr("0.25"));
}

}  // namespace
}  // namespace ponk::api
