// SPDX-License-Identifier: Apache-2.0
// What clients send: bodies that are streamed, chunked, refused or too many.
#include "net/server_body_test_support.hpp"

namespace ponk::net {
namespace {

TEST_F(Bodies, ChunksOfAnyKindReachTheSinkAndTheConnectionGoesOn)
{
    const TcpServer server(handlers());
    auto client = server.connect();
    const std::string head = "PUT /sink HTTP/1.1\r\nTransfer-Encoding: chunked\r\n\r\n";

    ASSERT_TRUE(client.send(head + "0\r\n\r\n"));
    EXPECT_TRUE(client.receive_until("\r\n\r\n0\n").starts_with("HTTP/1.1 200"));
    ASSERT_TRUE(client.send(head + "5;note=x\r\nabcde\r\n1\r\nf\r\n0\r\nTrailer: y\r\n\r\n"));
    EXPECT_TRUE(client.receive_until("\r\n\r\n6\n").starts_with("HTTP/1.1 200"));
    ASSERT_TRUE(client.send("PUT /sink HTTP/1.1\r\nContent-Length: 0\r\n\r\n"));
    EXPECT_TRUE(client.receive_until("\r\n\r\n6\n").starts_with("HTTP/1.1 200"));
    EXPECT_EQ(diary_.finished, 3);
}

TEST_F(Bodies, WhoAsksMaySendItsBody)
{
    const TcpServer server(handlers());
    auto client = server.connect();
    for (const char* path : {"sink", "echo"}) {
        ASSERT_TRUE(client.send(fmt::format(
            "PUT /{} HTTP/1.1\r\nContent-Length: 3\r\nExpect: 100-continue\r\n\r\n", path)));
        EXPECT_EQ(client.receive_until("\r\n\r\n"), "HTTP/1.1 100 Continue\r\n\r\n");
        ASSERT_TRUE(client.send("abc"));
        EXPECT_TRUE(client.receive_until("\r\n\r\n").starts_with("HTTP/1.1 200")) << path;
        client.receive_until("\n");
    }
    // One that is refused hears so instead, and nothing is read behind it.
    ASSERT_TRUE(
        client.send("PUT /closed HTTP/1.1\r\nContent-Length: 3\r\nExpect: 100-continue\r\n\r\n"));
    const auto refusal = client.receive_until("\r\n\r\n");
    EXPECT_TRUE(refusal.starts_with("HTTP/1.1 401")) << refusal;
    EXPECT_NE(refusal.find("Connection: close"), std::string::npos);
    // So does one whose sink has no use for it.
    most_ = 0;
    auto full = server.connect();
    ASSERT_TRUE(
        full.send("PUT /sink HTTP/1.1\r\nContent-Length: 3\r\nExpect: 100-continue\r\n\r\n"));
    EXPECT_TRUE(full.receive_until("\r\n\r\n").starts_with("HTTP/1.1 507"));
    EXPECT_EQ(diary_.bytes, 3U);
    auto other = server.connect();
    ASSERT_TRUE(other.send("PUT /echo HTTP/1.1\r\nContent-Length: 3\r\nExpect: tea\r\n\r\n"));
    EXPECT_TRUE(other.receive_until("\r\n\r\n").starts_with("HTTP/1.1 417"));
}

TEST_F(Bodies, ASinkHearsWhenTheRestWillNotCome)
{
    const TcpServer server(handlers());
    {
        auto client = server.connect();
        ASSERT_TRUE(client.send("PUT /sink HTTP/1.1\r\nContent-Length: 9\r\n\r\nabc"));
    }
    EXPECT_TRUE(becomes(diary_.aborted, 1));
    auto half = server.connect();
    ASSERT_TRUE(half.send("PUT /sink HTTP/1.1\r\nContent-Length: 9\r\n\r\nabc"));
    half.end_sending();
    EXPECT_TRUE(half.receive_all().starts_with("HTTP/1.1 400"));
    EXPECT_TRUE(becomes(diary_.aborted, 2));
    auto nonsense = server.connect();
    ASSERT_TRUE(nonsense.send("PUT /sink HTTP/1.1\r\nTransfer-Encoding: chunked\r\n\r\nzz\r\nabc"));
    EXPECT_TRUE(nonsense.receive_until("\r\n").starts_with("HTTP/1.1 400"));
    EXPECT_TRUE(becomes(diary_.aborted, 3));
    EXPECT_TRUE(becomes(diary_.gone, 3));
    EXPECT_EQ(diary_.finished, 0);
}

TEST_F(Bodies, AStreamThatDripsIsGivenUp)
{
    ServerOptions options;
    options.request_timeout = 50ms;
    const TcpServer server(handlers(), options);
    auto client = server.connect();
    ASSERT_TRUE(client.send("PUT /sink HTTP/1.1\r\nContent-Length: 9999\r\n\r\n"));
    while (client.send("x") && diary_.aborted == 0)
        std::this_thread::sleep_for(5ms);
    EXPECT_TRUE(becomes(diary_.aborted, 1));
}

TEST_F(Bodies, ASinkThatHasEnoughAnswersAtOnce)
{
    most_ = 1 << 20;
    const TcpServer server(handlers());
    auto client = server.connect();
    ASSERT_TRUE(client.send("PUT /sink HTTP/1.1\r\nContent-Length: 8388608\r\n\r\n"));
    client.send(std::string(8 << 20, 'x'));  // as far as it gets
    EXPECT_TRUE(client.receive_until("\n").starts_with("HTTP/1.1 400"));
    EXPECT_TRUE(becomes(diary_.gone, 1));
    EXPECT_EQ(diary_.finished + diary_.aborted, 0);
}

TEST_F(Bodies, ALargeBodyIsRefusedByItsLengthOrWhenItHasCome)
{
    const TcpServer server(handlers());
    auto told = server.connect();
    ASSERT_TRUE(told.send("POST /echo?a=%20 HTTP/1.1\r\nContent-Length: 1001\r\n\r\n"));
    const auto answer = told.receive_until("}\n");
    EXPECT_TRUE(answer.starts_with("HTTP/1.1 413")) << answer;
    EXPECT_NE(answer.find(R"("at":"/echo?a=%20")"), std::string::npos) << answer;

    auto chunked = server.connect();
    ASSERT_TRUE(chunked.send("POST /echo HTTP/1.1\r\nTransfer-Encoding: chunked\r\n\r\n3e9\r\n" +
                             std::string(1001, 'x') + "\r\n0\r\n\r\n"));
    EXPECT_TRUE(chunked.receive_until("}\n").starts_with("HTTP/1.1 413"));

    // By the length of a chunk of which nothing came yet; a stream is refused what cannot be.
    const auto promise = [&server](const char* route, const char* length) {
        auto client = server.connect();
        EXPECT_TRUE(client.send(
            fmt::format("{} HTTP/1.1\r\nTransfer-Encoding: chunked\r\n\r\n{}\r\n", route, length)));
        return client.receive_until("}\n").substr(0, 12);
    };
    EXPECT_EQ(promise("POST /echo", "3e9"), "HTTP/1.1 413");
    EXPECT_EQ(promise("POST /echo", "ffffffff"), "HTTP/1.1 413");
    EXPECT_EQ(promise("POST /echo", "ffffffffffffffff"), "HTTP/1.1 413");
    EXPECT_EQ(promise("PUT /sink", "ffffffffffffffff"), "HTTP/1.1 400");
    EXPECT_EQ(promise("PUT /sink", "ffffffffffffffff0"), "HTTP/1.1 400");

    auto just = server.connect();
    ASSERT_TRUE(
        just.send("POST /echo HTTP/1.1\r\nContent-Length: 1000\r\n\r\n" + std::string(1000, 'x')));
    EXPECT_TRUE(just.receive_until("\n").starts_with("HTTP/1.1 200"));
}

TEST_F(Bodies, ManyTinyChunksAreRefusedBeforeTheyCostMuch)
{
    const TcpServer server(handlers());
    const auto chunked = [](const std::string& path, const std::string& chunk, int count) {
        auto text = "POST /" + path + " HTTP/1.1\r\nTransfer-Encoding: chunked\r\n\r\n";
        for (int i = 0; i < count; ++i)
            text += chunk;
        return text;
    };
    for (const char* path : {"sink", "large"}) {
        auto client = server.connect();
        client.send(chunked(path, "1\r\n \r\n", 100'000));  // as far as it gets
        const auto refusal = client.receive_until("}\n");
        EXPECT_TRUE(refusal.starts_with("HTTP/1.1 400")) << refusal;
        EXPECT_NE(refusal.find("too small"), std::string::npos) << refusal;
    }
    EXPECT_TRUE(becomes(diary_.aborted, 1));
    EXPECT_LT(diary_.bytes, 16'384U);

    auto client = server.connect();  // a few of them, or small ones
    ASSERT_TRUE(client.send(chunked("large", "1\r\n \r\n", 3000) + "0\r\n\r\n"));
    EXPECT_TRUE(client.receive_until("\"\n").starts_with("HTTP/1.1 200"));
    ASSERT_TRUE(client.send(chunked("large", "8\r\n01234567\r\n", 50'000) + "0\r\n\r\n"));
    EXPECT_TRUE(client.receive_until("\"\n").starts_with("HTTP/1.1 200"));
}

TEST_F(Bodies, LittleIsReadOfABodyThatWasRefusedAndItsSenderSeesTheAnswer)
{
    const TcpServer server(handlers());
    const std::string block(1 << 20, 'x');
    constexpr int blocks = 96;
    auto client = server.connect();
    ASSERT_TRUE(client.send(
        fmt::format("POST /closed HTTP/1.1\r\nContent-Length: {}\r\n\r\n", blocks * block.size())));
    int sent = 0;
    while (sent < blocks && client.send(block))
        ++sent;
    EXPECT_LT(sent, 48);  // sockets hold some of it
    EXPECT_TRUE(client.receive_until("}\n").starts_with("HTTP/1.1 401"));

    auto moderate = server.connect();
    ASSERT_TRUE(moderate.send(
        fmt::format("POST /closed HTTP/1.1\r\nContent-Length: {}\r\n\r\n", 12 * block.size())));
    for (int i = 0; i < 12; ++i)
        ASSERT_TRUE(moderate.send(block));
    EXPECT_TRUE(moderate.receive_all().starts_with("HTTP/1.1 401"));
}

TEST(IoShareTest, WhoTakesMoreThanHalfOfAThreadsTimeWaits)
{
    IoShare share;
    const auto start = IoShare::Clock::now();
    share.charge(50'000'000, start);
    EXPECT_EQ(share.pause(start), 0ms);  // some is free
    share.charge(10'000'000, start);
    EXPECT_EQ(share.pause(start), 20ms);
    EXPECT_EQ(share.pause(start + 10ms), 10ms);
    EXPECT_EQ(share.pause(start + 20ms), 0ms);
    share.charge(std::int64_t{60} * 1'000'000'000, start);
    EXPECT_EQ(share.pause(start), 100ms);
}

TEST_F(Bodies, ABadChunkIsToldInTheWordsOfWhatWasAskedFor)
{
    const TcpServer server(handlers());
    auto client = server.connect();
    ASSERT_TRUE(client.send("POST /large HTTP/1.1\r\nTransfer-Encoding: chunked\r\n\r\nzz\r\n"));
    const auto refusal = client.receive_until("}\n");
    EXPECT_TRUE(refusal.starts_with("HTTP/1.1 400")) << refusal;
    EXPECT_NE(refusal.find("\"at\":\"/large\""), std::string::npos) << refusal;
}

TEST_F(Bodies, AllBodiesTogetherHaveABudget)
{
    ServerOptions options;
    options.body_budget = std::size_t{1} << 20;
    const TcpServer server(handlers(), options);
    auto first = server.connect();
    ASSERT_TRUE(first.send("POST /large HTTP/1.1\r\nContent-Length: 1000000\r\n"
                           "Expect: 100-continue\r\n\r\n"));
    ASSERT_EQ(first.receive_until("\r\n\r\n"), "HTTP/1.1 100 Continue\r\n\r\n");
    auto second = server.connect();
    const auto post = [&second](std::size_t size) {
        EXPECT_TRUE(second.send(fmt::format(
            "POST /large HTTP/1.1\r\nContent-Length: {}\r\n\r\n{}", size, std::string(size, 'y'))));
    };
    post(200'000);  // what is only announced takes no room
    EXPECT_TRUE(second.receive_until("y\"\n").starts_with("HTTP/1.1 200"));
    // Whoever comes second is refused: the first must have been read, however slow this machine is.
    std::string answer = "HTTP/1.1 200";
    for (auto wait = 20ms; answer.starts_with("HTTP/1.1 200") && wait < 10s; wait *= 2) {
        first = server.connect();
        ASSERT_TRUE(first.send("POST /large HTTP/1.1\r\nContent-Length: 1000000\r\n\r\n" +
                               std::string(999'999, 'x')));
        std::this_thread::sleep_for(wait);
        second = server.connect();
        post(200'000);
        answer = second.receive_until("\r\n\r\n");
    }
    EXPECT_TRUE(answer.starts_with("HTTP/1.1 503")) << answer;
    EXPECT_NE(answer.find("Retry-After: 1"), std::string::npos);
    second = server.connect();
    post(1000);  // a small one is always taken
    EXPECT_TRUE(second.receive_until("y\"\n").starts_with("HTTP/1.1 200"));

    ASSERT_TRUE(first.send("x"));
    EXPECT_TRUE(first.receive_until("\r\n").starts_with("HTTP/1.1 200"));
    auto third = server.connect();
    for (int i = 0; i < 3; ++i) {  // what was held is given back each time
        ASSERT_TRUE(third.send("POST /large HTTP/1.1\r\nContent-Length: 600000\r\n\r\n" +
                               std::string(600'000, 'z')));
        EXPECT_TRUE(third.receive_until("\"\n").starts_with("HTTP/1.1 200"));
    }
}

TEST_F(Bodies, WhatSaysItsLengthInTwoWaysOrInAStrangeOneIsRefusedAndNothingBehindItIsRead)
{
    for (const std::string head : {"Transfer-Encoding: xchunked",
                                   "Transfer-Encoding: identity",
                                   "Transfer-Encoding: gzip, chunked",
                                   "Transfer-Encoding: chunked, identity",
                                   "Transfer-Encoding:",
                                   "Transfer-Encoding: chunked\r\nTransfer-Encoding: chunked",
                                   "Transfer-Encoding: chunked\r\nContent-Length: 3",
                                   "Content-Length: 3\r\nContent-Length: 3",
                                   "Content-Length: 3, 3",
                                   "Host: a\r\nHost: b"}) {
        const TcpServer server(handlers());
        auto client = server.connect();
        ASSERT_TRUE(client.send("POST /echo HTTP/1.1\r\n" + head +
                                "\r\n\r\nGET /zeros?size=0&told=0 HTTP/1.1\r\n\r\n"));

        const auto all = client.receive_all();

        EXPECT_TRUE(all.starts_with("HTTP/1.1 400") || all.starts_with("HTTP/1.1 501")) << head;
        EXPECT_EQ(all.find("HTTP/1.1", 1), std::string::npos) << head << "\n" << all;
    }
}

}  // namespace
}  // namespace ponk::net
