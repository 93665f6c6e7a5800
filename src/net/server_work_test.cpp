// SPDX-License-Identifier: Apache-2.0
// On which threads requests are worked on, and when work ends.
#include "net/server_work_test_support.hpp"

#include <algorithm>
#include <poll.h>

namespace ponk::net {
namespace {

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

}  // namespace
}  // namespace ponk::net
