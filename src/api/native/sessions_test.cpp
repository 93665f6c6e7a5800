// SPDX-License-Identifier: Apache-2.0
#include "api/api_test_support.hpp"
#include "base/time.hpp"
#include "net/target.hpp"

namespace ponk::api {
namespace {

class NoPage final : public Page {
public:
    [[nodiscard]] Result<net::Response> answer(const net::Request& /*request*/,
                                               std::string_view path) const override
    {
        net::Response response;
        response.body = "page " + std::string(path);
        return response;
    }
    [[nodiscard]] std::string missing() const override { return missing_; }
    std::string missing_;
};

class PageSessions : public ApiFixture {
protected:
    PageSessions()
        : tokens_(std::move(*Tokens::open(root_ / "home"))),
          sessions_(std::move(*Sessions::open(root_ / "home", *tokens_))),
          codes_(boot_milliseconds), endpoints_(root_ / "home")
    {
        endpoints_.plain_uri = "http://127.0.0.1:23457";
        services_->tokens = tokens_.get();
        services_->sessions = sessions_.get();
        services_->codes = &codes_;
        services_->addresses = &addresses_;
        services_->endpoints = &endpoints_;
        services_->page = &page_;
    }
    ~PageSessions() override { services_.reset(); }

    net::Response ask(const std::string& method,
                      const std::string& address,
                      const net::Headers& headers,
                      const Json& body = {})
    {
        net::Request request;
        request.method = method;
        for (const auto& part : std::filesystem::path(address).relative_path())
            request.path.push_back(part.native());
        request.listener_kind = net::ListenerKind::loopback;
        request.headers = {{"Host", "localhost:23457"}};
        request.headers.insert(request.headers.end(), headers.begin(), headers.end());
        if (!body.is_null()) request.body = to_json(body);
        return dispatch(*services_, request);
    }
    static net::Headers bearer(const std::string& text)
    {
        return {{"Authorization", "Bearer " + text}};
    }
    std::string code() { return body(call("POST", {"ui", "codes"})).text("code"); }
    Json log_in(const Json& with, int status = 201)
    {
        const auto answer = ask("POST", "/api/v1/ui/login", {}, with);
        EXPECT_EQ(answer.status, status) << answer.body;
        return body(answer);
    }

    std::unique_ptr<Tokens> tokens_;
    std::unique_ptr<Sessions> sessions_;
    LoginCodes codes_;
    SignedAddresses addresses_;
    Endpoints endpoints_;
    NoPage page_;
};

TEST_F(PageSessions, ACodeOfTheOwnerGivesASessionThatMayDoWhatTheOwnerMay)
{
    const auto made = log_in(JsonObject{{"code", code()}});
    EXPECT_EQ(made.text("role"), "administer");
    EXPECT_TRUE(made.boolean("owner"));
    const auto session = bearer(made.text("session"));
    EXPECT_EQ(ask("GET", "/api/v1/tokens", session).status, 200);
    const auto about = ask("GET", "/api/v1/ui/session", session);
    EXPECT_EQ(body(about).text("id"), made.text("id"));
    EXPECT_EQ(about.body.find("ponk_session_"), std::string::npos);
    const auto listed = body(ask("GET", "/api/v1/ui/sessions", session));
    ASSERT_EQ(listed["sessions"].as_array().size(), 1U);
    EXPECT_TRUE(listed["sessions"].as_array()[0].boolean("current"));
    // Codes are for who has the socket, and logs with secrets, too.
    EXPECT_EQ(ask("POST", "/api/v1/ui/codes", session).status, 403);

    EXPECT_EQ(ask("DELETE", "/api/v1/ui/session", session).status, 200);
    EXPECT_EQ(ask("GET", "/api/v1/ui/session", session).status, 401);
}

TEST_F(PageSessions, ACodeIsForOneUse)
{
    const auto text = code();
    log_in(JsonObject{{"code", text}});
    log_in(JsonObject{{"code", text}}, 401);
    log_in(JsonObject{{"code", "0"}}, 401);
    log_in(JsonObject{{"code", 1}}, 400);
    log_in(JsonObject{}, 400);
}

TEST_F(PageSessions, ATokenGivesASessionOfItsRole)
{
    const auto reader = *tokens_->create("r", Role::read, std::nullopt);
    const auto made = log_in(JsonObject{{"token", reader}});
    EXPECT_EQ(made.text("role"), "read");
    EXPECT_FALSE(made.boolean("owner"));
    EXPECT_EQ(made.text("token"), "r");
    const auto session = bearer(made.text("session"));
    EXPECT_EQ(ask("GET", "/api/v1/runs", session).status, 200);
    EXPECT_EQ(ask("GET", "/api/v1/ui/sessions", session).status, 403);
    EXPECT_EQ(ask("GET", "/api/v1/ui/session", bearer(reader)).status, 404);
    ASSERT_TRUE(tokens_->remove("r"));
    EXPECT_EQ(ask("GET", "/api/v1/runs", session).status, 401);
    log_in(JsonObject{{"token", reader}}, 401);
    // A session is no token from which others could be made.
    const auto owners = log_in(JsonObject{{"code", code()}});
    log_in(JsonObject{{"token", owners.text("session")}}, 401);
}

TEST_F(PageSessions, OtherPagesCannotLogIn)
{
    const auto text = code();
    for (const net::Headers& from : {net::Headers{{"Origin", "http://evil.example"}},
                                     net::Headers{{"Origin", "http://localhost:1"}},
                                     net::Headers{{"Sec-Fetch-Site", "cross-site"}}}) {
        EXPECT_EQ(ask("POST", "/api/v1/ui/login", from, JsonObject{{"code", text}}).status, 403);
    }
    EXPECT_EQ(ask("POST",
                  "/api/v1/ui/login",
                  {{"Origin", "http://localhost:23457"}},
                  JsonObject{{"code", text}})
                  .status,
              201);
}

TEST_F(PageSessions, AnAddressThatIsSignedNeedsNoHeaderAndRunsNothing)
{
    const auto run = submit().text("run_id");
    const auto made = log_in(JsonObject{{"code", code()}});
    const auto session = bearer(made.text("session"));
    const auto sign = [&](const std::string& path, const char* show) {
        return ask(
            "POST", "/api/v1/ui/addresses", session, JsonObject{{"path", path}, {"show", show}});
    };
    const auto fetch = [&](const std::string& text) {
        const auto target = *net::parse_target("/" + text);
        net::Request request;
        request.method = "GET";
        request.path = target.path;
        request.query = target.query;
        request.listener_kind = net::ListenerKind::loopback;
        request.headers = {{"Host", "localhost:23457"}};
        return dispatch(*services_, request);
    };
    const auto header = [](const net::Response& response, std::string_view name) {
        for (const auto& [key, value] : response.headers) {
            if (key == name) return value;
        }
        return std::string();
    };
    const auto log = "api/v1/runs/" + run + "/log";
    const auto frame = body(sign(log, "frame")).text("address");
    const auto shown = fetch(frame);
    EXPECT_EQ(shown.status, 200);
    EXPECT_TRUE(header(shown, "Content-Security-Policy").starts_with("sandbox;"));
    EXPECT_EQ(header(shown, "X-Content-Type-Options"), "nosniff");
    const auto stored = fetch(body(sign(log, "download")).text("address"));
    EXPECT_TRUE(header(stored, "Content-Disposition").starts_with("attachment"));
    EXPECT_EQ(fetch(frame + "&raw=1").status, 401);
    EXPECT_EQ(fetch(log).status, 401);

    for (const char* path : {"api/v1/tokens", "api/v1/runs", "api/v1/ui/sessions", "", "x"})
        EXPECT_EQ(sign(path, "frame").status, 400) << path;
    EXPECT_EQ(sign(log, "page").status, 400);
    EXPECT_EQ(ask("DELETE", "/api/v1/ui/session", session).status, 200);
    EXPECT_EQ(fetch(frame).status, 401);
}

TEST_F(PageSessions, ThePageNeedsNoTokenAndALackOfItIsSaid)
{
    EXPECT_EQ(ask("GET", "/", {}).body, "page ");
    EXPECT_EQ(ask("GET", "/assets/a-1.js", {}).body, "page assets/a-1.js");
    EXPECT_EQ(ask("GET", "/favicon.svg", {}).status, 200);
    EXPECT_EQ(ask("GET", "/other", {}).status, 401);
    EXPECT_TRUE(body(call("POST", {"ui", "codes"}))["missing"].is_null());
    page_.missing_ = "there was no Node.js";
    EXPECT_EQ(body(call("POST", {"ui", "codes"})).text("missing"), "there was no Node.js");
}

TEST_F(PageSessions, PromptsAreForTheOneSessionThatWasMadeWithThem)
{
    const auto made = call("POST",
                           {"ui", "codes"},
                           JsonObject{{"prompt", true},
                                      {"environment", JsonArray{Json("SHELL=/bin/sh")}},
                                      {"umask", 7}});
    EXPECT_EQ(made.status, 201) << made.body;
    const auto with = log_in(JsonObject{{"code", body(made).text("code")}});
    EXPECT_TRUE(with.boolean("prompt"));
    const auto right = services_->prompts->right_of(with.text("id"));
    ASSERT_NE(right, nullptr);
    EXPECT_EQ(right->environment, std::vector<std::string>{"SHELL=/bin/sh"});
    EXPECT_EQ(right->umask, 7U);
    const auto shown = body(ask("GET", "/api/v1/ui/session", bearer(with.text("session"))));
    EXPECT_TRUE(shown.boolean("prompt"));

    const auto without = log_in(JsonObject{{"code", code()}});
    EXPECT_FALSE(without.boolean("prompt", true));
    const auto token = *tokens_->create("t", Role::administer, std::nullopt);
    EXPECT_FALSE(log_in(JsonObject{{"token", token}, {"prompt", true}}).boolean("prompt", true));
    EXPECT_EQ(call("POST", {"ui", "codes"}, JsonObject{{"prompt", "yes"}}).status, 400);
    // A session that has ended is forgotten with the next one.
    EXPECT_TRUE(sessions_->remove(with.text("id")));
    const auto another = body(call("POST", {"ui", "codes"}, JsonObject{{"prompt", true}}));
    log_in(JsonObject{{"code", another.text("code")}});
    EXPECT_EQ(services_->prompts->right_of(with.text("id")), nullptr);
}

TEST_F(PageSessions, PromptsKeepNoMoreThanTheyNeed)
{
    const auto log_in_with = [this](JsonArray words) {
        return call("POST",
                    {"ui", "codes"},
                    JsonObject{{"prompt", true}, {"environment", std::move(words)}});
    };
    const auto large = log_in_with({Json("A=" + std::string(std::size_t{1} << 20, 'a'))});
    EXPECT_EQ(large.status, 400);
    EXPECT_NE(large.body.find("1048576"), std::string::npos) << large.body;

    const auto made = log_in_with({Json("HOME=/home/ann"),
                                   Json("PONK_RUN_TOKEN=x"),
                                   Json("PONK_RUN_ID=x"),
                                   Json("MLFLOW_RUN_ID=x"),
                                   Json("MLFLOW_EXPERIMENT_ID=1"),
                                   Json("MLFLOW_TRACKING_TOKEN=x"),
                                   Json("MLFLOW_TRACKING_URI=http://x"),
                                   Json("GPG_TTY=/dev/pts/0"),
                                   Json("SSH_TTY=/dev/pts/0")});
    const auto session = log_in(JsonObject{{"code", body(made).text("code")}});
    const auto right = services_->prompts->right_of(session.text("id"));
    ASSERT_NE(right, nullptr);
    EXPECT_EQ(right->environment,
              (std::vector<std::string>{"HOME=/home/ann", "MLFLOW_TRACKING_URI=http://x"}));
    // The end of the session is that of the right.
    EXPECT_EQ(ask("DELETE", "/api/v1/ui/session", bearer(session.text("session"))).status, 200);
    EXPECT_EQ(services_->prompts->right_of(session.text("id")), nullptr);
}

TEST_F(PageSessions, PromptsAreNotPromisedWhereTheirSocketIsRefused)
{
    const auto made = call("POST", {"ui", "codes"}, JsonObject{{"prompt", true}});
    const auto session = log_in(JsonObject{{"code", body(made).text("code")}});
    net::Request request;
    request.method = "GET";
    request.path = {"api", "v1", "ui", "session"};
    request.headers = bearer(session.text("session"));
    request.headers.emplace_back("Host", "localhost:23457");
    for (const auto& [kind, promised] : {std::pair(net::ListenerKind::loopback, true),
                                         std::pair(net::ListenerKind::network, false)}) {
        request.listener_kind = kind;
        const auto answer = dispatch(*services_, request);
        ASSERT_EQ(answer.status, 200) << answer.body;
        EXPECT_EQ(parse_json(answer.body)->boolean("prompt"), promised);
    }
}

}  // namespace
}  // namespace ponk::api
