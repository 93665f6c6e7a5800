// SPDX-License-Identifier: Apache-2.0
// Whose turn it is: the owner, clients among themselves, and how many calls one may have.
#include "net/client.hpp"
#include "net/server_work_test_support.hpp"
#include "os/socket.hpp"

namespace ponk::net {
namespace {

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

}  // namespace
}  // namespace ponk::net
