// SPDX-License-Identifier: Apache-2.0
// The socket of the page: who may speak, what is told, and how little of it.
#include "api/api_test_support.hpp"
#include "api/native/live_news.hpp"
#include "os/golden_test_support.hpp"

#include <atomic>
#include <set>

namespace ponk::api {
namespace {

using namespace std::chrono_literals;
using Step = net::Dialogue::Step;

class Live : public ApiFixture {
protected:
    Live()
        : tokens_(std::move(*Tokens::open(root_ / "home"))),
          sessions_(std::move(*Sessions::open(root_ / "home", *tokens_)))
    {
        services_->tokens = tokens_.get();
        services_->sessions = sessions_.get();
        // Nothing here waits for a time that a test does not name.
        services_->live->options = {.hello_limit = 1h,
                                    .session_interval = 1h,
                                    .look_interval = 1h,
                                    .run_interval = 0ms,
                                    .list_interval = 0ms,
                                    .points_interval = 0ms};
    }

    LiveSockets::Options& options() { return services_->live->options; }
    std::string owners_session() { return sessions_->create({})->text; }
    std::string session_of(Role role)
    {
        const auto token = *tokens_->create("t", role, std::nullopt);
        return sessions_->create({.token = token, .peer = "", .agent = ""})->text;
    }

    static net::Request request()
    {
        net::Request request;
        request.method = "GET";
        request.path = {"api", "v1", "ui", "live"};
        request.listener_kind = net::ListenerKind::loopback;
        request.headers = {{"Host", "localhost:23457"},
                           {"Upgrade", "websocket"},
                           {"Connection", "Upgrade"},
                           {"Sec-WebSocket-Version", "13"},
                           {"Sec-WebSocket-Key", "dGhlIHNhbXBsZSBub25jZQ=="}};
        return request;
    }
    std::unique_ptr<net::Dialogue> open()
    {
        auto answer = dispatch(*services_, request());
        EXPECT_EQ(answer.status, 101) << answer.body;
        answer.dialogue->attach([this] { ++rings_; });
        return std::move(answer.dialogue);
    }
    std::unique_ptr<net::Dialogue> enter(const std::string& session)
    {
        auto socket = open();
        socket->take(to_json(JsonObject{{"hello", session}}));
        EXPECT_EQ(next(*socket)["hello"].text("session").size(), 16U);
        return socket;
    }
    // Null when there is nothing to say.
    static Json next(net::Dialogue& socket)
    {
        std::string text;
        const auto step = socket.next(text);
        EXPECT_NE(step, Step::end) << socket.closing().reason;
        return step == Step::message ? *parse_json(text) : Json();
    }
    static void expect_end(net::Dialogue& socket, int code, const std::string& word)
    {
        std::string text;
        EXPECT_EQ(socket.next(text), Step::end) << text;
        EXPECT_EQ(socket.closing().code, code);
        EXPECT_NE(socket.closing().reason.find(word), std::string::npos) << socket.closing().reason;
    }
    static void watch(net::Dialogue& socket, const std::string& subject, std::int64_t after = 0)
    {
        socket.take(to_json(JsonObject{{"watch", subject}, {"after", after}}));
    }
    RunId add_run(model::RunState state = model::RunState::running)
    {
        model::Run run;
        run.id = RunId::make();
        run.project = "p";
        run.state = state;
        EXPECT_TRUE(history_->create_run(run));
        return run.id;
    }

    std::unique_ptr<Tokens> tokens_;
    std::unique_ptr<Sessions> sessions_;
    std::atomic<int> rings_{0};
};

TEST_F(Live, IsForPagesOfThisServerAlone)
{
    const std::pair<net::Headers, int> cases[] = {
        {{}, 101},
        {{{"Origin", "http://localhost:23457"}}, 101},
        {{{"Origin", "http://evil.example"}}, 403},
        {{{"Origin", "http://localhost:23458"}}, 403},
        {{{"Origin", "null"}}, 403},
        {{{"Sec-Fetch-Site", "cross-site"}}, 403},
        {{{"Sec-Fetch-Site", "same-site"}}, 403},
    };
    for (const auto& [headers, status] : cases) {
        auto asked = request();
        asked.headers.insert(asked.headers.end(), headers.begin(), headers.end());
        EXPECT_EQ(dispatch(*services_, asked).status, status);
        const auto reception = receive(*services_, asked);
        EXPECT_EQ(reception.answer ? reception.answer->status : 101, status);
    }
    auto asked = request();
    asked.headers.front().second = "evil.example:23457";
    EXPECT_EQ(dispatch(*services_, asked).status, 403);
    // Neither an address nor a header says whose it is.
    asked = request();
    asked.headers.emplace_back("Authorization", "Bearer " + owners_session());
    const auto answer = dispatch(*services_, asked);
    ASSERT_EQ(answer.status, 101);
    answer.dialogue->take(R"({"watch": "runs"})");
    expect_end(*answer.dialogue, 4401, "unknown");
}

TEST_F(Live, SpeaksWithASessionAlone)
{
    const auto token = *tokens_->create("w", Role::write, std::nullopt);
    for (const auto& hello : {std::string("ponk_session_0"), token, std::string()}) {
        const auto socket = open();
        socket->take(to_json(JsonObject{{"hello", hello}}));
        expect_end(*socket, 4401, "unknown or has ended");
        EXPECT_EQ(socket->client(), "");
    }
    const auto reader = enter(session_of(Role::read));
    EXPECT_EQ(reader->client(), "token t");
    EXPECT_EQ(enter(owners_session())->client(), "session of the owner");
}

TEST_F(Live, EndsWithoutAHelloInTime)
{
    options().hello_limit = 0ms;
    expect_end(*open(), 4401, "nobody said");
}

TEST_F(Live, EndsWithItsSessionAndTellsNothingFromThen)
{
    const auto text = session_of(Role::read);
    const auto socket = enter(text);
    watch(*socket, "runs");
    EXPECT_EQ(next(*socket).text("subject"), "runs");
    notifier_.ring_all();
    EXPECT_TRUE(tokens_->remove("t"));
    expect_end(*socket, 4401, "has ended");

    const auto mine = owners_session();
    const auto other = enter(mine);
    EXPECT_TRUE(sessions_->remove(sessions_->find(mine)->session.id));
    watch(*other, "runs");
    expect_end(*other, 4401, "has ended");
}

TEST_F(Live, RefusesWhatItDoesNotUnderstand)
{
    const auto session = owners_session();
    for (const auto* text : {"",
                             "[1]",
                             "{}",
                             "nonsense",
                             R"({"watch": "everything"})",
                             R"({"watch": "run/abcd"})",
                             R"({"watch": 7})",
                             R"({"unwatch": "x"})",
                             "[[[[[[[[[[]]]]]]]]]]"}) {
        const auto socket = enter(session);
        socket->take(text);
        expect_end(*socket, 1008, "");
    }
    options().subjects = 1;
    const auto socket = enter(session);
    watch(*socket, "runs");
    watch(*socket, "runs");
    watch(*socket, "run/" + RunId::make().text());
    expect_end(*socket, 1008, "more than 1 subjects");
}

TEST_F(Live, CountsTheSocketsOfAClient)
{
    options().sockets = 2;
    const auto session = session_of(Role::read);
    auto one = enter(session);
    const auto two = enter(session);
    const auto three = open();
    three->take(to_json(JsonObject{{"hello", session}}));
    expect_end(*three, 1013, "too many");
    static_cast<void>(enter(owners_session()));
    one.reset();
    static_cast<void>(enter(session));
}

TEST_F(Live, TellsWhichRunsHaveChanged)
{
    const auto socket = enter(owners_session());
    const auto run = add_run();
    notifier_.ring(run, engine::News::row);
    EXPECT_EQ(rings_, 0);  // nobody watches
    watch(*socket, "runs");
    const auto first = next(*socket);
    EXPECT_TRUE(first["changed"].is_null());
    EXPECT_TRUE(next(*socket).is_null());

    notifier_.ring(run, engine::News::words);
    EXPECT_EQ(rings_, 0);
    notifier_.ring(run, engine::News::points);
    notifier_.ring(run, engine::News::points);
    EXPECT_EQ(rings_, 1);  // what is known already rings no more
    const auto points = next(*socket);
    EXPECT_EQ(points["changed"], Json(JsonArray{run.text()}));
    EXPECT_TRUE(points.boolean("only_points"));
    EXPECT_TRUE(next(*socket).is_null());

    notifier_.ring(run, engine::News::row);
    EXPECT_FALSE(next(*socket).boolean("only_points", true));
    // What is kept for a page is bounded.
    for (std::size_t i = 0; i <= LiveNews::most_named; ++i)
        notifier_.ring(RunId::make(), engine::News::row);
    EXPECT_TRUE(next(*socket)["changed"].is_null());
    notifier_.ring_all();
    const auto all = next(*socket);
    EXPECT_TRUE(all["changed"].is_null());
    EXPECT_EQ(all.integer("number"), 5);
    socket->take(R"({"unwatch": "runs"})");
    notifier_.ring_all();
    EXPECT_TRUE(next(*socket).is_null());
}

TEST_F(Live, ManyNewsAreOneMessage)
{
    const auto socket = enter(owners_session());
    watch(*socket, "runs");
    EXPECT_FALSE(next(*socket).is_null());
    options().list_interval = 1h;
    options().points_interval = 1h;
    rings_ = 0;
    const auto run = add_run();
    for (int i = 0; i < 1000; ++i) {
        notifier_.ring(run, engine::News::points);
        notifier_.ring_all();
        EXPECT_TRUE(next(*socket).is_null());
    }
    EXPECT_EQ(rings_, 2);
    EXPECT_GT(socket->patience(), 50min);
    options().list_interval = 0ms;
    EXPECT_FALSE(next(*socket).is_null());
    EXPECT_TRUE(next(*socket).is_null());
}

TEST_F(Live, TellsARunFromWhereThePageWas)
{
    const auto socket = enter(owners_session());
    const auto run = add_run();
    const auto subject = "run/" + run.text();
    for (int i = 0; i < 250; ++i)
        EXPECT_TRUE(history_->append_event(run, "notice", "n" + std::to_string(i)));
    watch(*socket, subject, 3);
    const auto first = next(*socket);
    EXPECT_EQ(first.text("state"), "Running");
    EXPECT_EQ(first["events"].as_array().front().integer("seq"), 4);
    EXPECT_TRUE(first.boolean("more"));
    const auto second = next(*socket);
    EXPECT_EQ(second["events"].as_array().front().integer("seq"), first.integer("seq") + 1);
    EXPECT_FALSE(second.boolean("more"));
    EXPECT_TRUE(next(*socket).is_null());

    // Nothing is told when nothing is new.
    notifier_.ring(run);
    EXPECT_TRUE(next(*socket).is_null());
    notifier_.ring(run, engine::News::points);
    EXPECT_EQ(next(*socket).integer("points"), second.integer("points") + 1);
    notifier_.ring(RunId::make(), engine::News::row);
    EXPECT_TRUE(next(*socket).is_null());
    notifier_.ring_all();
    EXPECT_EQ(next(*socket).integer("row"), second.integer("row") + 1);
    const auto log = engine_->context().log_of(run).path;
    EXPECT_TRUE(os::make_directories(log.parent_path(), 0700));
    EXPECT_TRUE(os::replace_file(log, "12345"));
    notifier_.ring(run);
    EXPECT_EQ(next(*socket).integer("log"), 5);

    // Also what nobody rang for, once in a while.
    EXPECT_TRUE(history_->append_event(run, "notice", "last"));
    EXPECT_TRUE(next(*socket).is_null());
    options().look_interval = 0ms;
    const auto last = next(*socket);
    EXPECT_EQ(last["events"].as_array().front().text("text"), "last");
    // A page that comes back with that number has missed nothing and hears nothing twice.
    options().look_interval = 1h;
    const auto again = enter(owners_session());
    watch(*again, subject, second.integer("seq"));
    const auto missed = next(*again);
    EXPECT_EQ(missed["events"], last["events"]);
}

TEST_F(Live, LargeEventsComeInPieces)
{
    const auto socket = enter(owners_session());
    const auto run = add_run();
    for (int i = 0; i < 5; ++i)
        EXPECT_TRUE(history_->append_event(run, "notice", std::string(60'000, 'x')));
    watch(*socket, "run/" + run.text());
    std::size_t messages = 0;
    std::size_t events = 0;
    for (auto message = next(*socket); !message.is_null(); message = next(*socket)) {
        ++messages;
        events += message["events"].as_array().size();
        EXPECT_LT(to_json(message).size(), 200'000U);
    }
    EXPECT_EQ(events, history_->events(run)->size());
    EXPECT_GT(messages, 2U);
}

TEST_F(Live, ARunThatIsGoneEndsItsSubjectAndNoOther)
{
    const auto socket = enter(owners_session());
    const auto gone = "run/" + RunId::make().text();
    const auto run = add_run();
    watch(*socket, gone);
    watch(*socket, "run/" + run.text());
    std::set<std::string> seen;
    for (auto message = next(*socket); !message.is_null(); message = next(*socket))
        seen.insert(message.text("subject") + " " + message["error"].text("kind"));
    EXPECT_EQ(seen, (std::set<std::string>{gone + " not_found", "run/" + run.text() + " "}));
}

TEST_F(Live, TheEngineAndCallsRing)
{
    const auto socket = enter(owners_session());
    watch(*socket, "runs");
    EXPECT_FALSE(next(*socket).is_null());
    const auto run = submit();
    EXPECT_GT(rings_, 0);
    EXPECT_FALSE(next(*socket).boolean("only_points", true));
    while (!next(*socket).is_null()) {
    }
    EXPECT_EQ(call("PATCH", {"runs", run.text("run_id")}, JsonObject{{"name", "new"}}).status, 200);
    EXPECT_FALSE(next(*socket).is_null());
    // Questions change nothing.
    EXPECT_EQ(call("POST", {"runs", "search"}, JsonObject{{"limit", 1}}).status, 200);
    EXPECT_EQ(call("PATCH", {"runs", RunId::make().text()}, JsonObject{}).status, 404);
    EXPECT_TRUE(next(*socket).is_null());
}

TEST_F(Live, SpeaksAsItIsWrittenDown)
{
    const auto socket = open();
    socket->take(to_json(JsonObject{{"hello", owners_session()}}));
    JsonArray all;
    all.push_back(next(*socket));
    all.back().as_object().find("hello")->as_object().set("session", "0123456789abcdef");
    all.back().as_object().find("hello")->as_object().set("version", "1.0.0");
    watch(*socket, "runs");
    all.push_back(next(*socket));
    const auto run = add_run();
    notifier_.ring(run, engine::News::points);
    all.push_back(next(*socket));
    all.back().as_object().set("changed", JsonArray{"00000000000000000000000000000001"});
    watch(*socket, "run/" + run.text());
    all.push_back(next(*socket));
    all.back().as_object().set("subject", "run/00000000000000000000000000000001");
    for (auto& event : all.back().as_object().find("events")->as_array())
        event.as_object().set("time", "2023-11-14T22:13:20.000Z");
    watch(*socket, "run/00000000000000000000000000000002");
    all.push_back(next(*socket));
    os::expect_golden(PONK_SOURCE_DIR "/tests/golden/api/live.json",
                      to_json(std::move(all), JsonStyle::pretty) + "\n");
}

}  // namespace
}  // namespace ponk::api
