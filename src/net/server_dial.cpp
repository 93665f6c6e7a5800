// SPDX-License-Identifier: Apache-2.0
#include "net/server_dial.hpp"

#include "net/http_client.hpp"
#include "os/tcp_socket.hpp"
#include "os/wait.hpp"

#include <fmt/format.h>
#include <openssl/bio.h>
#include <openssl/err.h>
#include <openssl/ssl.h>
#include <openssl/x509v3.h>

#include <algorithm>
#include <arpa/inet.h>
#include <cerrno>
#include <cstdint>
#include <netinet/in.h>
#include <netinet/tcp.h>
#include <sys/socket.h>
#include <unistd.h>

namespace ponk::net {

namespace {

constexpr std::chrono::seconds connect_limit{10};

struct FreeContext {
    void operator()(SSL_CTX* context) const { ::SSL_CTX_free(context); }
};
struct FreeSsl {
    void operator()(SSL* ssl) const { ::SSL_free(ssl); }
};
using Context = std::unique_ptr<SSL_CTX, FreeContext>;
using Ssl = std::unique_ptr<SSL, FreeSsl>;

// OpenSSL's own way to write to a socket raises SIGPIPE, which ends a command without a word.
int put_bytes(BIO* bio, const char* bytes, int size)
{
    BIO_clear_retry_flags(bio);
    const auto put = ::send(static_cast<int>(reinterpret_cast<std::intptr_t>(::BIO_get_data(bio))),
                            bytes,
                            static_cast<std::size_t>(size),
                            MSG_NOSIGNAL | MSG_DONTWAIT);
    if (put < 0 && (errno == EAGAIN || errno == EINTR)) BIO_set_retry_write(bio);
    return static_cast<int>(put);
}

int take_bytes(BIO* bio, char* room, int size)
{
    BIO_clear_retry_flags(bio);
    const auto got = ::recv(static_cast<int>(reinterpret_cast<std::intptr_t>(::BIO_get_data(bio))),
                            room,
                            static_cast<std::size_t>(size),
                            MSG_DONTWAIT);
    if (got < 0 && (errno == EAGAIN || errno == EINTR)) BIO_set_retry_read(bio);
    return static_cast<int>(got);
}

long control(BIO* /*bio*/, int command, long /*number*/, void* /*pointer*/)
{
    return command == BIO_CTRL_FLUSH ? 1 : 0;
}

int begin(BIO* bio)
{
    ::BIO_set_init(bio, 1);
    return 1;
}

const BIO_METHOD* socket_method()
{
    static const BIO_METHOD* const method = [] {
        BIO_METHOD* made = ::BIO_meth_new(BIO_get_new_index() | BIO_TYPE_SOURCE_SINK, "socket");
        ::BIO_meth_set_write(made, put_bytes);
        ::BIO_meth_set_read(made, take_bytes);
        ::BIO_meth_set_ctrl(made, control);
        ::BIO_meth_set_create(made, begin);
        return made;
    }();
    return method;
}

tl::unexpected<Error> not_trusted(const ServerPlace& place, long why)
{
    const std::string name = authority_text(place);
    switch (why) {
    case X509_V_ERR_HOSTNAME_MISMATCH:
    case X509_V_ERR_IP_ADDRESS_MISMATCH:
        return tl::unexpected(
            Error(ErrorKind::unreachable,
                  fmt::format("the certificate of {} is not for '{}'", name, place.host),
                  "Use the name that the certificate has, or let the server use one for this "
                  "name."));
    case X509_V_ERR_CERT_HAS_EXPIRED:
    case X509_V_ERR_CERT_NOT_YET_VALID:
        return tl::unexpected(
            Error(ErrorKind::unreachable,
                  fmt::format("the certificate of {} is not valid now: {}",
                              name,
                              ::X509_verify_cert_error_string(why)),
                  "Renew it on the server, which uses renewed files at once, or set the clock of "
                  "this machine."));
    default:
        return tl::unexpected(
            Error(ErrorKind::unreachable,
                  fmt::format("the certificate of {} is not trusted: {}",
                              name,
                              ::X509_verify_cert_error_string(why)),
                  "If it is your team's own, set PONK_SERVER_CERT to a PEM file with the "
                  "certificate of its authority, or with the server's own."));
    }
}

// Why the handshake ended; OpenSSL has more to say than that it did.
tl::unexpected<Error> no_handshake(const ServerPlace& place, SSL* ssl, const Error& broken)
{
    const auto reason = ERR_GET_REASON(::ERR_peek_error());
    const auto text = ::ERR_reason_error_string(::ERR_peek_error());
    ::ERR_clear_error();
    if (const long why = ::SSL_get_verify_result(ssl); why != X509_V_OK)
        return not_trusted(place, why);
    if (broken.kind() != ErrorKind::unavailable) return tl::unexpected(broken);
    if (reason == SSL_R_WRONG_VERSION_NUMBER || reason == SSL_R_HTTP_REQUEST) {
        return tl::unexpected(
            Error(ErrorKind::unreachable,
                  fmt::format("{} does not speak TLS", authority_text(place)),
                  "Let it use a certificate ('ponk serve --tls-cert FILE --tls-key FILE')."));
    }
    return fail(ErrorKind::unavailable,
                "{} ended the TLS handshake{}",
                authority_text(place),
                text != nullptr ? fmt::format(": {}", text) : "");
}

class TlsWire final : public Wire {
public:
    TlsWire(os::Fd socket, Context context, Ssl ssl)
        : socket_(std::move(socket)), context_(std::move(context)), ssl_(std::move(ssl))
    {
    }

    Result<> shake_hands(const ServerPlace& place, const Limit& limit, const std::stop_token& stop)
    {
        const auto shaken = repeat(
            [](SSL* ssl) { return ::SSL_do_handshake(ssl); }, "in the handshake", limit, stop);
        if (!shaken) return no_handshake(place, ssl_.get(), shaken.error());
        if (*shaken == 0)
            return fail(
                ErrorKind::unavailable, "{} ended the TLS handshake", authority_text(place));
        return {};
    }

    Result<std::size_t>
    send(std::string_view bytes, const Limit& limit, const std::stop_token& stop) override
    {
        const auto size = static_cast<int>(std::min<std::size_t>(bytes.size(), 1 << 20));
        return repeat([&](SSL* ssl) { return ::SSL_write(ssl, bytes.data(), size); },
                      "while sending",
                      limit,
                      stop);
    }

    Result<std::size_t>
    receive(char* room, std::size_t size, const Limit& limit, const std::stop_token& stop) override
    {
        const auto most = static_cast<int>(std::min<std::size_t>(size, 1 << 20));
        return repeat(
            [&](SSL* ssl) { return ::SSL_read(ssl, room, most); }, "while receiving", limit, stop);
    }

private:
    // Repeats what OpenSSL cannot do yet until it can; 0 at the end of the stream.
    template <class Step>
    Result<std::size_t> repeat(const Step& step,
                               std::string_view doing,
                               const Limit& limit,
                               const std::stop_token& stop)
    {
        for (;;) {
            ::ERR_clear_error();
            const int done = step(ssl_.get());
            if (done > 0) return static_cast<std::size_t>(done);
            switch (::SSL_get_error(ssl_.get(), done)) {
            case SSL_ERROR_WANT_READ:
                TRY(os::wait_readable(socket_.get(), limit(), stop));
                break;
            case SSL_ERROR_WANT_WRITE:
                TRY(os::wait_writable(socket_.get(), limit(), stop));
                break;
            case SSL_ERROR_ZERO_RETURN:
                return std::size_t{0};
            default:
                return fail(ErrorKind::unavailable, "{}", doing);
            }
        }
    }

    os::Fd socket_;
    Context context_;
    Ssl ssl_;
};

// The bundles of distributions: our OpenSSL knows the place of one of them.
constexpr const char* system_bundles[] = {"/etc/ssl/certs/ca-certificates.crt",
                                          "/etc/pki/tls/certs/ca-bundle.crt",
                                          "/etc/ssl/ca-bundle.pem",
                                          "/etc/ssl/cert.pem"};

Result<> trust(SSL_CTX* context, const os::Path& authority)
{
    if (authority.empty()) {
        ::SSL_CTX_set_default_verify_paths(context);
        for (const char* bundle : system_bundles) {
            if (::access(bundle, R_OK) == 0 &&
                SSL_CTX_load_verify_locations(context, bundle, nullptr) == 1)
                break;
        }
        ::ERR_clear_error();
        return {};
    }
    // Read by us first: OpenSSL's own words for a missing file name neither file nor reason.
    TRY(os::read_file(authority, 1 << 20));
    if (SSL_CTX_load_verify_locations(context, authority.c_str(), nullptr) != 1) {
        ::ERR_clear_error();
        return fail(ErrorKind::invalid_argument,
                    "{} holds no certificate in PEM form",
                    os::in_quotes(authority));
    }
    // It may be the server's own certificate, which is no authority.
    X509_VERIFY_PARAM_set_flags(SSL_CTX_get0_param(context), X509_V_FLAG_PARTIAL_CHAIN);
    return {};
}

bool is_ip_address(const std::string& host)
{
    unsigned char room[sizeof(in6_addr)];
    return ::inet_pton(AF_INET, host.c_str(), room) == 1 ||
           ::inet_pton(AF_INET6, host.c_str(), room) == 1;
}

// As SSL_set_tlsext_host_name, which is a macro with an old cast.
bool set_server_name(SSL* ssl, std::string name)
{
    return ::SSL_ctrl(ssl, SSL_CTRL_SET_TLSEXT_HOSTNAME, TLSEXT_NAMETYPE_host_name, name.data()) ==
           1;
}

Result<std::unique_ptr<Wire>>
begin_tls(const ServerPlace& place, os::Fd socket, const Limit& limit, const std::stop_token& stop)
{
    Context context(::SSL_CTX_new(::TLS_client_method()));
    if (!context) return fail(ErrorKind::internal, "OpenSSL cannot begin a connection");
    SSL_CTX_set_min_proto_version(context.get(), TLS1_2_VERSION);
    SSL_CTX_set_mode(context.get(), SSL_MODE_ENABLE_PARTIAL_WRITE);
    // The server ends connections without a word of TLS; each answer has its own length.
    SSL_CTX_set_options(context.get(), SSL_OP_IGNORE_UNEXPECTED_EOF | SSL_OP_NO_RENEGOTIATION);
    ::SSL_CTX_set_verify(context.get(), SSL_VERIFY_PEER, nullptr);
    TRY(trust(context.get(), place.authority));
    Ssl ssl(::SSL_new(context.get()));
    BIO* bio = ::BIO_new(socket_method());
    if (!ssl || bio == nullptr) return fail(ErrorKind::internal, "OpenSSL has no memory");
    ::BIO_set_data(bio, reinterpret_cast<void*>(static_cast<std::intptr_t>(socket.get())));
    ::SSL_set_bio(ssl.get(), bio, bio);
    bool named = false;
    if (is_ip_address(place.host)) {
        named =
            ::X509_VERIFY_PARAM_set1_ip_asc(::SSL_get0_param(ssl.get()), place.host.c_str()) == 1;
    } else {
        named = ::SSL_set1_host(ssl.get(), place.host.c_str()) == 1 &&
                set_server_name(ssl.get(), place.host);
    }
    // Without it any certificate would do.
    if (!named) return fail(ErrorKind::invalid_argument, "'{}' is not a host name", place.host);
    ::SSL_set_connect_state(ssl.get());
    auto wire = std::make_unique<TlsWire>(std::move(socket), std::move(context), std::move(ssl));
    TRY(wire->shake_hands(place, limit, stop));
    return wire;
}

// The first of a name's addresses that answers.
Result<os::Fd> connect(const ServerPlace& place, const Limit& limit)
{
    const auto addresses = os::resolve_tcp(place.host, place.port);
    // The resolver may be back in a moment.
    if (!addresses) return tl::unexpected(addresses.error().of_kind(ErrorKind::unavailable));
    Error last(ErrorKind::unavailable, fmt::format("'{}' has no address", place.host));
    for (const auto& address : *addresses) {
        if (place.security == ServerPlace::Security::plain_on_loopback && !address.is_loopback()) {
            return tl::unexpected(Error(
                ErrorKind::unreachable,
                fmt::format("without TLS the token could be read on the way to {}", address.text()),
                "Use https://. PONK_SERVER_INSECURE=1 allows http:// where something else "
                "protects the connection."));
        }
        if (Deadline::clock::now() >= limit()) break;
        auto socket = os::connect_tcp(address);
        if (socket) {
            const int one = 1;
            ::setsockopt(socket->get(), IPPROTO_TCP, TCP_NODELAY, &one, sizeof one);
            return socket;
        }
        last = socket.error().of_kind(ErrorKind::unavailable);
    }
    return tl::unexpected(last);
}

}  // namespace

std::string authority_text(const ServerPlace& place)
{
    const bool six = place.host.find(':') != std::string::npos;
    return six ? fmt::format("[{}]:{}", place.host, place.port)
               : fmt::format("{}:{}", place.host, place.port);
}

Dial dial_server(ServerPlace place)
{
    return [place = std::move(place)](
               const Limit& limit, const std::stop_token& stop) -> Result<std::unique_ptr<Wire>> {
        const Limit soon = until(std::min(limit(), after(connect_limit)));
        auto socket = TRY(connect(place, soon));
        if (place.security != ServerPlace::Security::tls) return make_plain_wire(std::move(socket));
        return begin_tls(place, std::move(socket), soon, stop);
    };
}

}  // namespace ponk::net
