// SPDX-License-Identifier: Apache-2.0
// What the server sends: streams, their lengths, and the memory that answers share.
#include "net/server_body_test_support.hpp"

namespace ponk::net {
namespace {

TEST_F(Bodies, AStreamOfAnySizeTakesLittleMemory)
{
    const TcpServer server(handlers());
    auto client = server.connect();
    constexpr std::size_t size = std::size_t{32} << 20;
    ASSERT_TRUE(client.send(fmt::format("PUT /sink HTTP/1.1\r\nContent-Length: {}\r\n\r\n", size)));
    const std::string block(1 << 20, 'x');
    for (std::size_t sent = 0; sent < size; sent += block.size())
        ASSERT_TRUE(client.send(block));

    EXPECT_TRUE(client.receive_until("\n").starts_with("HTTP/1.1 200"));
    EXPECT_EQ(diary_.bytes, size);
    EXPECT_LE(diary_.largest, std::size_t{256} << 10);
    EXPECT_TRUE(becomes(diary_.gone, 1));
    EXPECT_EQ(diary_.aborted, 0);
}

TEST_F(Bodies, AllAnswersThatNobodyReadsHaveABudget)
{
    ServerOptions options;
    options.answer_budget = text_size * 3 / 2;
    const TcpServer server(handlers(), options);
    auto slow = server.connect();
    ASSERT_TRUE(slow.send("GET /text HTTP/1.1\r\n\r\n"));
    EXPECT_TRUE(slow.receive_until("\r\n\r\n").starts_with("HTTP/1.1 200"));
    auto other = server.connect();
    ASSERT_TRUE(other.send("GET /text HTTP/1.1\r\n\r\n"));
    const auto refusal = other.receive_until("\r\n\r\n");
    EXPECT_TRUE(refusal.starts_with("HTTP/1.1 503")) << refusal;
    EXPECT_NE(refusal.find("Retry-After: 1"), std::string::npos);
    other.receive_until("}\n");
    ASSERT_TRUE(other.send("GET /short HTTP/1.1\r\n\r\n"));  // small ones are always told
    EXPECT_TRUE(other.receive_until("\r\n\r\n\"\"").starts_with("HTTP/1.1 200"));

    EXPECT_EQ(slow.receive_until("\n").size(), text_size + 1);
    auto third = server.connect();
    int given = 0;  // what was held is given back each time, a moment after it was read
    for (const auto limit = after(20s); given < 3 && Deadline::clock::now() < limit;) {
        ASSERT_TRUE(third.send("GET /text HTTP/1.1\r\n\r\n"));
        const bool answered = third.receive_until("\r\n\r\n").starts_with("HTTP/1.1 200");
        third.receive_until("\n");
        given += answered ? 1 : 0;
    }
    EXPECT_EQ(given, 3);
}

TEST_F(Bodies, PiecesOfStreamsThatNobodyReadsHaveTheSameBudget)
{
    ServerOptions options;
    options.client_budget = text_size * 5 / 2;
    const TcpServer server(handlers(), options);
    std::vector<RawClient> clients;
    for (int i = 0; i < 6; ++i) {
        clients.push_back(server.connect());
        ASSERT_TRUE(clients.back().send("GET /pieces HTTP/1.1\r\n\r\n"));
    }
    ASSERT_TRUE(becomes(made_, 2));
    auto other = server.connect();  // whoever does not wait for room is refused at once
    ASSERT_TRUE(other.send("GET /pieces?free=1 HTTP/1.1\r\n\r\n"));
    EXPECT_TRUE(other.receive_until("}\n").starts_with("HTTP/1.1 503"));
    ASSERT_TRUE(other.send("GET /zeros?size=9&told=9 HTTP/1.1\r\n\r\n"));
    EXPECT_TRUE(other.receive_until("000000000").starts_with("HTTP/1.1 200"));
    EXPECT_EQ(made_, 3);  // with the one that was refused

    // The others wait for those before them, and get all of it.
    std::vector<std::jthread> readers;
    for (auto& client : clients) {
        readers.emplace_back([&client] {
            const auto all = client.receive_until("0\r\n\r\n");
            EXPECT_TRUE(all.starts_with("HTTP/1.1 200"));
            EXPECT_GT(all.size(), 2 * text_size);
        });
    }
    readers.clear();
    EXPECT_EQ(made_, 13);
}

TEST_F(Bodies, AStreamThatFindsNoRoomForLongIsRefused)
{
    ServerOptions options;
    options.client_budget = text_size * 3 / 2;
    options.room_timeout = 20ms;
    const TcpServer server(handlers(), options);
    auto slow = server.connect();
    ASSERT_TRUE(slow.send("GET /text HTTP/1.1\r\n\r\n"));
    EXPECT_TRUE(slow.receive_until("\r\n\r\n").starts_with("HTTP/1.1 200"));
    auto other = server.connect();
    ASSERT_TRUE(other.send("GET /pieces HTTP/1.1\r\n\r\n"));
    EXPECT_NE(other.receive_until("}\n").find(" 503 "), std::string::npos);
    EXPECT_EQ(made_, 0);
}

TEST_F(Bodies, AnAnswerThatNeverFitsIsNotToBeTriedAgain)
{
    ServerOptions options;
    options.answer_budget = text_size / 2;
    const TcpServer server(handlers(), options);
    auto client = server.connect();
    ASSERT_TRUE(client.send("GET /text HTTP/1.1\r\n\r\n"));
    const auto refusal = client.receive_until("}\n");
    EXPECT_TRUE(refusal.starts_with("HTTP/1.1 400")) << refusal;
    EXPECT_EQ(refusal.find("Retry-After"), std::string::npos);
}

TEST_F(Bodies, AnAnswerOfKnownSizeHasItsLengthAndHeadOnlyTheHead)
{
    const TcpServer server(handlers());
    auto client = server.connect();
    ASSERT_TRUE(client.send("HEAD /zeros?size=200000&told=200000 HTTP/1.1\r\n\r\n"
                            "GET /zeros?size=200000&told=200000 HTTP/1.1\r\n\r\n"
                            "GET /zeros?size=0&told=0 HTTP/1.1\r\nConnection: close\r\n\r\n"));
    const auto head = client.receive_until("\r\n\r\n");
    EXPECT_NE(head.find("Content-Length: 200000\r\n"), std::string::npos) << head;
    const auto all = client.receive_all();
    EXPECT_TRUE(all.starts_with("HTTP/1.1 200"));
    EXPECT_EQ(all.find("chunked"), std::string::npos);
    EXPECT_NE(all.find("\r\n\r\n" + std::string(200'000, '0') + "HTTP/1.1 200 OK"),
              std::string::npos);
    EXPECT_NE(all.find("Content-Length: 0\r\n"), std::string::npos);
}

TEST_F(Bodies, AnAnswerThatIsNotAsLongAsToldIsBroken)
{
    const TcpServer server(handlers());
    for (const char* told : {"99999", "100001"}) {
        auto client = server.connect();
        ASSERT_TRUE(
            client.send(fmt::format("GET /zeros?size=100000&told={} HTTP/1.1\r\n\r\n", told)));
        const auto all = client.receive_all();
        EXPECT_LT(all.size(), 99'999U + 100) << told;
    }
}

TEST_F(Bodies, OldHttpGetsNoChunks)
{
    auto wanted = handlers();
    wanted.answer = [](const Request&) {
        Response response;
        response.stream = std::make_unique<Zeros>(70'000);
        return response;
    };
    const TcpServer server(std::move(wanted));
    auto client = server.connect();
    ASSERT_TRUE(client.send("GET /x HTTP/1.0\r\n\r\n"));
    const auto all = client.receive_all();
    EXPECT_EQ(all.find("chunked"), std::string::npos);
    EXPECT_TRUE(all.ends_with("\r\n\r\n" + std::string(70'000, '0')));
}

}  // namespace
}  // namespace ponk::net
