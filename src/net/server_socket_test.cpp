// SPDX-License-Identifier: Apache-2.0
// WebSockets of the server: the handshake, turns, slow readers, silence, and the end.
#include "base/synced.hpp"
#include "net/socket_test_support.hpp"
#include "net/web_socket.hpp"

#include <atomic>
#include <functional>

namespace ponk::net {
namespace {

using namespace std::chrono_literals;

// What all dialogues of a test share.
struct Room {
    std::atomic<int> number{0};  // the news: only the latest counts
    std::atomic<int> open{0};
    std::atomic<int> said{0};
    std::atomic<std::size_t> size{0};  // of what is said besides
    Synced<std::vector<std::function<void()>>> rings;

    void tell(int news)
    {
        number = news;
        const auto all = *rings.lock();
        for (const auto& ring : all)
            ring();
    }
};

// Repeats what it hears, and tells the number when that is another one.
class Echo final : public Dialogue {
public:
    explicit Echo(Room& room) : room_(room) { ++room_.open; }
    ~Echo() override { --room_.open; }
    Echo(const Echo&) = delete;
    Echo& operator=(const Echo&) = delete;

    void attach(std::function<void()> ring) override
    {
        room_.rings.lock()->push_back(std::move(ring));
    }
    void take(std::string_view message) override
    {
        if (message == "throw") throw std::runtime_error("thrown");
        if (message == "hello") client_ = "ann";
        heard_ = message;
    }
    Step next(std::string& out) override
    {
        if (heard_ == "end") return Step::end;
        if (!heard_.empty()) {
            out = "heard " + std::exchange(heard_, {});
            return Step::message;
        }
        const int now = room_.number;
        if (std::exchange(told_, now) == now) return Step::waiting;
        out = std::to_string(now) + std::string(room_.size, ' ');
        ++room_.said;
        return Step::message;
    }
    [[nodiscard]] std::chrono::milliseconds patience() const override { return 1h; }
    [[nodiscard]] std::string client() const override { return client_; }
    [[nodiscard]] Closing closing() const override { return {4000, "as it was asked"}; }

private:
    Room& room_;
    int told_ = 0;
    std::string heard_;
    std::string client_;
};

class Sockets : public testing::Test {
protected:
    Handlers handlers()
    {
        return {.answer = [this](const Request& request) {
            if (request.path.at(0) != "live") return json_response(Json("a call"));
            return begin_web_socket(request, std::make_unique<Echo>(room_));
        }};
    }
    static RawClient enter(const TcpServer& server)
    {
        auto client = server.connect();
        client.send(upgrade);
        EXPECT_NE(client.receive_until("\r\n\r\n").find("101 Switching Protocols"),
                  std::string::npos);
        return client;
    }
    static void talk(RawClient& client, const std::string& text)
    {
        client.send(client_text(text));
        EXPECT_NE(client.receive_until(server_text("heard " + text)), "");
    }
    static std::string closed(RawClient& client, int code)
    {
        std::string mark;
        mark += static_cast<char>(code >> 8);
        mark += static_cast<char>(code & 0xff);
        const auto all = client.receive_until(mark);
        EXPECT_TRUE(all.ends_with(mark)) << all;
        return all;
    }

    Room room_;
};

TEST_F(Sockets, BeginWithAHandshake)
{
    const TcpServer server(handlers());
    auto client = server.connect();
    // A frame that comes with the request is not lost.
    client.send(upgrade + client_text("first"));

    const auto head = client.receive_until("\r\n\r\n");

    EXPECT_TRUE(head.starts_with("HTTP/1.1 101 Switching Protocols\r\n")) << head;
    // The example of RFC 6455, 1.3.
    EXPECT_NE(head.find("Sec-WebSocket-Accept: s3pPLMBiTxaQ9kYGzzhZRbK+xOo=\r\n"), head.npos);
    EXPECT_EQ(head.find("Content-"), head.npos);
    EXPECT_EQ(client.receive_until("first"), server_text("heard first"));
    talk(client, "second");
}

TEST_F(Sockets, AreRefusedToWhoAsksForNone)
{
    const TcpServer server(handlers());
    for (const auto& [wrong, right, status] : {
             std::tuple{"Upgrade: websocket", "Upgrade: h2c", "426"},
             {"Connection: keep-alive, Upgrade", "Connection: keep-alive", "426"},
             {"Version: 13", "Version: 8", "426"},
             {"dGhlIHNhbXBsZSBub25jZQ==", "c2hvcnQ=", "400"},
             {"GET", "POST", "426"},
         }) {
        auto text = upgrade;
        text.replace(text.find(wrong), std::string_view(wrong).size(), right);
        auto client = server.connect();
        client.send(text);
        EXPECT_TRUE(client.receive_until("\r\n").starts_with(std::string("HTTP/1.1 ") + status))
            << right;
    }
    EXPECT_EQ(room_.open, 0);
}

TEST_F(Sockets, TellNewsWhenTheyAreRung)
{
    const TcpServer server(handlers());
    auto one = enter(server);
    auto two = enter(server);
    talk(one, "a");
    talk(two, "b");
    room_.tell(7);
    EXPECT_EQ(one.receive_until("7"), server_text("7"));
    EXPECT_EQ(two.receive_until("7"), server_text("7"));
}

TEST_F(Sockets, HoldOneMessageForWhoDoesNotRead)
{
    const TcpServer server(handlers());
    auto client = enter(server);
    talk(client, "hello");
    room_.size = std::size_t{8} << 20;
    room_.tell(1);
    const auto limit = after(20s);
    while (room_.said < 1 && Deadline::clock::now() < limit)
        std::this_thread::sleep_for(1ms);
    room_.size = 0;
    for (int news = 2; news <= 1000; ++news)
        room_.tell(news);
    EXPECT_NE(client.receive_until(server_text("1000")).find("1   "), std::string::npos);
    // The first, and the newest when that was read; what came between was never made.
    EXPECT_LE(room_.said, 3);
}

TEST_F(Sockets, CutOffWhoNeverReads)
{
    ServerOptions options;
    options.request_timeout = 200ms;
    const TcpServer server(handlers(), options);
    auto client = enter(server);
    talk(client, "hello");
    room_.size = std::size_t{16} << 20;
    room_.tell(1);
    EXPECT_TRUE(server.comes_down_to(0));
    EXPECT_EQ(room_.open, 0);
}

TEST_F(Sockets, AnswerPingsAndEndWhenAsked)
{
    const TcpServer server(handlers());
    auto client = enter(server);
    client.send(client_frame(9, "are you there"));
    EXPECT_EQ(client.receive_until("there"),
              "\x8a\x0d"
              "are you there");
    client.send(client_frame(8, "\x03\xe8"));
    EXPECT_EQ(client.receive_all(), std::string("\x88\x02\x03\xe8", 4));
    auto other = enter(server);
    other.send(client_text("end"));
    closed(other, 4000);
    EXPECT_EQ(other.receive_until("asked"), "as it was asked");
    other.send(client_frame(8, "\x03\xe8"));
    EXPECT_EQ(other.receive_all(), "");
    auto third = enter(server);
    third.send(client_text("throw"));
    closed(third, 4000);
}

TEST_F(Sockets, PingAndEndThoseThatAreSilent)
{
    ServerOptions options;
    options.ping_interval = 20ms;
    options.silence_limit = 300ms;
    const TcpServer server(handlers(), options);
    auto lively = enter(server);
    auto silent = enter(server);
    const auto ping = std::string("\x89\0", 2);
    // Who answers stays, for longer than the limit.
    const auto until = after(900ms);
    while (Deadline::clock::now() < until) {
        EXPECT_TRUE(lively.receive_until(ping).ends_with(ping));
        lively.send(client_frame(10, ""));
    }
    EXPECT_TRUE(silent.receive_all().starts_with(ping));
    EXPECT_TRUE(server.comes_down_to(1));
    talk(lively, "still");
}

TEST_F(Sockets, SayWhatWasWrongBeforeTheyEnd)
{
    const TcpServer server(handlers());
    for (const auto& [bytes, code] : {
             std::pair{std::string("\x81\x02hi"), 1002},
             {client_frame(2, "x"), 1003},
             {client_frame(1, "\xff"), 1007},
             {client_frame(1, std::string(17 * 1024, 'x')), 1009},
         }) {
        auto client = enter(server);
        client.send(bytes + client_text("behind it"));
        closed(client, code);
        client.end_sending();
        EXPECT_EQ(client.receive_all().find("heard"), std::string::npos);
    }
    EXPECT_TRUE(server.comes_down_to(0));
}

TEST_F(Sockets, GiveWayUntilTheySaidWhoTheyAre)
{
    ServerOptions options;
    options.connection_limit = 3;
    const TcpServer server(handlers(), options);
    auto known = enter(server);
    talk(known, "hello");
    auto stranger = enter(server);
    auto other = enter(server);
    auto caller = server.connect();
    EXPECT_EQ(stranger.receive_all(), "");
    caller.send("GET /call HTTP/1.1\r\nConnection: close\r\n\r\n");
    EXPECT_NE(caller.receive_all().find("a call"), std::string::npos);
    talk(known, "still here");
    talk(other, "here, too");
}

TEST_F(Sockets, HearThatTheServerEnds)
{
    auto server = std::make_unique<TcpServer>(handlers());
    auto client = enter(*server);
    talk(client, "hello");
    std::thread end([&server] { server.reset(); });
    closed(client, 1001);
    client.send(client_frame(8, "\x03\xe9"));
    EXPECT_EQ(client.receive_all(), "the daemon ends");
    end.join();
    EXPECT_EQ(room_.open, 0);
}

TEST_F(Sockets, OfThousandsThatComeAndGoNoneStays)
{
    const TcpServer server(handlers());
    for (int round = 0; round < 4; ++round) {
        std::vector<RawClient> clients;
        for (int i = 0; i < 250; ++i) {
            clients.push_back(server.connect());
            clients.back().send(upgrade + client_text("hello"));
        }
        for (auto& client : clients)
            EXPECT_NE(client.receive_until(server_text("heard hello")), "");
    }
    EXPECT_TRUE(server.comes_down_to(0));
    EXPECT_EQ(room_.open, 0);
}

}  // namespace
}  // namespace ponk::net
