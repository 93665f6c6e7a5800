// SPDX-License-Identifier: Apache-2.0
// What requests cost: on which threads they are worked on, whose turn it is, and when work ends.
#include "base/synced.hpp"
#include "base/work_budget.hpp"
#include "net/client.hpp"
#include "net/server_test_support.hpp"
#include "net/workers.hpp"
#include "os/socket.hpp"

#include <algorithm>
#include <atomic>
#include <poll.h>
#include <set>
#include <thread>

namespace ponk::net {
namespace {

using namespace std::chrono_literals;

template <class Condition>
bool becomes_true(const Condition& condition)
{
    for (const auto limit = after(20s); Deadline::clock::now() < limit;) {
        if (condition()) return true;
        std::this_thread::sleep_for(1ms);
    }
    return condition();
}

// "/hold" and the body of "/held" wait until `open`; "/spin" and the body of "/spun" work until
// their work is over. That of "/news" waits for ever, that of "/endless" has no end. The client is
// what the query says.
class ServerWork : public testing::Test {
protected:
    class Source final : public BodySource {
    public:
        Source(ServerWork& test, std::string kind) : test_(test), kind_(std::move(kind)) {}
        ~Source() override { ++test_.gone_; }
        void attach(std::function<void()> /*ring*/) override {}
        Step next(std::string& out) override
        {
            test_.note_thread();
            if (kind_ == "spun") return Step::data;  // long work without a byte
            if (kind_ == "news") return Step::waiting;
            if (kind_ == "endless") {
                out.append(100'000, 'e');
                return Step::data;
            }
            ++test_.held_;
            test_.wait_until_open();
            out += "held";
            return Step::end;
        }

    private:
        ServerWork& test_;
        std::string kind_;
    };

    ~ServerWork() override { open_ = true; }

    Handlers handlers()
    {
        return {.answer = [this](const Request& request) { return answer(request); },
                .receive =
                    [](const Request& head) {
                        Reception reception;
                        reception.client = head.parameter("client").value_or("");
                        if (head.parameter("slow")) reception.pace = Reception::Pace::slow;
                        if (head.parameter("compute")) reception.pace = Reception::Pace::compute;
                        if (head.parameter("receive")) reception.pace = Reception::Pace::receive;
                        return reception;
                    }};
    }

    Response answer(const Request& request)
    {
        const auto& path = request.path.at(0);
        note_thread();
        *order_.lock() += request.parameter("client").value_or("-");
        if (path == "hold") {
            ++held_;
            wait_until_open();
        }
        if (path == "held" || path == "spun" || path == "news" || path == "endless") {
            Response response;
            response.stream = std::make_unique<Source>(*this, path);
            return response;
        }
        if (path == "spin") {
            ++held_;
            Result<> go_on;
            while ((go_on = check_work()))
                std::this_thread::sleep_for(1ms);
            ended_by_.lock()->emplace_back(to_string(go_on.error().kind()));
            return error_response(go_on.error());
        }
        return json_response(Json(path));
    }

    void note_thread() { threads_.lock()->insert(thread_name()); }
    void wait_until_open() const
    {
        while (!open_)
            std::this_thread::sleep_for(1ms);
    }
    static std::string get(const std::string& target)
    {
        return "GET /" + target + " HTTP/1.1\r\nHost: x\r\n\r\n";
    }

    std::atomic<bool> open_ = false;
    std::atomic<int> held_ = 0;
    std::atomic<int> gone_ = 0;
    Synced<std::string> order_;
    Synced<std::set<std::string>> threads_;
    Synced<std::vector<std::string>> ended_by_;
};

TEST_F(ServerWork, PiecesOfBodiesKeepNoThreadOfTheLoop)
{
    const TcpServer server(handlers());
    std::vector<RawClient> held;
    for (int i = 0; i < 20; ++i) {
        held.push_back(server.connect());
        held.back().send(get("held?client=a"));
    }
    ASSERT_TRUE(becomes_true([this] { return held_ >= 1; }));

    auto other = server.connect();
    other.send(get("quick?client=b"));
    EXPECT_NE(other.receive_until("quick").find("200 OK"), std::string::npos);

    open_ = true;
    for (auto& client : held)
        EXPECT_NE(client.receive_until("0\r\n\r\n").find("held"), std::string::npos);
    EXPECT_EQ(*threads_.lock(), std::set<std::string>{"ponk-worker"});
}

TEST_F(ServerWork, ALargeBodyIsReceivedOnWorkersAndASmallOneIsNot)
{
    ServerOptions options;
    options.workers = 1;
    const TcpServer server(handlers(), options);
    auto holder = server.connect();
    holder.send(get("hold?client=a"));
    ASSERT_TRUE(becomes_true([this] { return held_ == 1; }));

    // What sockets hold is much less than all of it.
    auto large = server.connect();
    const std::string text(std::size_t{15} << 20, 'x');
    large.send(fmt::format("POST /quick?client=b HTTP/1.1\r\nHost: x\r\nContent-Length: {}\r\n\r\n",
                           text.size()));
    std::size_t sent = 0;
    for (pollfd socket{large.fd(), POLLOUT, 0};
         sent < text.size() && ::poll(&socket, 1, 500) > 0;) {
        const auto put =
            ::send(large.fd(), text.data() + sent, text.size() - sent, MSG_NOSIGNAL | MSG_DONTWAIT);
        if (put > 0) sent += static_cast<std::size_t>(put);
    }
    EXPECT_GT(sent, std::size_t{256} << 10);
    EXPECT_LT(sent, std::size_t{12} << 20);
    open_ = true;
    EXPECT_TRUE(large.send(std::string_view(text).substr(sent)));
    EXPECT_NE(large.receive_until("quick").find("200 OK"), std::string::npos);
}

TEST_F(ServerWork, ALargeBodyDoesNotWaitForWhatComputesLong)
{
    const TcpServer server(handlers());
    std::vector<RawClient> held;
    for (int i = 0; i < 8; ++i) {
        held.push_back(server.connect());
        held.back().send(get("hold?compute=1&client=a"));
    }
    ASSERT_TRUE(becomes_true([this] { return held_ >= 1; }));
    auto large = server.connect();
    large.send("POST /quick?client=b HTTP/1.1\r\nHost: x\r\nContent-Length: 1000000\r\n\r\n" +
               std::string(1'000'000, 'x'));
    EXPECT_NE(large.receive_until("quick").find("200 OK"), std::string::npos);
    open_ = true;
}

TEST_F(ServerWork, HandshakesAndBytesThatComeInLeaveAProcessorFree)
{
    const TcpServer server(handlers());
    std::vector<RawClient> held;
    for (int i = 0; i < 16; ++i) {
        held.push_back(server.connect());
        held.back().send(get("hold?receive=1&client=" + std::to_string(i)));
    }
    ASSERT_TRUE(becomes_true([this] { return held_ >= 1; }));
    auto other = server.connect();
    other.send(get("quick?client=x"));
    EXPECT_NE(other.receive_until("quick").find("200 OK"), std::string::npos);
    EXPECT_LE(held_, std::max(1, static_cast<int>(std::thread::hardware_concurrency()) - 1));
    open_ = true;
}

TEST_F(ServerWork, TheTimeForABodyHoldsWhileItsBytesWaitForAWorker)
{
    ServerOptions options;
    options.workers = 1;
    options.request_timeout = 50ms;
    const TcpServer server(handlers(), options);
    auto holder = server.connect();
    holder.send(get("hold?client=a"));
    ASSERT_TRUE(becomes_true([this] { return held_ == 1; }));
    auto large = server.connect();
    large.send("POST /quick?client=b HTTP/1.1\r\nHost: x\r\nContent-Length: 1000000\r\n\r\n" +
               std::string(400'000, 'x'));
    std::this_thread::sleep_for(100ms);
    open_ = true;
    EXPECT_EQ(large.receive_all(), "");  // closed
}

TEST_F(ServerWork, ABodyThatEndsEarlyIsToldOnAWorkersWay)
{
    const TcpServer server(handlers());
    auto client = server.connect();
    client.send("POST /quick?client=a HTTP/1.1\r\nHost: x\r\nContent-Length: 1000000\r\n\r\n" +
                std::string(700'000, 'x'));
    client.end_sending();
    const auto answer = client.receive_all();
    EXPECT_TRUE(answer.starts_with("HTTP/1.1 400")) << answer;
    EXPECT_NE(answer.find("ended before it was complete"), std::string::npos) << answer;
}

TEST_F(ServerWork, EndsWithItsConnection)
{
    ServerOptions options;
    options.watch_interval = 5ms;
    options.half_closed_limit = 20ms;
    const TcpServer server(handlers(), options);
    {
        auto client = server.connect();
        client.send(get("spin"));
        ASSERT_TRUE(becomes_true([this] { return held_ == 1; }));
    }
    EXPECT_TRUE(becomes_true([this] { return !ended_by_.lock()->empty(); }));
    {
        auto client = server.connect();
        client.send(get("spun"));
        client.receive_until("\r\n\r\n");
    }
    EXPECT_TRUE(becomes_true([this] { return gone_ == 1; }));
    EXPECT_TRUE(server.comes_down_to(0));
}

TEST_F(ServerWork, HasADeadline)
{
    ServerOptions options;
    options.work_limit = 20ms;
    const TcpServer server(handlers(), options);
    auto client = server.connect();
    client.send(get("spin"));
    EXPECT_NE(client.receive_until("}\n").find("504"), std::string::npos);
    EXPECT_EQ(ended_by_.lock()->front(), "timeout");
}

TEST_F(ServerWork, TheOwnerIsAnsweredWhileAllOthersWorkersAreTaken)
{
    const os::Path folder = *os::make_temporary_directory(testing::TempDir(), "ponk-net-");
    auto socket = *os::listen_tcp(os::loopback_address(AF_INET, 0));
    const auto port = *os::port_of(socket.get());
    std::vector<Listener> listeners;
    listeners.push_back({.socket = std::move(socket), .listener_kind = ListenerKind::loopback});
    listeners.push_back({.socket = *os::listen_unix(folder / "s")});
    ServerOptions options;
    options.workers = 6;
    const Server server(std::move(listeners), handlers(), options);
    std::vector<RawClient> held;
    for (int i = 0; i < 12; ++i) {
        held.emplace_back(port);
        held.back().send(get("hold?client=" + std::to_string(i)));
    }
    ASSERT_TRUE(becomes_true([this] { return held_ == 6; }));

    Client owner(folder / "s");
    for (int i = 0; i < 10; ++i)
        EXPECT_TRUE(owner.call("GET", "/quick", "", after(20s)));

    EXPECT_EQ(held_, 6);
    EXPECT_TRUE(threads_.lock()->contains("ponk-reserved"));
    open_ = true;
    EXPECT_TRUE(becomes_true([this] { return held_ == 12; }));
    static_cast<void>(os::remove_tree(folder));
}

TEST_F(ServerWork, OneClientNeverHasAllWorkers)
{
    ServerOptions options;
    options.workers = 6;
    const TcpServer server(handlers(), options);
    std::vector<RawClient> held;
    for (int i = 0; i < 12; ++i) {
        held.push_back(server.connect());
        held.back().send(get("hold?client=a"));
    }
    ASSERT_TRUE(becomes_true([this] { return held_ == 4; }));

    auto other = server.connect();
    other.send(get("quick?client=b"));
    EXPECT_NE(other.receive_until("quick").find("200 OK"), std::string::npos);
    EXPECT_EQ(held_, 4);
    open_ = true;
}

TEST_F(ServerWork, ClientsTakeTurns)
{
    ServerOptions options;
    options.workers = 1;
    const TcpServer server(handlers(), options);
    std::vector<RawClient> many;
    for (int i = 0; i < 30; ++i) {
        many.push_back(server.connect());
        many.back().send(get(i == 0 ? "hold?client=a" : "quick?client=a"));
        ASSERT_TRUE(becomes_true([this] { return held_ == 1; }));
    }
    auto other = server.connect();
    other.send(get("quick?client=b"));
    std::this_thread::sleep_for(1s);  // until all of them wait, on a busy machine too
    open_ = true;
    other.receive_until("quick");
    for (auto& client : many)
        client.receive_until("\r\n\r\n");
    const auto at = order_.lock()->find('b');
    EXPECT_LE(at, 20U) << *order_.lock();
}

TEST_F(ServerWork, TooManyCallsOfOneClientAreRefused)
{
    ServerOptions options;
    options.call_limit = 3;
    const TcpServer server(handlers(), options);
    std::vector<RawClient> held;
    for (int i = 0; i < 3; ++i) {
        held.push_back(server.connect());
        held.back().send(get("hold?client=a"));
    }
    ASSERT_TRUE(becomes_true([this] { return held_ == 3; }));
    auto more = server.connect();

    more.send(get("quick?client=a"));
    const auto refusal = more.receive_until("}\n");
    EXPECT_NE(refusal.find("429"), std::string::npos);
    EXPECT_NE(refusal.find("Retry-After: 1"), std::string::npos);
    more.send(get("quick?client=b"));
    EXPECT_NE(more.receive_until("quick").find("200 OK"), std::string::npos);

    open_ = true;
    for (auto& client : held)
        client.receive_until("hold");
    more.send(get("quick?client=a"));
    EXPECT_NE(more.receive_until("quick").find("200 OK"), std::string::npos);
}

TEST_F(ServerWork, AStreamCountsAsACallUntilItWaitsForNews)
{
    ServerOptions options;
    options.call_limit = 3;
    const TcpServer server(handlers(), options);
    std::vector<RawClient> streams;
    const auto accepted = [&](const std::string& target) {
        streams.push_back(server.connect());
        streams.back().send(get(target + "?client=a"));
        if (streams.back().receive_until("\r\n\r\n").find("200 OK") != std::string::npos)
            return true;
        streams.pop_back();
        return false;
    };
    for (int i = 0; i < 6; ++i)  // those that wait for news do not count, a moment later
        ASSERT_TRUE(becomes_true([&] { return accepted("news"); }));
    for (int i = 0; i < 3; ++i)
        ASSERT_TRUE(becomes_true([&] { return accepted("endless"); }));

    EXPECT_FALSE(accepted("quick"));
    streams.pop_back();
    EXPECT_TRUE(becomes_true([&] { return accepted("quick"); }));
}

TEST(WorkersTest, AClientThatUsedMuchCpuTimeHasFewThreads)
{
    Workers workers(6);
    Accounts accounts;
    const auto heavy = accounts.find("heavy");
    const auto other = accounts.find("other");
    heavy->turn.load = std::int64_t{3600} * 1'000'000'000;
    heavy->turn.load_at = std::chrono::steady_clock::now().time_since_epoch().count();

    std::atomic<int> running = 0;
    std::atomic<int> most = 0;
    for (int i = 0; i < 8; ++i) {
        workers.run(heavy, Reception::Pace::quick, [&running, &most] {
            most = std::max<int>(most, ++running);
            std::this_thread::sleep_for(2ms);
            --running;
        });
    }
    bool ran = false;
    workers.run(other, Reception::Pace::quick, [&ran] { ran = true; });
    workers.join();

    EXPECT_TRUE(ran);
    EXPECT_LE(most, 2);
}

TEST(WorkersTest, WhatComputesForOthersLeavesAProcessorFreeAndTheOwnerIsNotCounted)
{
    const auto processors = std::max(1U, std::thread::hardware_concurrency());
    const int most_expected = static_cast<int>(std::max(1U, processors - 1));
    Workers workers(3 * (processors + 2));
    Accounts accounts;
    std::atomic<int> running = 0;
    std::atomic<int> most = 0;
    std::atomic<bool> open = false;
    const auto compute = [&] {
        most = std::max<int>(most, ++running);
        while (!open)
            std::this_thread::sleep_for(1ms);
        --running;
    };
    for (unsigned i = 0; i < 2 * processors + 2; ++i) {
        const auto pace = i % 2 == 0 ? Reception::Pace::compute : Reception::Pace::piece;
        workers.run(accounts.find(std::to_string(i)), pace, compute);
    }
    ASSERT_TRUE(becomes_true([&] { return running == most_expected; }));

    std::atomic<int> others = 0;
    workers.run(accounts.find(""), Reception::Pace::compute, [&others] { ++others; });
    workers.run(accounts.find("quick"), Reception::Pace::quick, [&others] { ++others; });
    EXPECT_TRUE(becomes_true([&others] { return others == 2; }));
    EXPECT_EQ(running, most_expected);
    open = true;
    workers.join();

    EXPECT_EQ(most, most_expected);
}

TEST(WorkersTest, EndWhenAllThatWaitsWasRunWhateverItsPace)
{
    std::atomic<int> done = 0;
    {
        Workers workers(6);
        Accounts accounts;
        for (int i = 0; i < 40; ++i) {
            workers.run(accounts.find(std::to_string(i % 3)), Reception::Pace::piece, [&done] {
                std::this_thread::sleep_for(1ms);
                ++done;
            });
        }
    }
    EXPECT_EQ(done, 40);
}

}  // namespace
}  // namespace ponk::net
