// SPDX-License-Identifier: Apache-2.0
#include "base/synced.hpp"
#include "net/client.hpp"
#include "net/server.hpp"
#include "os/socket.hpp"
#include "os/wait.hpp"

#include <gtest/gtest.h>

#include <atomic>
#include <sys/socket.h>
#include <thread>

namespace ponk::net {
namespace {

using namespace std::chrono_literals;

// Gives what other threads put in, until told to end.
struct Queue {
    Synced<std::string> bytes;
    Synced<std::function<void()>> ring;
    std::atomic<bool> ended{false};

    void put(const std::string& more)
    {
        *bytes.lock() += more;
        const auto call = *ring.lock();
        if (call) call();
    }
};

class QueueSource final : public BodySource {
public:
    explicit QueueSource(std::shared_ptr<Queue> queue) : queue_(std::move(queue)) {}
    void attach(std::function<void()> ring) override { *queue_->ring.lock() = std::move(ring); }
    Step next(std::string& out) override
    {
        const bool ended = queue_->ended;
        auto bytes = queue_->bytes.lock();
        out += *bytes;
        bytes->clear();
        if (ended) return Step::end;
        return out.empty() ? Step::waiting : Step::data;
    }

private:
    std::shared_ptr<Queue> queue_;
};

class Servers : public testing::Test {
protected:
    Servers() : folder_(*os::make_temporary_directory(testing::TempDir(), "ponk-net-"))
    {
        server_.emplace(*os::listen_unix(folder_ / "s"), [this](const Request& request) {
            if (request.path.empty()) return error_response(Error(ErrorKind::not_found, "nothing"));
            if (request.path[0] == "echo") return json_response(Json(request.body));
            if (request.path[0] == "throw") throw std::runtime_error("thrown");
            Response response;
            response.stream = std::make_unique<QueueSource>(queue_);
            return response;
        });
    }
    ~Servers() override
    {
        server_.reset();
        static_cast<void>(os::remove_tree(folder_));
    }

    os::Path folder_;
    std::shared_ptr<Queue> queue_ = std::make_shared<Queue>();
    std::optional<Server> server_;
};

TEST_F(Servers, AnswersManyCallsOnOneConnection)
{
    Client client(folder_ / "s");
    for (int i = 0; i < 100; ++i) {
        const auto body = "x" + std::to_string(i);
        const auto reply = client.call("POST", "/echo", body, after(10s));
        ASSERT_TRUE(reply) << reply.error().message();
        EXPECT_EQ(reply->body, "\"" + body + "\"\n");
    }
    EXPECT_EQ(server_->open_connections(), 1U);
}

TEST_F(Servers, ErrorsKeepTheirKind)
{
    Client client(folder_ / "s");
    EXPECT_EQ(client.json("GET", "/", {}, after(10s)).error().kind(), ErrorKind::not_found);
    EXPECT_EQ(client.json("GET", "/throw", {}, after(10s)).error().kind(), ErrorKind::internal);
    EXPECT_EQ(client.json("GET", "/a/../b", {}, after(10s)).error().kind(),
              ErrorKind::invalid_argument);
}

TEST(ServerLimits, HalfARequestIsNotWaitedForWhileAnIdleConnectionStays)
{
    const os::Path folder = *os::make_temporary_directory(testing::TempDir(), "ponk-net-");
    {
        ServerOptions options;
        options.head_timeout = 100ms;
        const Server server(
            *os::listen_unix(folder / "s"),
            [](const Request&) { return json_response(Json("yes")); },
            options);
        Client patient(folder / "s");
        ASSERT_TRUE(patient.call("GET", "/", "", after(10s)));
        std::vector<os::Fd> halves;
        for (const std::string_view half :
             {"G", "GET / HTTP/1.1\r\n", "GET / HTTP/1.1\r\nHost: a"}) {
            halves.push_back(*os::connect_unix(folder / "s"));
            ASSERT_TRUE(os::write_all(halves.back().get(), half));
        }
        for (const auto& half : halves) {
            ASSERT_TRUE(os::wait_readable(half.get(), after(10s), {}));
            char byte = 0;
            EXPECT_EQ(::recv(half.get(), &byte, 1, 0), 0) << "closed, without an answer";
        }
        // A connection is counted until its last handler has run.
        for (const auto limit = after(10s);
             server.open_connections() > 1 && Deadline::clock::now() < limit;)
            std::this_thread::sleep_for(1ms);
        EXPECT_EQ(server.open_connections(), 1U);
        EXPECT_TRUE(patient.call("GET", "/", "", after(10s)));
    }
    static_cast<void>(os::remove_tree(folder));
}

TEST_F(Servers, StreamsAsBytesCome)
{
    std::string seen;
    std::jthread writer([this] {
        for (int i = 0; i < 100; ++i)
            queue_->put(std::string(10'000, static_cast<char>('a' + i % 26)));
        queue_->ended = true;
        queue_->put("end");
    });
    Client client(folder_ / "s");

    const auto reply = client.stream(
        "/queue",
        [&seen](std::string_view bytes) {
            seen += bytes;
            return true;
        },
        10s);

    ASSERT_TRUE(reply) << reply.error().message();
    EXPECT_EQ(seen.size(), 1'000'003U);
    EXPECT_TRUE(client.call("POST", "/echo", "again", after(10s)));  // the connection is usable
}

TEST_F(Servers, NoticesAFollowerThatLeft)
{
    {
        Client client(folder_ / "s");
        const auto reply = client.stream(
            "/queue", [](std::string_view) { return true; }, 50ms);
        EXPECT_EQ(reply.error().kind(), ErrorKind::timeout);
    }
    for (int i = 0; i < 500 && server_->open_connections() > 0; ++i)
        std::this_thread::sleep_for(10ms);
    EXPECT_EQ(server_->open_connections(), 0U);
}

TEST_F(Servers, RefusesWhatIsTooLargeOrNoHttp)
{
    Client client(folder_ / "s");
    const auto large = client.call("POST", "/echo", std::string(17 << 20, 'x'), after(20s));
    if (large) {  // or the connection broke while sending
        EXPECT_EQ(large->status, 413);
    }

    const auto socket = *os::connect_unix(folder_ / "s");
    ASSERT_GT(::send(socket.get(), "\x16\x03\x01 nonsense\r\n\r\n", 16, MSG_NOSIGNAL), 0);
    char answer[64] = {};
    ASSERT_GT(::recv(socket.get(), answer, sizeof answer, 0), 12);
    EXPECT_EQ(std::string_view(answer, 12), "HTTP/1.1 400");
}

TEST_F(Servers, AnEndBeforeTheAnswerIsNoAnswer)
{
    const auto listener = *os::listen_unix(folder_ / "mute");
    std::jthread peer([&listener] {
        static_cast<void>(os::wait_readable(listener.get(), after(10s), {}));
        const os::Fd caller(::accept(listener.get(), nullptr, nullptr));
        char request[4096];
        EXPECT_GT(::recv(caller.get(), request, sizeof request, 0), 0);
    });
    Client client(folder_ / "mute");

    const auto reply = client.call("POST", "/runs", "{}", after(10s));

    ASSERT_FALSE(reply);
    EXPECT_EQ(reply.error().kind(), ErrorKind::unavailable);
}

TEST_F(Servers, NobodyListeningIsUnavailable)
{
    Client client(folder_ / "none");
    const auto reply = client.call("GET", "/", "", after(1s));
    ASSERT_FALSE(reply);
    EXPECT_EQ(reply.error().kind(), ErrorKind::not_found);
}

}  // namespace
}  // namespace ponk::net
