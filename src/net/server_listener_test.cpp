// SPDX-License-Identifier: Apache-2.0
// Connections: who may have one, for how long, and through which listener it came.
#include "net/client.hpp"
#include "net/server_test_support.hpp"
#include "os/socket.hpp"

#include <atomic>

namespace ponk::net {
namespace {

using namespace std::chrono_literals;

Handlers yes()
{
    return {.answer = [](const Request& request) {
        const char* endpoints[] = {"unix_socket", "loopback", "network"};
        return json_response(
            JsonObject{{"listener_kind", endpoints[static_cast<int>(request.listener_kind)]},
                       {"peer", request.peer},
                       {"path", request.path.empty() ? "" : request.path[0]}});
    }};
}

const std::string get = "GET /x HTTP/1.1\r\n\r\n";

TEST(Endpoints, ARequestTellsTheWayItCame)
{
    const auto folder = *os::make_temporary_directory(testing::TempDir(), "ponk-net-");
    {
        std::vector<Listener> listeners;
        listeners.push_back({.socket = *os::listen_unix(folder / "s")});
        std::uint16_t ports[2] = {};
        for (const auto listener_kind : {ListenerKind::loopback, ListenerKind::network}) {
            auto socket = *os::listen_tcp(os::loopback_address(AF_INET, 0));
            ports[static_cast<int>(listener_kind) - 1] = *os::port_of(socket.get());
            listeners.push_back({.socket = std::move(socket), .listener_kind = listener_kind});
        }
        const Server server(std::move(listeners), yes());

        Client owner(folder / "s");
        const auto seen = owner.json("GET", "/x", {}, after(20s));
        ASSERT_TRUE(seen) << seen.error().message();
        EXPECT_EQ(seen->text("listener_kind"), "unix_socket");
        EXPECT_EQ(seen->text("peer"), "");
        RawClient near(ports[0]);
        ASSERT_TRUE(near.send(get));
        EXPECT_NE(
            near.receive_until("}\n").find(R"({"listener_kind":"loopback","peer":"127.0.0.1")"),
            std::string::npos);
        RawClient far(ports[1]);
        ASSERT_TRUE(far.send(get));
        EXPECT_NE(far.receive_until("}\n").find(R"({"listener_kind":"network")"),
                  std::string::npos);
    }
    static_cast<void>(os::remove_tree(folder));
}

TEST(Endpoints, RequestsSentTogetherAreAnsweredInOrder)
{
    const TcpServer server(yes());
    auto client = server.connect();
    std::string all;
    for (int i = 0; i < 50; ++i)
        all += fmt::format("POST /p{} HTTP/1.1\r\nContent-Length: 3\r\n\r\nabc", i);
    ASSERT_TRUE(client.send(all));
    for (int i = 0; i < 50; ++i) {
        const auto answer = client.receive_until("}\n");
        EXPECT_NE(answer.find(fmt::format(R"("path":"p{}")", i)), std::string::npos) << answer;
    }
}

TEST(Endpoints, WhoSendsNoMoreStillGetsTheAnswer)
{
    const TcpServer server(yes());
    auto client = server.connect();
    ASSERT_TRUE(client.send(get));
    client.end_sending();
    EXPECT_TRUE(client.receive_all().ends_with("}\n"));
    auto half = server.connect();
    ASSERT_TRUE(half.send("GET /x HT"));
    half.end_sending();
    EXPECT_TRUE(half.receive_all().starts_with("HTTP/1.1 400"));
    EXPECT_TRUE(server.comes_down_to(0));
}

TEST(Endpoints, WhoSendsItsHeadByteByByteIsNotWaitedFor)
{
    ServerOptions options;
    options.head_timeout = 100ms;
    const TcpServer server(yes(), options);
    auto client = server.connect();
    for (int i = 0; i < 2000 && client.send("G"); ++i) {
        if (os::wait_readable(client.fd(), after(5ms), {})) break;
    }
    EXPECT_TRUE(server.comes_down_to(0));
}

TEST(Endpoints, WhoDoesNotReadIsNotWaitedFor)
{
    ServerOptions options;
    options.request_timeout = 100ms;
    Handlers handlers{.answer = [](const Request&) {
        Response response;
        response.body = std::string(std::size_t{64} << 20, 'x');
        return response;
    }};
    const TcpServer server(std::move(handlers), options);
    auto client = server.connect();
    ASSERT_TRUE(client.send(get));
    EXPECT_TRUE(server.comes_down_to(0));
}

TEST(Endpoints, AHeadThatIsTooLargeIsRefused)
{
    const TcpServer server(yes());
    auto client = server.connect();
    client.send("GET /x HTTP/1.1\r\nX: " + std::string(40'000, 'x') + "\r\n\r\n");
    EXPECT_TRUE(client.receive_until("\r\n").starts_with("HTTP/1.1 431"));
}

TEST(Endpoints, TwoLengthsOrALengthWithChunksAreRefused)
{
    const TcpServer server(yes());
    for (const char* lengths : {"Content-Length: 3\r\nTransfer-Encoding: chunked",
                                "Content-Length: 3\r\nContent-Length: 4",
                                "Content-Length: -1",
                                "Content-Length: 99999999999999999999999"}) {
        auto client = server.connect();
        ASSERT_TRUE(client.send(fmt::format("POST /x HTTP/1.1\r\n{}\r\n\r\nabc", lengths)));
        EXPECT_TRUE(client.receive_until("\r\n").starts_with("HTTP/1.1 400")) << lengths;
    }
}

TEST(Endpoints, TheLongestIdleConnectionGivesWayToANewcomer)
{
    for (const bool by_peer : {false, true}) {
        ServerOptions options;
        (by_peer ? options.peer_limit : options.connection_limit) = 3;
        const TcpServer server(yes(), options);
        std::vector<RawClient> old;
        for (int i = 0; i < 3; ++i) {
            old.push_back(server.connect());
            ASSERT_TRUE(old.back().send(get));
            ASSERT_TRUE(old.back().receive_until("}\n").starts_with("HTTP/1.1 200"));
        }
        // Used again, so the second is the one that waits longest.
        ASSERT_TRUE(old[0].send(get));
        ASSERT_TRUE(old[0].receive_until("}\n").starts_with("HTTP/1.1 200"));

        auto newcomer = server.connect();
        ASSERT_TRUE(newcomer.send(get));
        EXPECT_TRUE(newcomer.receive_until("}\n").starts_with("HTTP/1.1 200"));
        EXPECT_EQ(old[1].receive_all(), "");
        ASSERT_TRUE(old[0].send(get));
        EXPECT_TRUE(old[0].receive_until("}\n").starts_with("HTTP/1.1 200"));
        EXPECT_TRUE(server.comes_down_to(3));
    }
}

TEST(Endpoints, NobodyAtWorkGivesWay)
{
    ServerOptions options;
    options.connection_limit = 1;
    std::atomic<bool> begun{false};
    std::atomic<bool> go{false};
    Handlers handlers{.answer = [&begun, &go](const Request&) {
        begun = true;
        while (!go)
            std::this_thread::sleep_for(1ms);
        return json_response(Json("done"));
    }};
    const TcpServer server(std::move(handlers), options);
    auto busy = server.connect();
    ASSERT_TRUE(busy.send(get));
    while (!begun)
        std::this_thread::sleep_for(1ms);
    auto second = server.connect();
    EXPECT_EQ(second.receive_all(), "");
    go = true;
    EXPECT_TRUE(busy.receive_until("\"done\"\n").ends_with("\"done\"\n"));
}

TEST(Endpoints, SlowRequestsLeaveWorkersForTheOthers)
{
    ServerOptions options;
    options.workers = 4;
    std::atomic<bool> go{false};
    std::atomic<int> slow{0};
    Handlers handlers = yes();
    const auto quick = handlers.answer;
    handlers.answer = [&go, &slow, quick](const Request& request) {
        if (request.path[0] != "slow") return quick(request);
        ++slow;
        while (!go)
            std::this_thread::sleep_for(1ms);
        return quick(request);
    };
    handlers.receive = [](const Request& head) {
        Reception reception;
        if (head.path[0] == "slow") reception.pace = Reception::Pace::slow;
        return reception;
    };
    const TcpServer server(std::move(handlers), options);
    std::vector<RawClient> waiting;
    for (int i = 0; i < 8; ++i) {
        waiting.push_back(server.connect());
        ASSERT_TRUE(waiting.back().send("GET /slow HTTP/1.1\r\n\r\n"));
    }
    auto other = server.connect();
    ASSERT_TRUE(other.send(get));
    EXPECT_TRUE(other.receive_until("}\n").starts_with("HTTP/1.1 200"));
    EXPECT_LE(slow, 2);
    go = true;
    for (auto& client : waiting)
        EXPECT_TRUE(client.receive_until("}\n").starts_with("HTTP/1.1 200"));
    EXPECT_EQ(slow, 8);
}

}  // namespace
}  // namespace ponk::net
