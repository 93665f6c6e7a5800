// SPDX-License-Identifier: Apache-2.0
// The page's command prompt: who may open one, what it says, and that nothing of it stays.
#include "api/api_test_support.hpp"
#include "api/native/prompt_place.hpp"
#include "base/base64.hpp"
#include "base/time.hpp"
#include "os/golden_test_support.hpp"

#include <atomic>
#include <csignal>
#include <thread>

namespace ponk::api {
namespace {

using namespace std::chrono_literals;
using Step = net::Dialogue::Step;

class Prompt : public ApiFixture {
protected:
    Prompt()
        : tokens_(std::move(*Tokens::open(root_ / "home"))),
          sessions_(std::move(*Sessions::open(root_ / "home", *tokens_)))
    {
        services_->tokens = tokens_.get();
        services_->sessions = sessions_.get();
        // Nothing here waits for a time that a test does not name.
        services_->prompts->options.hello_limit = 1h;
        services_->prompts->options.session_interval = 20ms;
        services_->prompts->options.grace = 100ms;
        EXPECT_TRUE(history_->put_project(
            {"p1", "project", (root_ / "project").native(), "place", "repository"}));
    }
    ~Prompt() override { services_->prompts->end_all(); }

    Prompts::Options& options() { return services_->prompts->options; }
    std::string allowed_session()
    {
        const auto made = *sessions_->create({});
        auto right = std::make_shared<const PromptRight>(PromptRight{
            {"PATH=/usr/bin:/bin", "SHELL=/bin/sh", "HOME=" + root_.native(), "PS1=prompt> "},
            022});
        services_->prompts->allow(
            made.session.id, std::move(right), [](const std::string&) { return true; });
        return made.text;
    }

    static net::Request request()
    {
        net::Request request;
        request.method = "GET";
        request.path = {"api", "v1", "ui", "prompt"};
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
    static JsonObject hello_of(const std::string& session)
    {
        return {{"hello", session}, {"project", "p1"}, {"columns", 90}, {"rows", 30}};
    }
    std::unique_ptr<net::Dialogue> enter(const std::string& session)
    {
        auto socket = open();
        socket->take(to_json(hello_of(session)));
        EXPECT_EQ(next(*socket)["hello"].text("session").size(), 16U);
        taken_ = 0;
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
    static void type(net::Dialogue& socket, const std::string& text)
    {
        socket.take(to_json(JsonObject{{"input", text}}));
    }
    // What is shown until `word` is, all of it taken at once.
    std::string read_until(net::Dialogue& socket, const std::string& word)
    {
        std::string all;
        const auto deadline = after(60s);
        while (all.find(word) == std::string::npos && Deadline::clock::now() < deadline) {
            std::string text;
            const auto step = socket.next(text);
            if (step == Step::end) break;
            if (step == Step::waiting) {
                std::this_thread::sleep_for(2ms);
                continue;
            }
            const auto message = *parse_json(text);
            if (!message["output"].is_string()) {
                last_ = message;
                break;
            }
            const auto bytes = *from_base64(message.text("output"));
            all += bytes;
            taken_ += static_cast<std::int64_t>(bytes.size());
            socket.take(to_json(JsonObject{{"taken", taken_}}));
        }
        EXPECT_NE(all.find(word), std::string::npos) << all;
        return all;
    }
    static pid_t number_behind(const std::string& text, const std::string& word)
    {
        const auto at = text.rfind(word);
        return at == std::string::npos ? -1 : std::stoi(text.substr(at + word.size()));
    }
    // The word is put together by the shell, so that its echo is another text.
    pid_t pid_of_shell(net::Dialogue& socket)
    {
        type(socket, "echo its\"\"pid=$$'#'\n");
        return number_behind(read_until(socket, "#\r\n"), "itspid=");
    }
    static bool is_gone(pid_t session)
    {
        const auto deadline = after(60s);
        while (members(session) > 0 && Deadline::clock::now() < deadline)
            std::this_thread::sleep_for(2ms);
        return members(session) == 0;
    }
    static std::size_t members(pid_t session)
    {
        const auto living = os::signal_session(session, 0);
        EXPECT_TRUE(living);
        return living.value_or(0);
    }
    // What the socket says of the shell's end; what is shown before is taken.
    Json read_end(net::Dialogue& socket)
    {
        const auto deadline = after(60s);
        while (Deadline::clock::now() < deadline) {
            std::string text;
            const auto step = socket.next(text);
            if (step == Step::end) break;
            if (step == Step::waiting) {
                std::this_thread::sleep_for(2ms);
                continue;
            }
            auto message = *parse_json(text);
            if (!message["ended"].is_null()) return message;
            if (!message["output"].is_string()) continue;
            taken_ += static_cast<std::int64_t>(from_base64(message.text("output"))->size());
            socket.take(to_json(JsonObject{{"taken", taken_}}));
        }
        ADD_FAILURE() << "nobody said that the shell has ended";
        return {};
    }

    std::unique_ptr<Tokens> tokens_;
    std::unique_ptr<Sessions> sessions_;
    std::atomic<int> rings_{0};
    std::int64_t taken_ = 0;  // of the socket that was opened last
    Json last_;
};

TEST_F(Prompt, IsForPagesOfThisServerOnLoopbackAlone)
{
    const std::pair<net::Headers, int> cases[] = {
        {{}, 101},
        {{{"Origin", "http://localhost:23457"}}, 101},
        {{{"Origin", "http://evil.example"}}, 403},
        {{{"Origin", "null"}}, 403},
        {{{"Sec-Fetch-Site", "cross-site"}}, 403},
    };
    for (const auto& [headers, status] : cases) {
        auto asked = request();
        asked.headers.insert(asked.headers.end(), headers.begin(), headers.end());
        EXPECT_EQ(dispatch(*services_, asked).status, status);
    }
    auto asked = request();
    asked.listener_kind = net::ListenerKind::network;
    EXPECT_EQ(dispatch(*services_, asked).status, 403);
    asked = request();
    asked.headers.front().second = "evil.example:23457";
    EXPECT_EQ(dispatch(*services_, asked).status, 403);
}

TEST_F(Prompt, OpensForAnOwnersSessionThatMayAlone)
{
    const auto token = *tokens_->create("t", Role::administer, std::nullopt);
    const auto of_token = *sessions_->create({.token = token, .peer = "", .agent = ""});
    services_->prompts->allow(of_token.session.id,
                              std::make_shared<const PromptRight>(),
                              [](const std::string&) { return true; });
    const std::pair<std::string, int> cases[] = {
        {"ponk_session_0", 4401},
        {token, 4401},
        {"", 4401},
        {of_token.text, 4403},
        {sessions_->create({})->text, 4403},
    };
    for (const auto& [hello, code] : cases) {
        const auto socket = open();
        socket->take(to_json(hello_of(hello)));
        expect_end(*socket, code, "session");
    }
    EXPECT_EQ(enter(allowed_session())->client(), "session of the owner");
}

TEST_F(Prompt, RefusesWhatItDoesNotUnderstand)
{
    const auto session = allowed_session();
    for (const auto* change : {R"({"project": 7})",
                               R"({"columns": 0})",
                               R"({"rows": -1})",
                               R"({"columns": "80"})",
                               R"({"rows": null})"}) {
        auto hello = hello_of(session);
        const auto changed = *parse_json(change);
        for (const auto& [name, value] : changed.as_object())
            hello.set(name, value);
        const auto socket = open();
        socket->take(to_json(hello));
        expect_end(*socket, 1008, "hello");
    }
    auto hello = hello_of(session);
    hello.set("project", "nobody knows it");
    const auto unknown = open();
    unknown->take(to_json(hello));
    expect_end(*unknown, 4404, "no project");

    for (const auto* text : {"",
                             "[1]",
                             "{}",
                             "nonsense",
                             R"({"input": 7})",
                             R"({"taken": -1})",
                             R"({"taken": 1000000})",
                             R"({"columns": 80})",
                             "[[[[[[[[[[]]]]]]]]]]"}) {
        const auto socket = enter(session);
        socket->take(text);
        expect_end(*socket, 1008, "");
    }
    options().hello_limit = 0ms;
    expect_end(*open(), 4401, "nobody said");
}

TEST_F(Prompt, IsAShellInTheFolderOfTheProject)
{
    const auto socket = enter(allowed_session());
    EXPECT_NE(read_until(*socket, "\r\n").find("ponk: python is /"), std::string::npos);
    type(*socket, "pwd; stty size; umask; echo $TERM; echo \"end\"ed\n");
    const auto shown = read_until(*socket, "\nended");
    EXPECT_NE(shown.find((root_ / "project").native() + "\r\n"), std::string::npos) << shown;
    EXPECT_NE(shown.find("30 90\r\n0022\r\nxterm-256color"), std::string::npos) << shown;
    socket->take(R"({"columns": 101, "rows": 41})");
    type(*socket, "stty size\n");
    read_until(*socket, "41 101");
}

TEST_F(Prompt, TellsHowTheShellEnded)
{
    const auto socket = enter(allowed_session());
    type(*socket, "exit 7\n");
    last_ = read_end(*socket);
    EXPECT_EQ(last_["ended"].integer("code"), 7);
    EXPECT_TRUE(last_["ended"]["signal"].is_null());
    expect_end(*socket, 1000, "ended");
}

TEST_F(Prompt, StopsReadingWhileThePageHasNotTakenWhatWasShown)
{
    options().window = 64 * 1024;
    const auto socket = enter(allowed_session());
    const auto pid = pid_of_shell(*socket);
    type(*socket, "yes\n");
    std::int64_t shown = taken_;
    const auto deadline = after(60s);
    while (shown - taken_ < options().window && Deadline::clock::now() < deadline) {
        const auto message = next(*socket);
        if (message.is_null())
            std::this_thread::sleep_for(2ms);
        else
            shown += static_cast<std::int64_t>(from_base64(message.text("output"))->size());
    }
    EXPECT_EQ(shown - taken_, options().window);
    EXPECT_TRUE(next(*socket).is_null());
    // Keys arrive all the same.
    type(*socket, "\x03");
    EXPECT_TRUE(next(*socket).is_null());
    taken_ = shown;
    socket->take(to_json(JsonObject{{"taken", taken_}}));
    type(*socket, "echo aft\"\"er\n");
    read_until(*socket, "after\r\n");
    EXPECT_EQ(pid_of_shell(*socket), pid);
}

TEST_F(Prompt, DropsWhatIsTypedAndNotReadAndSaysSo)
{
    options().most_typed = 64 * 1024;
    const auto socket = enter(allowed_session());
    const auto pid = pid_of_shell(*socket);
    type(*socket, "stty raw -echo; echo raw\"\"ed; sleep 1000; stty sane\n");
    read_until(*socket, "rawed");
    for (int i = 0; i < 30; ++i)
        type(*socket, std::string(8000, 'x'));
    EXPECT_NE(read_until(*socket, "bytes of typed text were dropped").find("ponk: "),
              std::string::npos);
    EXPECT_EQ(members(pid), 2U);  // the shell and what it runs
}

TEST_F(Prompt, TypesWhatAProgramReadsHoweverMuchItIs)
{
    options().most_typed = 64 * 1024;
    const auto socket = enter(allowed_session());
    type(*socket,
         "stty -echo -icanon; echo rea\"\"dy; "
         "for i in 1 2 3 4; do head -c 50000 | wc -c; done; stty sane\n");
    read_until(*socket, "ready\r\n");
    // More than is kept in all, but not at once.
    for (int i = 0; i < 4; ++i) {
        for (int part = 0; part < 10; ++part)
            type(*socket, std::string(5000, 'x'));
        EXPECT_EQ(read_until(*socket, "50000").find("dropped"), std::string::npos);
    }
}

TEST_F(Prompt, AKeyThatInterruptsIsNotBehindWhatWasTyped)
{
    const auto socket = enter(allowed_session());
    const auto pid = pid_of_shell(*socket);
    // Told by who has the terminal by then: a key before that is for the shell.
    type(*socket, "sh -c 'echo sleep\"\"ing; exec sleep 1000'\n");
    read_until(*socket, "sleeping\r\n");
    // More lines than a terminal keeps for a program that does not read.
    for (int i = 0; i < 20; ++i) {
        std::string lines;
        for (int line = 0; line < 100; ++line)
            lines += "echo not this; exit 1\n";
        type(*socket, lines);
    }
    type(*socket, "\x03");
    type(*socket, "echo aft\"\"er\n");
    read_until(*socket, "after\r\n");
    EXPECT_EQ(pid_of_shell(*socket), pid);
}

TEST_F(Prompt, TakesASizeThatIsTooLargeAsTheLargest)
{
    auto hello = hello_of(allowed_session());
    hello.set("columns", 100'000);
    const auto socket = open();
    socket->take(to_json(hello));
    EXPECT_FALSE(next(*socket)["hello"].is_null());
    socket->take(R"({"columns": 5000, "rows": 123456789})");
    type(*socket, "stty size\n");
    read_until(*socket, "500 1000");
}

TEST_F(Prompt, DoesNotStartThePythonOfTheProject)
{
    const auto environment = root_ / "project" / ".venv";
    ASSERT_TRUE(os::make_directories(environment / "bin"));
    ASSERT_TRUE(os::replace_file(environment / "pyvenv.cfg", "home = /usr/bin\n"));
    const auto started = root_ / "started";
    ASSERT_TRUE(os::replace_file(environment / "bin" / "python",
                                 "#!/bin/sh\n: >" + started.native() + "\nsleep 1000\n",
                                 0755));
    const auto socket = open();
    socket->take(to_json(hello_of(allowed_session())));
    EXPECT_EQ(next(*socket)["hello"].text("python"), (environment / "bin" / "python").native());
    EXPECT_NE(read_until(*socket, "\r\n").find("'.venv' of the project"), std::string::npos);
    EXPECT_FALSE(std::filesystem::exists(started));
}

TEST_F(Prompt, SaysTheEndAlthoughSomebodyElseWritesOn)
{
    const auto socket = enter(allowed_session());
    type(*socket, "setsid yes &\n");
    read_until(*socket, "y\r\ny\r\n");
    type(*socket, "exit 3\n");
    EXPECT_EQ(read_end(*socket)["ended"].integer("code"), 3);
}

TEST_F(Prompt, CountsAPlaceFromBeforeItIsUsed)
{
    options().most = 1;
    auto place = services_->prompts->reserve();
    ASSERT_TRUE(place);
    EXPECT_FALSE(services_->prompts->reserve());
    place->reset();
    EXPECT_TRUE(services_->prompts->reserve());
}

TEST_F(Prompt, LetsGoOfWhatItHeldBeforeItsEndIsSeen)
{
    auto held = std::make_shared<const int>(1);
    const std::weak_ptr<const int> seen = held;
    PromptShell::Start start;
    start.command.argv = {"sh", "-c", "exit 4"};
    start.ring = [] {};
    start.may_go_on = [] { return true; };
    start.kept = {std::exchange(held, nullptr)};
    auto place = services_->prompts->reserve();
    ASSERT_TRUE(place);
    const auto shell = *services_->prompts->open(std::move(*place), std::move(start));
    const auto deadline = after(60s);
    while (!shell->exit() && Deadline::clock::now() < deadline)
        std::this_thread::sleep_for(2ms);
    ASSERT_TRUE(shell->exit());
    EXPECT_EQ(shell->exit()->code, 4);
    EXPECT_TRUE(seen.expired());
}

TEST_F(Prompt, RemovesProgramsThatNoPromptHas)
{
    const auto all = root_ / "tools";
    const auto put = [](const os::Path& folder) { return os::make_directories(folder); };
    auto& prompts = *services_->prompts;
    ASSERT_TRUE(os::make_directories(all / "left"));
    auto one = prompts.keep_tools(all, "one", put);
    ASSERT_TRUE(one);
    EXPECT_FALSE(std::filesystem::exists(all / "left"));
    const auto two = prompts.keep_tools(all, "two", put);
    EXPECT_TRUE(std::filesystem::exists(all / "one"));
    one->reset();
    const auto three = prompts.keep_tools(all, "three", put);
    EXPECT_FALSE(std::filesystem::exists(all / "one"));
    EXPECT_TRUE(std::filesystem::exists(all / "two"));
}

TEST_F(Prompt, LeavesNobodyBehind)
{
    const auto session = allowed_session();
    auto socket = enter(session);
    const auto first = pid_of_shell(*socket);
    type(*socket, "(trap '' HUP; sleep 1000) & sleep 1000 & echo both\"\"run\n");
    read_until(*socket, "bothrun");
    EXPECT_GE(members(first), 3U);
    socket.reset();
    EXPECT_TRUE(is_gone(first));

    const auto other = enter(session);
    const auto second = pid_of_shell(*other);
    services_->prompts->end_all();
    EXPECT_EQ(members(second), 0U);
    const auto late = open();
    late->take(to_json(hello_of(session)));
    expect_end(*late, 1011, "ends");
}

TEST_F(Prompt, EndsWithItsSession)
{
    const auto text = allowed_session();
    const auto socket = enter(text);
    const auto pid = pid_of_shell(*socket);
    EXPECT_TRUE(sessions_->remove(sessions_->find(text)->session.id));
    // Nobody asks the socket: its thread looks by itself.
    EXPECT_TRUE(is_gone(pid));
    const auto deadline = after(60s);
    std::string ignored;
    while (socket->next(ignored) != Step::end && Deadline::clock::now() < deadline)
        std::this_thread::sleep_for(2ms);
    expect_end(*socket, 4401, "has ended");
}

TEST_F(Prompt, CountsThoseThatAreOpen)
{
    options().most = 2;
    const auto session = allowed_session();
    auto one = enter(session);
    const auto pid = pid_of_shell(*one);
    const auto two = enter(session);
    const auto three = open();
    three->take(to_json(hello_of(session)));
    expect_end(*three, 1013, "2 command prompts");
    one.reset();
    EXPECT_TRUE(is_gone(pid));
    std::unique_ptr<net::Dialogue> next_one;
    const auto deadline = after(60s);
    while (Deadline::clock::now() < deadline) {
        next_one = open();
        next_one->take(to_json(hello_of(session)));
        std::string text;
        if (next_one->next(text) == Step::message) return;
        std::this_thread::sleep_for(2ms);
    }
    FAIL() << "the place of one that ended is not free";
}

TEST_F(Prompt, TakesTheUsersShellOrAnother)
{
    const auto first = [](const std::string& shell) {
        return shell_of({"SHELL=" + shell}, "/tools").argv;
    };
    EXPECT_EQ(first("/bin/sh"), (std::vector<std::string>{"/bin/sh", "-i"}));
    EXPECT_EQ(first("/usr/sbin/nologin").front(), "/bin/sh");
    EXPECT_EQ(first("/bin/false").front(), "/bin/sh");
    EXPECT_EQ(first("bash").front(), "/bin/sh");
    EXPECT_EQ(first("").front(), "/bin/sh");
    EXPECT_EQ(first("/bin/bash"),
              (std::vector<std::string>{"/bin/bash", "--rcfile", "/tools/bashrc", "-i"}));
}

TEST_F(Prompt, SpeaksAsItIsWrittenDown)
{
    const auto socket = open();
    socket->take(to_json(hello_of(allowed_session())));
    JsonArray all;
    all.push_back(next(*socket));
    auto& hello = *all.back().as_object().find("hello");
    for (const auto& [name, value] : {std::pair("session", "0123456789abcdef"),
                                      std::pair("version", "1.0.0"),
                                      std::pair("folder", "/home/ann/mnist"),
                                      std::pair("python", "/usr/bin/python3")})
        hello.as_object().set(name, value);
    all.push_back(next(*socket));
    all.back().as_object().set("output", to_base64("ponk: python is /usr/bin/python3\r\n"));
    type(*socket, "kill -KILL $$\n");
    const auto deadline = after(60s);
    while (Deadline::clock::now() < deadline) {
        auto message = next(*socket);
        if (message["ended"].is_null()) continue;
        all.push_back(std::move(message));
        break;
    }
    os::expect_golden(PONK_SOURCE_DIR "/tests/golden/api/prompt.json",
                      to_json(std::move(all), JsonStyle::pretty) + "\n");
}

}  // namespace
}  // namespace ponk::api
