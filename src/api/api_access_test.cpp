// SPDX-License-Identifier: Apache-2.0
// Who may ask what, through which listener: the whole table of routes, with each kind of caller.
#include "api/api_test_support.hpp"
#include "api/mlflow/routes.hpp"
#include "store/tracking/tracking.hpp"

#include <fmt/format.h>

namespace ponk::api {
namespace {

class ApiAccess : public ApiFixture {};

// Who asks, and how far that gets them.
struct Caller {
    const char* name;
    net::ListenerKind listener_kind;
    net::Headers headers;
    std::optional<Permission> reach;  // none: nothing but what is open to all
    bool changes_nothing = false;     // reads only
};

TEST_F(ApiAccess, NobodyReachesARouteWithoutItsPermission)
{
    const auto tokens = std::move(*Tokens::open(root_ / "home"));
    services_->tokens = tokens.get();
    const auto bearer = [](const std::string& token) {
        return std::pair<std::string, std::string>("Authorization", "Bearer " + token);
    };
    const auto reader = bearer(*tokens->create("r", Role::read, std::nullopt));
    const auto writer = bearer(*tokens->create("w", Role::write, std::nullopt));
    const auto promoter = bearer(*tokens->create("p", Role::promote, std::nullopt));
    const auto keeper = bearer(*tokens->create("a", Role::administer, std::nullopt));
    const auto sessions = std::move(*Sessions::open(root_ / "home", *tokens));
    services_->sessions = sessions.get();
    const auto owners_page = bearer(sessions->create({})->text);
    const auto token_of_reader = *tokens->create("r2", Role::read, std::nullopt);
    const auto readers_page =
        bearer(sessions->create({.token = token_of_reader, .peer = "", .agent = ""})->text);
    const auto token_of_keeper = *tokens->create("a2", Role::administer, std::nullopt);
    const auto keepers_page =
        bearer(sessions->create({.token = token_of_keeper, .peer = "", .agent = ""})->text);
    const std::pair<std::string, std::string> here("Host", "localhost:23457");
    using enum net::ListenerKind;
    using enum Permission;
    const Caller callers[] = {
        {"owner", unix_socket, {}, owner},
        {"owner from a page", unix_socket, {{"Origin", "http://evil.example"}}, owner},
        {"no token", loopback, {here}, {}},
        {"wrong token", loopback, {here, bearer("ponk_0")}, {}},
        {"empty token", loopback, {here, bearer("")}, {}},
        {"reader", loopback, {here, reader}, read},
        {"writer", loopback, {here, writer}, write},
        {"promoter", loopback, {here, promoter}, promote},
        {"keeper", loopback, {here, keeper}, administer},
        {"page of the owner", loopback, {here, owners_page}, owner},
        {"page of a keeper", loopback, {here, keepers_page}, administer},
        {"page of a reader", loopback, {here, readers_page}, read},
        {"page of nobody", loopback, {here, bearer("ponk_session_0")}, {}},
        {"page of a reader from afar", network, {{"Host", "team.example"}, readers_page}, read},
        {"foreign page with a session",
         loopback,
         {here, owners_page, {"Origin", "http://evil.example"}},
         owner,
         true},
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
    struct Way {
        std::string method;
        std::string address;
        Permission permission;
    };
    std::vector<Way> ways;
    for (const auto& table : route_tables()) {
        for (const auto& prefix : table.prefixes) {
            for (const auto& route : table.routes)
                ways.push_back({route.method, prefix + route.pattern, route.permission});
        }
    }
    for (const auto& route : mlflow::routes())
        ways.push_back({route.method, route.pattern, route.permission});
    std::size_t walked = 0;
    for (const auto& way : ways) {
        for (const auto& caller : callers) {
            net::Request request;
            request.method = way.method;
            for (const auto& part : std::filesystem::path(way.address).relative_path())
                request.path.push_back(part.native().starts_with("{") ? "none" : part.native());
            request.listener_kind = caller.listener_kind;
            request.headers = caller.headers;
            const bool reads = request.method == "GET";
            if (way.permission == login) continue;  // the next test
            const bool may =
                way.permission == open || (caller.reach && *caller.reach >= way.permission &&
                                           (reads || !caller.changes_nothing));
            const auto what = fmt::format("{}: {} {}", caller.name, way.method, way.address);
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
    EXPECT_GT(walked, 2000U);
    EXPECT_FALSE(stopped_);
}

TEST_F(ApiAccess, StrangersLearnNothingAboutAddresses)
{
    net::Request request;
    request.method = "POST";
    request.listener_kind = net::ListenerKind::network;
    request.path = {"api", "2.0", "mlflow", "nothing"};
    const auto stranger = dispatch(*services_, request);
    EXPECT_EQ(stranger.status, 401);
    EXPECT_EQ(body(stranger).text("error_code"), "UNAUTHENTICATED");
    EXPECT_EQ(stranger.headers.at(0).first, "WWW-Authenticate");
    request.listener_kind = net::ListenerKind::unix_socket;
    const auto owner = dispatch(*services_, request);
    EXPECT_EQ(owner.status, 404);
    EXPECT_EQ(body(owner).text("error_code"), "ENDPOINT_NOT_FOUND");
}

TEST_F(ApiAccess, TheProjectOfAFolderIsDeletedRestoredAndRenamedByThoseWhoAdminister)
{
    const auto tokens = std::move(*Tokens::open(root_ / "home"));
    services_->tokens = tokens.get();
    const auto writer = *tokens->create("w", Role::promote, std::nullopt);
    const auto keeper = *tokens->create("a", Role::administer, std::nullopt);
    const auto ask =
        [this](const std::string& token, std::vector<std::string> path, const JsonObject& fields) {
            net::Request request;
            request.method = "POST";
            request.path = std::move(path);
            request.listener_kind = net::ListenerKind::loopback;
            request.headers = {{"Host", "localhost"},
                               {"Content-Type", "application/json"},
                               {"Authorization", "Bearer " + token}};
            request.body = to_json(fields);
            return dispatch(*services_, request);
        };
    const auto experiments = [](const std::string& call) {
        return std::vector<std::string>{"api", "2.0", "mlflow", "experiments", call};
    };
    store::Tracking tracking(*history_);
    const auto made = std::to_string(*tracking.create_experiment("made", "", {}));
    model::Run run;
    run.id = RunId::make();
    run.project = "p1";
    run.project_path = "/p1";
    run.script_name = "train.py";
    run.target = "local";
    ASSERT_TRUE(history_->create_run(run));
    const auto folder = std::to_string(tracking.find_place(run.id).value()->experiment);
    const auto deleted = [&] {
        return tracking.get_experiment(std::stoll(folder)).value().deleted;
    };

    for (const auto* call : {"delete", "restore", "update"}) {
        EXPECT_EQ(
            ask(writer, experiments(call), {{"experiment_id", made}, {"new_name", "n"}}).status,
            200)
            << call;
        const auto refusal =
            ask(writer, experiments(call), {{"experiment_id", folder}, {"new_name", "m"}});
        EXPECT_EQ(refusal.status, 403) << call;
        EXPECT_EQ(body(refusal).text("error_code"), "PERMISSION_DENIED");
        EXPECT_NE(body(refusal).text("message").find("the project of a folder"), std::string::npos)
            << refusal.body;
    }
    EXPECT_FALSE(deleted());

    EXPECT_EQ(ask(keeper, experiments("delete"), {{"experiment_id", folder}}).status, 200);
    EXPECT_TRUE(deleted());
    const auto name = tracking.get_experiment(std::stoll(folder)).value().name;
    const std::vector<std::string> restore = {"api", "v1", "experiments", "restore"};
    EXPECT_EQ(ask(writer, restore, {{"name", name}}).status, 403);
    EXPECT_EQ(ask(keeper, restore, {{"name", name}}).status, 200);
    EXPECT_FALSE(deleted());
}

TEST_F(ApiAccess, HealthAndVersionAreForEverybody)
{
    for (const char* path : {"health", "version"}) {
        net::Request request;
        request.method = "HEAD";
        request.listener_kind = net::ListenerKind::network;
        request.path = {path};
        EXPECT_EQ(dispatch(*services_, request).status, 200);
    }
}

TEST_F(ApiAccess, TheDaemonIsPinnedForThoseWhoCannotStartIt)
{
    EXPECT_EQ(call("POST", {"daemon", "pin"}).status, 503);
    const auto tokens = std::move(*Tokens::open(root_ / "home"));
    Endpoints endpoints(root_ / "home");
    endpoints.tracking_uri = "http://127.0.0.1:23457";
    services_->tokens = tokens.get();
    services_->endpoints = &endpoints;

    const auto answer = body(call("POST", {"daemon", "pin"}));

    EXPECT_EQ(answer.text("tracking_uri"), "http://127.0.0.1:23457");
    EXPECT_EQ(tokens->role_of(answer.text("token")), Role::promote);
    const auto about = body(call("GET", {"daemon"}));
    EXPECT_EQ(about.text("tracking_uri"), "http://127.0.0.1:23457");
    EXPECT_TRUE(about.boolean("pinned"));
    EXPECT_EQ(call("POST", {"daemon", "stop"}).status, 200);
    EXPECT_TRUE(endpoints.note().pinned);  // who replaces it keeps the pin
    EXPECT_EQ(call("POST", {"daemon", "stop"}, JsonObject{{"unpin", true}}).status, 200);
    EXPECT_FALSE(endpoints.note().pinned);
}

TEST_F(ApiAccess, TokensAreMadeListedAndRemoved)
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
