// SPDX-License-Identifier: Apache-2.0
#include "net/client.hpp"

#include "os/socket.hpp"
#include "os/wait.hpp"

#include <boost/asio/buffer.hpp>
#include <boost/beast/http/buffer_body.hpp>
#include <boost/beast/http/parser.hpp>
#include <fmt/format.h>

#include <array>
#include <cerrno>
#include <cstring>
#include <optional>
#include <sys/socket.h>

namespace ponk::net {

namespace {

namespace asio = boost::asio;
namespace http = boost::beast::http;
using boost::system::error_code;

// Answers are small, logs are not: the room grows while more keeps coming.
constexpr std::size_t first_block = 8 * 1024;
constexpr std::size_t largest_block = 256 * 1024;

tl::unexpected<Error> broken(std::string_view what)
{
    return fail(ErrorKind::unavailable, "the connection to the daemon broke ({})", what);
}

}  // namespace

struct Client::State {
    os::Path path;
    os::Fd socket;
    // Received and not yet parsed: the first `filled` bytes. Both are kept between calls.
    std::string pending = std::string(first_block, '\0');
    std::size_t filled = 0;
    std::string block = std::string(first_block, '\0');  // parsed, on its way to the caller

    // When to give up is asked before each wait, so that a stream can move its limit.
    using Limit = std::function<Deadline()>;

    Result<> connect()
    {
        if (socket) return {};
        filled = 0;
        socket = TRY(os::connect_unix(path));
        return {};
    }

    Result<> send(std::string_view bytes, const Limit& limit, const std::stop_token& stop)
    {
        while (!bytes.empty()) {
            const auto put =
                ::send(socket.get(), bytes.data(), bytes.size(), MSG_NOSIGNAL | MSG_DONTWAIT);
            if (put > 0) {
                bytes.remove_prefix(static_cast<std::size_t>(put));
                continue;
            }
            if (errno == EAGAIN || errno == EINTR) {
                TRY(os::wait_writable(socket.get(), limit(), stop));
                continue;
            }
            return broken("while sending");
        }
        return {};
    }

    // More bytes into `pending`; false at the end of the stream.
    Result<bool> receive(const Limit& limit, const std::stop_token& stop)
    {
        if (filled == pending.size()) pending.resize(pending.size() * 2);
        for (;;) {
            const auto got = ::recv(
                socket.get(), pending.data() + filled, pending.size() - filled, MSG_DONTWAIT);
            if (got >= 0) {
                filled += static_cast<std::size_t>(got);
                if (filled == pending.size() && filled < largest_block) pending.resize(filled * 4);
                return got > 0;
            }
            if (errno != EAGAIN && errno != EINTR) return broken("while receiving");
            TRY(os::wait_readable(socket.get(), limit(), stop));
        }
    }

    Result<Reply> exchange(const std::string& request,
                           const Sink& sink,
                           const Limit& limit,
                           const std::stop_token& stop)
    {
        TRY(connect());
        auto reply = talk(request, sink, limit, stop);
        if (!reply) socket.reset();  // its state is unknown now
        return reply;
    }

    Result<Reply> talk(const std::string& request,
                       const Sink& sink,
                       const Limit& limit,
                       const std::stop_token& stop)
    {
        TRY(send(request, limit, stop));
        http::response_parser<http::buffer_body> parser;
        parser.body_limit(boost::none);
        Reply reply;
        while (!parser.is_done()) {
            if (block.size() < pending.size()) block.resize(pending.size());
            parser.get().body().data = block.data();
            parser.get().body().size = block.size();
            error_code problem;
            const auto used = parser.put(asio::buffer(pending.data(), filled), problem);
            filled -= used;
            std::memmove(pending.data(), pending.data() + used, filled);
            if (problem == http::error::need_buffer) problem = {};
            if (problem && problem != http::error::need_more) return broken(problem.message());
            const auto taken = block.size() - parser.get().body().size;
            const bool good = parser.is_header_done() && parser.get().result_int() < 400;
            if (taken > 0 && sink && good) {
                if (!sink(std::string_view(block).substr(0, taken)))
                    return fail(ErrorKind::cancelled, "stopped while receiving");
            } else {
                reply.body.append(block, 0, taken);
            }
            if (parser.is_done() || (used > 0 && !problem)) continue;
            if (!TRY(receive(limit, stop))) {
                // The parser takes "nothing at all" for a complete message.
                if (!parser.got_some()) return broken("it ended before the answer");
                error_code end;
                parser.put_eof(end);
                if (end || !parser.is_done()) return broken("it ended early");
            }
        }
        reply.status = static_cast<int>(parser.get().result_int());
        for (const auto& field : parser.get())
            reply.headers.emplace_back(std::string(field.name_string()),
                                       std::string(field.value()));
        if (!parser.keep_alive()) socket.reset();
        return reply;
    }
};

Client::Client(os::Path socket) : state_(std::make_unique<State>())
{
    state_->path = std::move(socket);
}

Client::~Client() = default;
Client::Client(Client&&) noexcept = default;
Client& Client::operator=(Client&&) noexcept = default;

Result<Reply> Client::call(std::string_view method,
                           const std::string& target,
                           const std::string& body,
                           Deadline deadline,
                           std::stop_token stop)
{
    const auto request =
        fmt::format("{} {} HTTP/1.1\r\nHost: ponk\r\nPonk-Version: " PONK_VERSION
                    "\r\nContent-Type: application/json\r\nContent-Length: {}\r\n\r\n{}",
                    method,
                    target,
                    body.size(),
                    body);
    return state_->exchange(
        request, {}, [deadline] { return deadline; }, stop);
}

Result<Reply> Client::stream(const std::string& target,
                             const Sink& sink,
                             std::chrono::milliseconds quiet_limit,
                             std::stop_token stop)
{
    const auto request = fmt::format(
        "GET {} HTTP/1.1\r\nHost: ponk\r\nPonk-Version: " PONK_VERSION "\r\n\r\n", target);
    const auto limit = [quiet_limit] {
        return after(quiet_limit.count() > 0 ? quiet_limit : std::chrono::hours(24 * 365));
    };
    return state_->exchange(request, sink, limit, stop);
}

Error error_of(const Reply& reply)
{
    const auto body = parse_json(reply.body);
    if (body && (*body)["error"].is_object()) {
        const auto& error = (*body)["error"];
        return {error_kind_from(error.text("kind")), error.text("message"), error.text("hint")};
    }
    return {ErrorKind::internal, fmt::format("the daemon answered with status {}", reply.status)};
}

Result<Json> Client::json(std::string_view method,
                          const std::string& target,
                          const Json& body,
                          Deadline deadline,
                          std::stop_token stop)
{
    const auto reply =
        TRY(call(method, target, body.is_null() ? std::string() : to_json(body), deadline, stop));
    if (reply.status >= 400) return tl::unexpected(error_of(reply));
    return parse_json(reply.body).map_error(while_doing("the daemon's answer"));
}

}  // namespace ponk::net
