// SPDX-License-Identifier: Apache-2.0
// Answers that nobody waits for on a worker.
#include "base/synced.hpp"
#include "net/server_test_support.hpp"
#include "net/workers.hpp"

#include <atomic>

namespace ponk::net {
namespace {

using namespace std::chrono_literals;

// "/later" is answered by a thread of its own, "/now" at once, "/throw" by an exception; the rest
// is left to the handler.
class LaterAnswers : public testing::Test {
protected:
    Handlers handlers()
    {
        return {.answer =
                    [](const Request& request) {
                        return json_response(Json("by a worker: " + request.body));
                    },
                .receive =
                    [this](const Request& head) {
                        Reception reception;
                        reception.client = head.parameter("client").value_or("");
                        reception.begin = [this](const Request& request, const Respond& respond) {
                            return begin(request, respond);
                        };
                        return reception;
                    }};
    }

    bool begin(const Request& request, const Respond& respond)
    {
        const auto& path = request.path.at(0);
        if (path == "thread") {
            if (request.body.starts_with("spin")) spin();
            respond(json_response(Json(thread_name())));
            return true;
        }
        if (path == "throw") throw std::runtime_error("thrown");
        if (path == "now") respond(json_response(Json("now: " + request.body)));
        if (path == "later") {
            threads_.lock()->emplace_back([respond, body = request.body, this] {
                std::this_thread::sleep_for(2ms);
                respond(json_response(Json("later: " + body)));
                ++answered_;
            });
        }
        return path == "now" || path == "later";
    }

    // Uses more CPU time than a client may without being a heavy one.
    static void spin()
    {
        const auto before = thread_cpu_time();
        while (thread_cpu_time() - before < 250'000'000) {
        }
    }

    static std::string post(const std::string& path, const std::string& body)
    {
        return "POST /" + path + " HTTP/1.1\r\nContent-Length: " + std::to_string(body.size()) +
               "\r\n\r\n" + body;
    }

    std::atomic<int> answered_ = 0;
    Synced<std::vector<std::jthread>> threads_;
};

TEST_F(LaterAnswers, ComeInTheOrderOfTheRequestsWhoeverGivesThem)
{
    const TcpServer server(handlers());
    auto client = server.connect();

    client.send(post("later", "a") + post("worker", "b") + post("now", "c") + post("throw", "d") +
                post("later", std::string(100'000, 'x')) + post("now", "last"));

    const auto seen = client.receive_until("now: last");
    std::size_t at = 0;
    for (const char* part : {"later: a", "by a worker: b", "now: c", "thrown", "later: xxx"}) {
        at = seen.find(part, at);
        ASSERT_NE(at, std::string::npos) << part;
    }
}

// Each is a step of its own: however many there are, none stands on the stack of another.
TEST_F(LaterAnswers, ThousandsOfRequestsInOnePieceAreAnswered)
{
    const TcpServer server(handlers());
    auto client = server.connect();
    std::string all;
    constexpr int count = 8'000;
    for (int i = 0; i < count; ++i)
        all += post("now", "x");

    std::jthread sender([&] { client.send(all + post("now", "end")); });

    const auto seen = client.receive_until("now: end");
    int found = 0;
    for (std::size_t at = 0; (at = seen.find("now: x", at)) != std::string::npos; ++at)
        ++found;
    EXPECT_EQ(found, count);
}

TEST_F(LaterAnswers, WhoLeftIsNotAnsweredAndTheServerWaitsForPromises)
{
    {
        const TcpServer server(handlers());
        for (int i = 0; i < 20; ++i)
            server.connect().send(post("later", "x"));
        auto stays = server.connect();
        stays.send(post("later", "y"));
        stays.receive_until("later: y");
        for (int i = 0; i < 5; ++i)
            stays.send(post("later", "z"));
        std::this_thread::sleep_for(1ms);
    }
    threads_.lock()->clear();
    EXPECT_GE(answered_, 1);
}

TEST_F(LaterAnswers, BeginOnAWorkerWhereTheBodyIsLargeOrTheClientUsedMuchCpuTime)
{
    const TcpServer server(handlers());
    auto client = server.connect();
    const auto thread_of = [&client](const std::string& path, const std::string& body) {
        client.send(post(path, body));
        client.receive_until("\r\n\r\n");
        return client.receive_until("\n");
    };
    EXPECT_NE(thread_of("thread", "small"), "\"ponk-worker\"\n");
    EXPECT_EQ(thread_of("thread", std::string(300'000, 'x')), "\"ponk-worker\"\n");

    EXPECT_NE(thread_of("thread?client=a", "spin" + std::string(5'000, ' ')), "\"ponk-worker\"\n");
    EXPECT_EQ(thread_of("thread?client=a", "small"), "\"ponk-worker\"\n");
    EXPECT_NE(thread_of("thread?client=b", "small"), "\"ponk-worker\"\n");
    // The handler is asked from there as ever.
    EXPECT_EQ(thread_of("other?client=a", "x"), "\"by a worker: x\"\n");
}

}  // namespace
}  // namespace ponk::net
