// SPDX-License-Identifier: Apache-2.0
// Bodies of requests, whole and as streams, and answers with a length.
#include "base/synced.hpp"
#include "base/work_budget.hpp"
#include "net/account.hpp"
#include "net/server_test_support.hpp"

#include <atomic>
#include <condition_variable>
#include <thread>

namespace ponk::net {
namespace {

using namespace std::chrono_literals;

// What sinks were told.
struct Diary {
    std::atomic<std::size_t> bytes{0};
    std::atomic<std::size_t> largest{0};
    std::atomic<int> finished{0};
    std::atomic<int> aborted{0};
    std::atomic<int> gone{0};
};

class CountingSink final : public BodySink {
public:
    CountingSink(Diary& diary, std::size_t most) : diary_(diary), most_(most) {}
    ~CountingSink() override { ++diary_.gone; }
    std::optional<Response> open() override
    {
        if (most_ > 0) return std::nullopt;
        return error_response(Error(ErrorKind::unavailable, "no room"), 507);
    }
    std::optional<Response> write(std::string_view bytes) override
    {
        EXPECT_FALSE(bytes.empty());
        diary_.bytes += bytes.size();
        diary_.largest = std::max(diary_.largest.load(), bytes.size());
        if (diary_.bytes > most_)
            return error_response(Error(ErrorKind::invalid_argument, "full"), 400);
        return std::nullopt;
    }
    Response finish() override
    {
        ++diary_.finished;
        return json_response(Json(static_cast<std::uint64_t>(diary_.bytes)));
    }
    void abort() noexcept override { ++diary_.aborted; }

private:
    Diary& diary_;
    std::size_t most_;
};

class Zeros final : public BodySource {
public:
    explicit Zeros(std::uint64_t size) : left_(size) {}
    void attach(std::function<void()> /*ring*/) override {}
    Step next(std::string& out) override
    {
        const auto now = std::min<std::uint64_t>(left_, 50'000);
        out.append(now, '0');
        left_ -= now;
        return left_ == 0 ? Step::end : Step::data;
    }

private:
    std::uint64_t left_;
};

// Pieces that are larger than what sockets hold. Says before it makes one, where it should.
class LargePieces final : public BodySource {
public:
    enum class Charge { no, yes };

    LargePieces(std::atomic<int>& made, std::size_t size, Charge charge)
        : made_(made), size_(size), charge_(charge)
    {
    }
    void attach(std::function<void()> /*ring*/) override {}
    Step next(std::string& out) override
    {
        if (charge_ == Charge::yes && !charge_answer(size_)) return Step::no_room;
        ++made_;
        out.append(size_, 'p');
        return --left_ == 0 ? Step::end : Step::data;
    }

private:
    std::atomic<int>& made_;
    std::size_t size_;
    Charge charge_;
    int left_ = 2;
};

class Bodies : public testing::Test {
protected:
    static constexpr std::size_t text_size = std::size_t{24} << 20;  // more than sockets hold

    Handlers handlers()
    {
        Handlers handlers;
        handlers.answer = [this](const Request& request) {
            if (request.path[0] == "text") {
                Response text;
                text.body = std::string(text_size, 'x') + "\n";
                return text;
            }
            if (request.path[0] == "pieces") {
                Response pieces;
                pieces.stream = std::make_unique<LargePieces>(
                    made_,
                    text_size,
                    request.parameter("free") ? LargePieces::Charge::no : LargePieces::Charge::yes);
                return pieces;
            }
            if (request.path[0] != "zeros") return json_response(Json(request.body));
            Response response;
            response.type = "application/octet-stream";
            const auto size = std::stoull(request.parameter("size").value_or("0"));
            response.stream = std::make_unique<Zeros>(size);
            response.stream_size = std::stoull(request.parameter("told").value_or("0"));
            return response;
        };
        handlers.receive = [this](const Request& head) {
            EXPECT_TRUE(head.body.empty());
            Reception reception;
            reception.body_limit = 1000;
            if (head.path[0] == "sink")
                reception.sink = std::make_unique<CountingSink>(diary_, most_);
            if (head.path[0] == "large") reception.body_limit = std::size_t{1} << 20;
            if (head.path[0] == "closed")
                reception.answer = error_response(Error(ErrorKind::conflict, "no"), 401);
            return reception;
        };
        handlers.error_shape = [](std::string_view target, const Error& error, int status) {
            return json_response(JsonObject{{"at", target}, {"said", error.message()}}, status);
        };
        return handlers;
    }

    bool becomes(const std::atomic<int>& value, int wanted)
    {
        const auto limit = after(20s);
        while (value != wanted && Deadline::clock::now() < limit)
            std::this_thread::sleep_for(1ms);
        return value == wanted;
    }

    Diary diary_;
    std::atomic<int> made_ = 0;
    std::size_t most_ = std::size_t{1} << 40;
};

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
