// SPDX-License-Identifier: Apache-2.0
#include "net/tls.hpp"

#include "base/synced.hpp"
#include "net/transport.hpp"

#include <boost/asio/error.hpp>
#include <boost/asio/ssl/context.hpp>
#include <boost/asio/ssl/stream.hpp>
#include <boost/asio/write.hpp>
#include <openssl/err.h>

#include <cerrno>
#include <optional>
#include <sys/socket.h>
#include <sys/stat.h>
#include <tuple>

namespace ponk::net {

namespace {

namespace asio = boost::asio;

using Context = std::shared_ptr<asio::ssl::context>;
// What changes when a file is replaced or written again.
using Version = std::tuple<dev_t, ino_t, off_t, std::int64_t, std::int64_t>;

Version version_of(const os::Path& path)
{
    struct stat info {};
    if (::stat(path.c_str(), &info) != 0) return {};
    return {info.st_dev,
            info.st_ino,
            info.st_size,
            std::int64_t{info.st_mtim.tv_sec},
            std::int64_t{info.st_mtim.tv_nsec}};
}

Result<Context> make_context(const os::Path& certificate, const os::Path& key)
{
    // Read by us first: OpenSSL's own words for a missing file name neither file nor reason.
    const auto chain = TRY(os::read_file(certificate, 1 << 20));
    const auto secret = TRY(os::read_file(key, 1 << 20));
    auto context = std::make_shared<asio::ssl::context>(asio::ssl::context::tls_server);
    error_code problem;
    context->set_options(asio::ssl::context::default_workarounds | asio::ssl::context::no_sslv2 |
                             asio::ssl::context::no_sslv3 | asio::ssl::context::no_tlsv1 |
                             asio::ssl::context::no_tlsv1_1,
                         problem);
    SSL_CTX_set_min_proto_version(context->native_handle(), TLS1_2_VERSION);
    // Of TLS 1.2 what keeps old conversations secret when a key is lost, and what nobody can alter
    // unseen; of TLS 1.3 that is all there is.
    if (SSL_CTX_set_cipher_list(context->native_handle(), "ECDHE+AESGCM:ECDHE+CHACHA20") != 1)
        return fail(ErrorKind::internal, "OpenSSL has no modern cipher suites");
    SSL_CTX_set_options(context->native_handle(),
                        SSL_OP_CIPHER_SERVER_PREFERENCE | SSL_OP_NO_RENEGOTIATION);
    SSL_CTX_set_mode(context->native_handle(), SSL_MODE_RELEASE_BUFFERS);
    context->use_certificate_chain(asio::buffer(chain), problem);
    if (problem) {
        return tl::unexpected(Error(ErrorKind::invalid_argument,
                                    os::in_quotes(certificate) +
                                        " holds no certificate that can "
                                        "be used: " +
                                        problem.message(),
                                    "It must be PEM, the server's own certificate first."));
    }
    context->use_private_key(asio::buffer(secret), asio::ssl::context::pem, problem);
    if (problem || SSL_CTX_check_private_key(context->native_handle()) != 1) {
        ::ERR_clear_error();
        return tl::unexpected(
            Error(ErrorKind::invalid_argument,
                  os::in_quotes(key) + " is not the key of the certificate in " +
                      os::in_quotes(certificate),
                  "It must be PEM, without a passphrase, and belong to that certificate."));
    }
    return context;
}

}  // namespace

struct Tls::State {
    struct Loaded {
        Context context;
        Version certificate;
        Version key;
    };
    os::Path certificate;
    os::Path key;
    Synced<Loaded> loaded;

    // The context for a new connection.
    Context current()
    {
        const auto certificate_now = version_of(certificate);
        const auto key_now = version_of(key);
        {
            const auto known = loaded.lock();
            if (known->certificate == certificate_now && known->key == key_now)
                return known->context;
        }
        const auto renewed = make_context(certificate, key);
        const auto known = loaded.lock();
        // Half of a renewal is seen again when the other file has come.
        known->certificate = certificate_now;
        known->key = key_now;
        if (renewed) known->context = *renewed;
        return known->context;
    }
};

Tls::Tls(std::unique_ptr<State> state) : state_(std::move(state)) {}
Tls::~Tls() = default;

Result<std::shared_ptr<Tls>> Tls::load(os::Path certificate, os::Path key)
{
    auto state = std::make_unique<State>();
    state->certificate = std::move(certificate);
    state->key = std::move(key);
    {
        const auto known = state->loaded.lock();
        known->certificate = version_of(state->certificate);
        known->key = version_of(state->key);
        known->context = TRY(make_context(state->certificate, state->key));
    }
    return std::shared_ptr<Tls>(new Tls(std::move(state)));
}

namespace {

using Stream = asio::ssl::stream<Socket&>;

// Signing takes as long as hundreds of small requests do, and anybody may ask for it: each step is
// taken on a worker.
void shake_hands(Stream& stream, const Transport::Lend& lend, const Transport::Done& done)
{
    const auto problem = std::make_shared<error_code>();
    lend([&stream, problem] { stream.handshake(asio::ssl::stream_base::server, *problem); },
         [&stream, &lend, done, problem] {
             if (*problem != asio::error::would_block) return done(*problem, 0);
             stream.next_layer().async_wait(Socket::wait_read,
                                            [&stream, &lend, done](error_code failed) {
                                                if (failed) return done(failed, 0);
                                                shake_hands(stream, lend, done);
                                            });
         });
}

template <class From>
std::size_t read_now(From& from, asio::mutable_buffer room)
{
    error_code problem;
    const auto got = from.read_some(room, problem);
    return problem ? 0 : got;
}

class TlsTransport final : public Transport {
public:
    TlsTransport(Socket socket, Context context)
        : Transport(std::move(socket)), context_(std::move(context)), stream_(raw_, *context_)
    {
    }

    void greet(Done done) override { shake_hands(stream_, lend_, done); }
    // Bytes may wait in the layer itself, where no socket tells of them.
    void wait_readable(Done done) override { done({}, 0); }
    std::size_t try_read(asio::mutable_buffer room) override { return read_now(stream_, room); }
    void read_some(asio::mutable_buffer room, Done done) override
    {
        stream_.async_read_some(room, std::move(done));
    }
    void write(const Parts& parts, Done done) override
    {
        asio::async_write(stream_, parts, std::move(done));
    }
    // Without TLS's close_notify, which might have to wait: what was sent had its length.
    void end_sending() override
    {
        error_code ignored;
        raw_.shutdown(Socket::shutdown_send, ignored);
    }

private:
    Context context_;  // in use even when a renewed one has taken its place
    Stream stream_;
};

// On a port that serves both, the first byte tells which of them it is.
class EitherTransport final : public Transport {
public:
    EitherTransport(Socket socket, std::shared_ptr<Tls> tls)
        : Transport(std::move(socket)), tls_(std::move(tls))
    {
    }

    // That byte may take its time, as on a plain connection.
    void greet(Done done) override { done({}, 0); }
    void wait_readable(Done done) override
    {
        if (stream_) return done({}, 0);
        raw_.async_wait(Socket::wait_read, [this, done = std::move(done)](error_code problem) {
            if (problem || plain_) return done(problem, 0);
            find_out(done);
        });
    }
    std::size_t try_read(asio::mutable_buffer room) override
    {
        if (plain_) return read_now(raw_, room);
        return stream_ ? read_now(*stream_, room) : 0;
    }
    std::size_t try_write(asio::const_buffer bytes) override
    {
        error_code problem;
        const auto sent = plain_ ? raw_.write_some(bytes, problem) : 0;
        return problem ? 0 : sent;
    }
    void read_some(asio::mutable_buffer room, Done done) override
    {
        if (plain_) return raw_.async_read_some(room, std::move(done));
        if (stream_) return stream_->async_read_some(room, std::move(done));
        wait_readable([this, room, done = std::move(done)](error_code problem, std::size_t) {
            if (problem) return done(problem, 0);
            read_some(room, done);
        });
    }
    void write(const Parts& parts, Done done) override
    {
        if (stream_) {
            asio::async_write(*stream_, parts, std::move(done));
        } else {
            asio::async_write(raw_, parts, std::move(done));
        }
    }
    void end_sending() override
    {
        error_code ignored;
        raw_.shutdown(Socket::shutdown_send, ignored);
    }

private:
    void find_out(const Done& done)
    {
        constexpr char handshake = 0x16;  // what a record of TLS begins with, and no HTTP
        char first = 0;
        const auto got = ::recv(raw_.native_handle(), &first, 1, MSG_PEEK | MSG_DONTWAIT);
        if (got < 0 && errno == EAGAIN) return wait_readable(done);
        plain_ = got != 1 || first != handshake;
        if (plain_) return done({}, 0);
        context_ = tls_->state().current();
        stream_.emplace(raw_, *context_);
        shake_hands(*stream_, lend_, done);
    }

    std::shared_ptr<Tls> tls_;
    bool plain_ = false;
    Context context_;
    std::optional<Stream> stream_;  // TLS
};

}  // namespace

std::unique_ptr<Transport> make_either_transport(Socket socket, std::shared_ptr<Tls> tls)
{
    return std::make_unique<EitherTransport>(std::move(socket), std::move(tls));
}

std::unique_ptr<Transport> make_tls_transport(Socket socket, const Tls& tls)
{
    return std::make_unique<TlsTransport>(std::move(socket), tls.state().current());
}

}  // namespace ponk::net
