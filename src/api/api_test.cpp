// SPDX-License-Identifier: Apache-2.0
#include "api/router.hpp"
#include "api/run_json.hpp"
#include "os/file.hpp"
#include "target/fake/fake_executor.hpp"

#include <gtest/gtest.h>

#include <cstdlib>
#include <fcntl.h>
#include <filesystem>
#include <fstream>
#include <set>
#include <thread>

namespace ponk::api {
namespace {

using namespace std::chrono_literals;

// A daemon without its socket: real history and store, the machine below made of threads.
class Api : public testing::Test {
protected:
    Api() : root_(*os::make_temporary_directory(testing::TempDir(), "ponk-api-"))
    {
        std::filesystem::create_directories(root_ / "project");
        static_cast<void>(os::replace_file(root_ / "project" / "ok.py", "x"));
        history_ = std::move(*store::History::open(root_ / "home" / "history"));
        objects_.emplace(std::move(*snapshot::ObjectStore::open(root_ / "home" / "store")));
        secrets_.emplace(root_ / "home", secrets::Secrets::Keyring::never);
        target::fake::Options options;
        options.scripts["ok.py"] = [](target::fake::Process& process) {
            process.write("the key is hunter2-hunter2\n");
            return 0;
        };
        executors_.emplace("local", target::fake::make_executor(std::move(options)));
        engine_.emplace(engine::Context{
            root_ / "home", *history_, *objects_, *secrets_, executors_, notifier_});
        services_.emplace(
            Services{*engine_, "socket", 0, [this](const std::string&) { stopped_ = true; }});
    }
    ~Api() override
    {
        engine_.reset();
        executors_.clear();
        history_.reset();
        static_cast<void>(os::remove_tree(root_));
    }

    net::Response
    call(const std::string& method, std::vector<std::string> path, const Json& body = {})
    {
        return call(method, std::move(path), {}, body);
    }
    net::Response call(const std::string& method,
                       std::vector<std::string> path,
                       std::vector<std::pair<std::string, std::string>> query,
                       const Json& body)
    {
        net::Request request;
        request.method = method;
        request.path = {"api", "v1"};
        request.path.insert(request.path.end(), path.begin(), path.end());
        request.query = std::move(query);
        if (!body.is_null()) request.body = to_json(body);
        return dispatch(*services_, request);
    }
    Json body(const net::Response& response) { return parse_json(response.body).value_or(Json()); }

    // Everything that a streamed answer gives.
    static std::string drain(net::Response response)
    {
        std::string all = response.body;
        if (!response.stream) return all;
        response.stream->attach([] {});
        for (;;) {
            std::string piece;
            const auto step = response.stream->next(piece);
            all += piece;
            if (step == net::BodySource::Step::end || step == net::BodySource::Step::broken)
                return all;
            if (step == net::BodySource::Step::waiting) std::this_thread::sleep_for(2ms);
        }
    }

    Json submit(const Json& variables = JsonObject())
    {
        const auto id = RunId::make().text();
        const Json wish = JsonObject{{"run_id", id},
                                     {"project", (root_ / "project").native()},
                                     {"script", "ok.py"},
                                     {"environment", JsonArray{Json("PATH=/usr/bin")}},
                                     {"variables", variables}};
        const auto made = call("POST", {"runs"}, wish);
        EXPECT_EQ(made.status, 201) << made.body;
        return *parse_json(drain(call("GET", {"runs", id, "wait"})));
    }

    os::Path root_;
    bool stopped_ = false;
    std::unique_ptr<store::History> history_;
    std::optional<snapshot::ObjectStore> objects_;
    std::optional<secrets::Secrets> secrets_;
    std::map<std::string, std::unique_ptr<target::Executor>> executors_;
    engine::Notifier notifier_;
    std::optional<engine::Engine> engine_;
    std::optional<Services> services_;
};

TEST_F(Api, EveryRouteAnswersAndNoTwoAreAlike)
{
    const auto tokens = std::move(*Tokens::open(root_ / "home"));
    Doors doors(root_ / "home");
    doors.tracking_uri = "http://127.0.0.1:1";
    services_->tokens = tokens.get();
    services_->doors = &doors;
    std::set<std::string> seen;
    for (const auto& route : routes()) {
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
    const auto log = root_ / "home/runs" / id / "log";
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
    const std::vector<store::LatestMetric> metrics{{{"loss", 0.5, std::nullopt, 7, 0}, 8},
                                                   {{"curve", 2, std::nullopt, 1, 0, list}, 2, two},
                                                   {{"long", 9, std::nullopt, 999, 0, list}, 1000},
                                                   {{"status", 1.0, std::nullopt, 0, 0}, 1}};

    const auto text = to_json(run_json(run, metrics), JsonStyle::pretty) + "\n";

    const os::Path golden = PONK_SOURCE_DIR "/tests/golden/api/run.json";
    if (std::getenv("PONK_ACCEPT") != nullptr)
        static_cast<void>(os::replace_file(golden, text, 0644));
    EXPECT_EQ(text, os::read_file(golden).value_or(""));
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

// Who asks, and how far that gets them.
struct Caller {
    const char* name;
    net::Door door;
    net::Headers headers;
    std::optional<Permission> reach;  // none: nothing but what is open to all
    bool changes_nothing = false;     // reads only
};

TEST_F(Api, NobodyReachesARouteWithoutItsPermission)
{
    const auto tokens = std::move(*Tokens::open(root_ / "home"));
    services_->tokens = tokens.get();
    const auto bearer = [](const std::string& token) {
        return std::pair<std::string, std::string>("Authorization", "Bearer " + token);
    };
    const auto reader = bearer(*tokens->create("r", Role::read, std::nullopt));
    const auto writer = bearer(*tokens->create("w", Role::write, std::nullopt));
    const auto keeper = bearer(*tokens->create("a", Role::administer, std::nullopt));
    const std::pair<std::string, std::string> here("Host", "localhost:23457");
    using enum net::Door;
    using enum Permission;
    const Caller callers[] = {
        {"owner", unix_socket, {}, administer},
        {"owner from a page", unix_socket, {{"Origin", "http://evil.example"}}, administer},
        {"no token", loopback, {here}, {}},
        {"wrong token", loopback, {here, bearer("ponk_0")}, {}},
        {"empty token", loopback, {here, bearer("")}, {}},
        {"reader", loopback, {here, reader}, read},
        {"writer", loopback, {here, writer}, write},
        {"keeper", loopback, {here, keeper}, administer},
        {"no host", loopback, {keeper}, {}},
        {"foreign host", loopback, {{"Host", "evil.example"}, keeper}, {}},
        {"foreign page",
         loopback,
         {here, keeper, {"Origin", "http://evil.example"}},
         administer,
         true},
        {"sandboxed page", loopback, {here, keeper, {"Origin", "null"}}, administer, true},
        {"cross-site",
         loopback,
         {here, keeper, {"Sec-Fetch-Site", "cross-site"}},
         administer,
         true},
        {"own page", loopback, {here, keeper, {"Origin", "http://localhost:23457"}}, administer},
        {"no token from afar", network, {{"Host", "team.example"}}, {}},
        {"reader from afar", network, {{"Host", "team.example"}, reader}, read},
        {"writer from afar", network, {{"Host", "team.example"}, writer}, write},
        {"keeper from afar", network, {{"Host", "team.example"}, keeper}, administer},
        {"foreign page from afar",
         network,
         {{"Host", "team.example"}, keeper, {"Origin", "https://evil.example"}},
         administer,
         true},
    };
    std::size_t walked = 0;
    for (const auto& table : route_tables()) {
        for (const auto& prefix : table.prefixes) {
            for (const auto& route : table.routes) {
                for (const auto& caller : callers) {
                    net::Request request;
                    request.method = route.method;
                    const auto address = std::filesystem::path(prefix + route.pattern);
                    for (const auto& part : address.relative_path())
                        request.path.push_back(part.native().starts_with("{") ? "none"
                                                                              : part.native());
                    request.door = caller.door;
                    request.headers = caller.headers;
                    const bool reads = request.method == "GET";
                    const bool may = route.permission == open ||
                                     (caller.reach && *caller.reach >= route.permission &&
                                      (reads || !caller.changes_nothing));
                    const auto what = fmt::format(
                        "{}: {} {}{}", caller.name, route.method, prefix, route.pattern);
                    const auto reception = receive(*services_, request);
                    const int status = reception.answer ? reception.answer->status : 200;
                    ++walked;
                    if (may) {
                        EXPECT_TRUE(status != 401 && status != 403) << what;
                        continue;
                    }
                    EXPECT_TRUE(status == 401 || status == 403) << what;
                    EXPECT_EQ(dispatch(*services_, request).status, status) << what;
                }
            }
        }
    }
    EXPECT_GT(walked, 700U);
    EXPECT_FALSE(stopped_);
}

TEST_F(Api, StrangersLearnNothingAboutAddresses)
{
    net::Request request;
    request.method = "POST";
    request.door = net::Door::network;
    request.path = {"api", "2.0", "mlflow", "nothing"};
    const auto stranger = dispatch(*services_, request);
    EXPECT_EQ(stranger.status, 401);
    EXPECT_EQ(body(stranger).text("error_code"), "UNAUTHENTICATED");
    EXPECT_EQ(stranger.headers.at(0).first, "WWW-Authenticate");
    request.door = net::Door::unix_socket;
    const auto owner = dispatch(*services_, request);
    EXPECT_EQ(owner.status, 404);
    EXPECT_EQ(body(owner).text("error_code"), "ENDPOINT_NOT_FOUND");
}

TEST_F(Api, HealthAndVersionAreForEverybody)
{
    for (const char* path : {"health", "version"}) {
        net::Request request;
        request.method = "HEAD";
        request.door = net::Door::network;
        request.path = {path};
        EXPECT_EQ(dispatch(*services_, request).status, 200);
    }
}

TEST_F(Api, TheDaemonIsPinnedForThoseWhoCannotStartIt)
{
    EXPECT_EQ(call("POST", {"daemon", "pin"}).status, 503);
    const auto tokens = std::move(*Tokens::open(root_ / "home"));
    Doors doors(root_ / "home");
    doors.tracking_uri = "http://127.0.0.1:23457";
    services_->tokens = tokens.get();
    services_->doors = &doors;

    const auto answer = body(call("POST", {"daemon", "pin"}));

    EXPECT_EQ(answer.text("tracking_uri"), "http://127.0.0.1:23457");
    EXPECT_EQ(tokens->role_of(answer.text("token")), Role::write);
    const auto about = body(call("GET", {"daemon"}));
    EXPECT_EQ(about.text("tracking_uri"), "http://127.0.0.1:23457");
    EXPECT_TRUE(about.boolean("pinned"));
    EXPECT_EQ(call("POST", {"daemon", "stop"}).status, 200);
    EXPECT_TRUE(doors.note().pinned);  // who replaces it keeps the pin
    EXPECT_EQ(call("POST", {"daemon", "stop"}, JsonObject{{"unpin", true}}).status, 200);
    EXPECT_FALSE(doors.note().pinned);
}

TEST_F(Api, TokensAreMadeListedAndRemoved)
{
    EXPECT_EQ(call("GET", {"tokens"}).status, 503);
    const auto tokens = std::move(*Tokens::open(root_ / "home"));
    services_->tokens = tokens.get();

    const auto made = call("POST", {"tokens"}, JsonObject{{"name", "ci"}, {"role", "read"}});
    EXPECT_EQ(made.status, 201) << made.body;
    EXPECT_EQ(tokens->role_of(body(made).text("token")), Role::read);
    EXPECT_EQ(call("POST", {"tokens"}, JsonObject{{"name", "ci"}, {"role", "read"}}).status, 409);
    for (const JsonObject& wrong : {JsonObject{{"name", "x"}},
                                    JsonObject{{"name", "x"}, {"role", "root"}},
                                    JsonObject{{"name", "a b"}, {"role", "read"}},
                                    JsonObject{{"name", "x"}, {"role", "read"}, {"expires", 1}}})
        EXPECT_EQ(call("POST", {"tokens"}, wrong).status, 400) << to_json(wrong);
    const auto listed = call("GET", {"tokens"});
    EXPECT_EQ(body(listed)["tokens"].as_array().size(), 1U);
    EXPECT_EQ(listed.body.find("ponk_"), std::string::npos);
    EXPECT_EQ(call("DELETE", {"tokens", "ci"}).status, 200);
    EXPECT_EQ(call("DELETE", {"tokens", "ci"}).status, 404);
}

}  // namespace
}  // namespace ponk::api
