// SPDX-License-Identifier: Apache-2.0
#include "net/http_client.hpp"

#include "os/socket.hpp"

#include <boost/asio/buffer.hpp>
#include <boost/beast/http/buffer_body.hpp>
#include <boost/beast/http/parser.hpp>
#include <fmt/format.h>

#include <cstring>

namespace ponk::net {

namespace {

namespace asio = boost::asio;
namespace http = boost::beast::http;
using boost::system::error_code;

// Answers are small, logs are not: the room grows while more keeps coming.
constexpr std::size_t first_block = 8 * 1024;
constexpr std::size_t largest_block = 256 * 1024;

std::string head_of(const Call& call)
{
    auto head = fmt::format("{} {} HTTP/1.1\r\n", call.method, call.target);
    for (const auto& [name, value] : call.headers)
        head += fmt::format("{}: {}\r\n", name, value);
    if (call.source)
        head += "Transfer-Encoding: chunked\r\n";
    else if (!call.body.empty() || call.method != "GET")
        head += fmt::format("Content-Length: {}\r\n", call.body.size());
    return head + "\r\n";
}

}  // namespace

struct HttpClient::State {
    Dial dial;
    std::string peer;
    std::unique_ptr<Wire> wire;
    // Received and not yet parsed: the first `filled` bytes. Both are kept between calls.
    std::string pending = std::string(first_block, '\0');
    std::size_t filled = 0;
    std::string block = std::string(first_block, '\0');  // parsed, on its way to the caller

    [[nodiscard]] tl::unexpected<Error> broken(std::string_view what) const
    {
        return fail(ErrorKind::unavailable, "the connection to {} broke ({})", peer, what);
    }

    [[nodiscard]] tl::unexpected<Error> failed(const Error& error) const
    {
        if (error.kind() == ErrorKind::unavailable) return broken(error.message());
        return tl::unexpected(error);
    }

    Result<> connect(const Limit& limit, const std::stop_token& stop)
    {
        if (wire) return {};
        filled = 0;
        wire = TRY(dial(limit, stop));
        return {};
    }

    Result<> send(std::string_view bytes, const Limit& limit, const std::stop_token& stop)
    {
        while (!bytes.empty()) {
            const auto put = wire->send(bytes, limit, stop);
            if (!put) return failed(put.error());
            bytes.remove_prefix(*put);
        }
        return {};
    }

    // More bytes into `pending`; false at the end of the stream.
    Result<bool> receive(const Limit& limit, const std::stop_token& stop)
    {
        if (filled == pending.size()) pending.resize(pending.size() * 2);
        const auto got =
            wire->receive(pending.data() + filled, pending.size() - filled, limit, stop);
        if (!got) return failed(got.error());
        filled += *got;
        if (filled == pending.size() && filled < largest_block) pending.resize(filled * 4);
        return *got > 0;
    }

    // A body of unknown length, in chunks. The other side may answer and close before it has taken
    // all; then the answer counts, so a failure to send is no error here.
    Result<> send_source(const Call& call, const Limit& limit, const std::stop_token& stop)
    {
        std::string bytes;
        do {
            bytes.clear();
            TRY(call.source(bytes));
            auto sent = send(fmt::format("{:x}\r\n{}\r\n", bytes.size(), bytes), limit, stop);
            if (!sent && sent.error().kind() == ErrorKind::unavailable) return {};
            TRY(std::move(sent));
        } while (!bytes.empty());
        return {};
    }

    Result<Reply>
    talk(const Call& call, const Sink& sink, const Limit& limit, const std::stop_token& stop)
    {
        TRY(send(head_of(call) + call.body, limit, stop));
        if (call.source) TRY(send_source(call, limit, stop));
        return receive_reply(sink, limit, stop);
    }

    Result<Reply> receive_reply(const Sink& sink, const Limit& limit, const std::stop_token& stop)
    {
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
        if (!parser.keep_alive()) wire.reset();
        return reply;
    }
};

Limit until(Deadline deadline)
{
    return [deadline] { return deadline; };
}

Limit while_moving(std::chrono::milliseconds quiet_limit)
{
    return [quiet_limit] {
        return after(quiet_limit.count() > 0 ? quiet_limit : std::chrono::hours(24 * 365));
    };
}

HttpClient::HttpClient(os::Path socket, std::string peer)
    : HttpClient(
          [path = std::move(socket)](const Limit&,
                                     const std::stop_token&) -> Result<std::unique_ptr<Wire>> {
              return make_plain_wire(TRY(os::connect_unix(path)));
          },
          std::move(peer))
{
}

HttpClient::HttpClient(Dial dial, std::string peer) : state_(std::make_unique<State>())
{
    state_->dial = std::move(dial);
    state_->peer = std::move(peer);
}

HttpClient::~HttpClient() = default;
HttpClient::HttpClient(HttpClient&&) noexcept = default;
HttpClient& HttpClient::operator=(HttpClient&&) noexcept = default;

Result<Reply>
HttpClient::exchange(const Call& call, const Sink& sink, const Limit& limit, std::stop_token stop)
{
    TRY(state_->connect(limit, stop));
    auto reply = state_->talk(call, sink, limit, stop);
    if (!reply) state_->wire.reset();  // its state is unknown now
    return reply;
}

}  // namespace ponk::net
