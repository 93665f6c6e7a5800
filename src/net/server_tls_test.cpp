// SPDX-License-Identifier: Apache-2.0
// TLS: what is spoken, and that a client knows whom it talks to.
#include "base/hash.hpp"
#include "net/own_certificate.hpp"
#include "net/server_test_support.hpp"
#include "net/tls.hpp"
#include "os/test_folder.hpp"

#include <openssl/ssl.h>

#include <atomic>
#include <memory>
#include <sys/stat.h>

namespace ponk::net {
namespace {

Handlers path_back()
{
    return {.answer = [](const Request& request) {
        if (!request.body.empty()) return json_response(Json(sha256(request.body).text()));
        return json_response(JsonObject{{"path", request.path.empty() ? "" : request.path[0]}});
    }};
}

// A client that trusts one certificate and asks for a name.
class TlsClient {
public:
    TlsClient(const os::Path& certificate, const char* name = "127.0.0.1")
        : context_(SSL_CTX_new(TLS_client_method()), SSL_CTX_free), name_(name)
    {
        EXPECT_EQ(SSL_CTX_load_verify_locations(context_.get(), certificate.c_str(), nullptr), 1);
        SSL_CTX_set_verify(context_.get(), SSL_VERIFY_PEER, nullptr);
        auto* const parameters = SSL_CTX_get0_param(context_.get());
        X509_VERIFY_PARAM_set_flags(parameters, X509_V_FLAG_X509_STRICT);
        EXPECT_EQ(X509_VERIFY_PARAM_set1_ip_asc(parameters, name_), 1);
    }
    void offer(const char* suites, int version)
    {
        EXPECT_EQ(SSL_CTX_set_cipher_list(context_.get(), suites), 1) << suites;
        SSL_CTX_set_max_proto_version(context_.get(), version);
    }
    // The answer to a request, or nothing when there was no handshake.
    std::string ask(std::uint16_t port,
                    std::string_view request = "GET /x HTTP/1.1\r\nConnection: close\r\n\r\n")
    {
        const auto socket = *os::connect_tcp(os::loopback_address(AF_INET, port));
        const std::unique_ptr<SSL, decltype(&SSL_free)> stream(SSL_new(context_.get()), SSL_free);
        SSL_set_fd(stream.get(), socket.get());
        if (SSL_connect(stream.get()) != 1) return {};
        version_ = SSL_version(stream.get());
        if (SSL_write(stream.get(), request.data(), static_cast<int>(request.size())) <= 0)
            return {};
        std::string answer;
        char block[4096];
        for (int got = 0; (got = SSL_read(stream.get(), block, sizeof block)) > 0;)
            answer.append(block, static_cast<std::size_t>(got));
        return answer;
    }
    [[nodiscard]] int version() const { return version_; }

private:
    std::unique_ptr<SSL_CTX, decltype(&SSL_CTX_free)> context_;
    const char* name_;
    int version_ = 0;
};

class TlsServers : public testing::Test {
protected:
    std::uint16_t
    serve(Listener::Plain plain, Handlers handlers = path_back(), ServerOptions options = {})
    {
        auto socket = *os::listen_tcp(os::loopback_address(AF_INET, 0));
        const auto port = *os::port_of(socket.get());
        std::vector<Listener> listeners;
        listeners.push_back({.socket = std::move(socket),
                             .listener_kind = ListenerKind::loopback,
                             .tls = *Tls::load(files_.certificate, files_.key),
                             .plain = plain});
        servers_.push_back(
            std::make_unique<Server>(std::move(listeners), std::move(handlers), options));
        return port;
    }
    std::string mode(const os::Path& file)
    {
        struct stat info {};
        EXPECT_EQ(::stat(file.c_str(), &info), 0);
        return fmt::format("{:o}", info.st_mode & 0777U);
    }

    os::TestFolder folder_;
    CertificateFiles files_ = *keep_own_certificate(folder_.path());
    std::vector<std::unique_ptr<Server>> servers_;
};

TEST_F(TlsServers, TheOwnCertificateStaysAndIsPrivate)
{
    EXPECT_EQ(mode(files_.key), "600");
    const auto certificate = *os::read_file(files_.certificate);
    const auto key = *os::read_file(files_.key);
    ASSERT_TRUE(keep_own_certificate(folder_.path()));
    EXPECT_EQ(*os::read_file(files_.certificate), certificate);
    // Half of it is worth nothing, and neither is the half of another one.
    const os::TestFolder other;
    ASSERT_TRUE(keep_own_certificate(other.path()));
    for (const auto& wrong :
         {std::string("no key"), *os::read_file(other.path() / "loopback.key")}) {
        ASSERT_TRUE(os::replace_file(files_.key, wrong));
        ASSERT_TRUE(keep_own_certificate(folder_.path()));
        EXPECT_NE(*os::read_file(files_.certificate), certificate);
        EXPECT_NE(*os::read_file(files_.key), key);
        EXPECT_TRUE(Tls::load(files_.certificate, files_.key));
    }
}

TEST_F(TlsServers, AClientTalksToTheOwnerOfTheCertificateOrToNobody)
{
    const auto port = serve(Listener::Plain::accepted);
    EXPECT_TRUE(TlsClient(files_.certificate).ask(port).ends_with("{\"path\":\"x\"}\n"));
    EXPECT_TRUE(TlsClient(files_.certificate, "::1").ask(port).ends_with("{\"path\":\"x\"}\n"));
    EXPECT_EQ(TlsClient(files_.certificate, "127.0.0.2").ask(port), "");
    // Somebody else has the port, with a certificate just like it.
    const os::TestFolder other;
    const auto theirs = *keep_own_certificate(other.path());
    EXPECT_EQ(TlsClient(theirs.certificate).ask(port), "");
}

TEST_F(TlsServers, OnePortServesBothByTheFirstByte)
{
    const auto both = serve(Listener::Plain::accepted);
    for (int i = 0; i < 3; ++i) {
        EXPECT_TRUE(TlsClient(files_.certificate).ask(both).starts_with("HTTP/1.1 200"));
        RawClient plain(both);
        for (int again = 0; again < 2; ++again) {
            ASSERT_TRUE(plain.send("GET /y HTTP/1.1\r\n\r\n"));
            EXPECT_TRUE(plain.receive_until("}\n").ends_with("{\"path\":\"y\"}\n"));
        }
    }
    RawClient torn(both);
    ASSERT_TRUE(torn.send(std::string("\x16\x03\x01\x00\x05", 5)));
    torn.end_sending();
    EXPECT_EQ(torn.receive_all().find("HTTP"), std::string::npos);
    RawClient silent(both);
    silent.end_sending();
    EXPECT_EQ(silent.receive_all(), "");
    RawClient refused(serve(Listener::Plain::refused));
    ASSERT_TRUE(refused.send("GET /y HTTP/1.1\r\n\r\n"));
    EXPECT_EQ(refused.receive_all().find("HTTP/1.1 200"), std::string::npos);
}

TEST_F(TlsServers, HandshakesWaitForWorkersAndWhoIsInDoesNotWaitForThem)
{
    std::atomic<bool> held = false;
    std::atomic<bool> open = false;
    ServerOptions options;
    options.workers = 1;
    const Handlers handlers{.answer =
                                [&](const Request&) {
                                    held = true;
                                    while (!open)
                                        std::this_thread::sleep_for(std::chrono::milliseconds(1));
                                    return json_response(Json("held"));
                                },
                            .receive =
                                [](const Request& head) {
                                    Reception reception;
                                    if (head.path.at(0) == "x")
                                        reception.answer = json_response(Json("x"));
                                    return reception;
                                }};
    const auto port = serve(Listener::Plain::accepted, handlers, options);
    RawClient holder(port);
    ASSERT_TRUE(holder.send("GET /hold HTTP/1.1\r\n\r\n"));
    while (!held)
        std::this_thread::sleep_for(std::chrono::milliseconds(1));

    std::atomic<bool> greeted = false;
    std::jthread stranger([&] {
        EXPECT_TRUE(TlsClient(files_.certificate).ask(port).ends_with("\"x\"\n"));
        greeted = true;
    });
    RawClient known(port);
    for (int i = 0; i < 200; ++i) {
        ASSERT_TRUE(known.send("GET /x HTTP/1.1\r\n\r\n"));
        ASSERT_TRUE(known.receive_until("\"x\"\n").starts_with("HTTP/1.1 200"));
    }
    EXPECT_FALSE(greeted);
    open = true;
}

TEST_F(TlsServers, ALargeBodyComesWhole)
{
    std::string body(5'000'000, 'x');
    for (std::size_t i = 0; i < body.size(); i += 101)
        body[i] = static_cast<char>('a' + i % 23);
    const auto request = fmt::format(
        "POST /x HTTP/1.1\r\nConnection: close\r\nContent-Length: {}\r\n\r\n{}", body.size(), body);
    for (const auto plain : {Listener::Plain::accepted, Listener::Plain::refused}) {
        const auto answer = TlsClient(files_.certificate).ask(serve(plain), request);
        EXPECT_TRUE(answer.ends_with(sha256(body).text() + "\"\n")) << answer;
    }
}

TEST_F(TlsServers, OnlyModernSuitesAreSpoken)
{
    const auto port = serve(Listener::Plain::refused);
    TlsClient newest(files_.certificate);
    EXPECT_NE(newest.ask(port), "");
    EXPECT_EQ(newest.version(), TLS1_3_VERSION);
    for (const auto* suite : {"ECDHE-ECDSA-AES128-GCM-SHA256", "ECDHE-ECDSA-CHACHA20-POLY1305"}) {
        TlsClient client(files_.certificate);
        client.offer(suite, TLS1_2_VERSION);
        EXPECT_NE(client.ask(port), "") << suite;
    }
    for (const auto* suite :
         {"ECDHE-ECDSA-AES128-SHA256", "ECDHE-ECDSA-AES256-SHA", "ECDHE-ECDSA-AES128-CCM"}) {
        TlsClient client(files_.certificate);
        client.offer(suite, TLS1_2_VERSION);
        EXPECT_EQ(client.ask(port), "") << suite;
    }
}

}  // namespace
}  // namespace ponk::net
