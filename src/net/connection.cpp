// SPDX-License-Identifier: Apache-2.0
#include "net/connection.hpp"

#include "base/version.hpp"
#include "net/target.hpp"

#include <boost/asio/post.hpp>
#include <boost/asio/steady_timer.hpp>
#include <boost/asio/strand.hpp>
#include <boost/asio/write.hpp>
#include <boost/beast/core/flat_buffer.hpp>
#include <boost/beast/http/parser.hpp>
#include <boost/beast/http/read.hpp>
#include <boost/beast/http/string_body.hpp>
#include <fmt/format.h>

#include <array>
#include <exception>
#include <optional>
#include <sys/socket.h>

namespace ponk::net {

namespace {

namespace asio = boost::asio;
namespace beast = boost::beast;
namespace http = beast::http;
using boost::system::error_code;

constexpr std::uint32_t header_limit = 32 * 1024;
// A source is asked again before writing until it has given so much.
constexpr std::size_t enough_to_send = 64 * 1024;

const char* reason_of(int status)
{
    return http::obsolete_reason(static_cast<http::status>(status)).data();
}

std::string head_of(const Response& response, bool keep_alive, bool chunked)
{
    auto head = fmt::format("HTTP/1.1 {} {}\r\nContent-Type: {}\r\nPonk-Version: {}\r\n",
                            response.status,
                            reason_of(response.status),
                            response.type,
                            own_version());
    for (const auto& [name, value] : response.headers)
        head += name + ": " + value + "\r\n";
    if (chunked) {
        head += "Transfer-Encoding: chunked\r\n";
    } else {
        head += fmt::format("Content-Length: {}\r\n", response.body.size());
    }
    if (!keep_alive) head += "Connection: close\r\n";
    return head + "\r\n";
}

class Connection : public std::enable_shared_from_this<Connection> {
public:
    Connection(Socket socket, std::shared_ptr<Shared> shared)
        : strand_(asio::make_strand(socket.get_executor())), socket_(std::move(socket)),
          timer_(socket_.get_executor()), shared_(std::move(shared))
    {
        ++shared_->open;
    }
    ~Connection() { --shared_->open; }
    Connection(const Connection&) = delete;
    Connection& operator=(const Connection&) = delete;

    template <class Function>
    auto on_strand(Function function)
    {
        return asio::bind_executor(strand_, std::move(function));
    }

    void read()
    {
        parser_.emplace();
        parser_->header_limit(header_limit);
        parser_->body_limit(shared_->options.body_limit);
        if (buffer_.size() > 0) return read_head();  // sent right behind the last one
        guard(served_any_ ? shared_->options.idle_timeout : shared_->options.request_timeout);
        socket_.async_wait(Socket::wait_read,
                           on_strand([self = shared_from_this()](error_code problem) {
                               if (problem) return self->close();
                               self->read_head();
                           }));
    }

private:
    // Once it has begun to come, a head must be there soon: who sends half of one holds a
    // connection for nothing.
    void read_head()
    {
        guard(shared_->options.head_timeout);
        http::async_read_header(
            socket_,
            buffer_,
            *parser_,
            on_strand([self = shared_from_this()](error_code problem, std::size_t) {
                self->read_body(problem);
            }));
    }

    // Ends the connection when the current step takes longer than `limit`.
    void guard(std::chrono::milliseconds limit)
    {
        timer_.expires_after(limit);
        timer_.async_wait(on_strand([weak = weak_from_this()](error_code problem) {
            const auto self = weak.lock();
            if (self && !problem) self->close();
        }));
    }

    void close()
    {
        error_code ignored;
        timer_.cancel();
        socket_.close(ignored);
        source_.reset();
    }

    void read_body(error_code problem)
    {
        if (problem) return refuse(problem);
        guard(shared_->options.request_timeout);
        http::async_read(socket_,
                         buffer_,
                         *parser_,
                         on_strand([self = shared_from_this()](error_code trouble, std::size_t) {
                             if (trouble) return self->refuse(trouble);
                             self->dispatch();
                         }));
    }

    void refuse(error_code problem)
    {
        keep_alive_ = false;
        if (problem == http::error::body_limit || problem == http::error::header_limit) {
            return send(
                json_response(JsonObject{{"error",
                                          JsonObject{{"kind", "invalid_argument"},
                                                     {"message", "the request is too large"},
                                                     {"hint", ""}}}},
                              413));
        }
        if (problem.category() == make_error_code(http::error::bad_method).category() &&
            problem != http::error::end_of_stream && problem != http::error::partial_message) {
            return send(error_response(
                Error(ErrorKind::invalid_argument, "not an HTTP request: " + problem.message())));
        }
        close();
    }

    void dispatch()
    {
        timer_.cancel();
        auto& message = parser_->get();
        keep_alive_ = message.keep_alive();
        auto request = std::make_shared<Request>();
        request->method = std::string(message.method_string());
        for (const auto& field : message)
            request->headers.emplace_back(std::string(field.name_string()),
                                          std::string(field.value()));
        auto target = parse_target(message.target());
        if (!target) return send(error_response(target.error()));
        request->path = std::move(target->path);
        request->query = std::move(target->query);
        request->body = std::move(message.body());
        asio::post(shared_->workers, [self = shared_from_this(), request] {
            auto response = std::make_shared<Response>(self->handle(*request));
            asio::post(self->strand_, [self, response] { self->send(std::move(*response)); });
        });
    }

    Response handle(const Request& request)
    {
        try {
            return shared_->handler(request);
        } catch (const std::exception& problem) {
            return error_response(Error(ErrorKind::internal, problem.what()));
        }
    }

    void send(Response response)
    {
        ++shared_->served;
        served_any_ = true;
        source_ = std::move(response.stream);
        out_ = head_of(response, keep_alive_, source_ != nullptr);
        if (!source_) {
            out_ += response.body;
            return write([](Connection& self) { self.finish(); });
        }
        source_->attach([weak = weak_from_this()] {
            if (const auto self = weak.lock()) asio::post(self->strand_, [self] { self->rung(); });
        });
        pump();
    }

    template <class Then>
    void write(Then then)
    {
        guard(shared_->options.request_timeout);
        // In one call, and without copying a large chunk behind its head.
        const std::array<asio::const_buffer, 3> parts{
            asio::buffer(out_), asio::buffer(chunk_), asio::buffer(tail_)};
        asio::async_write(
            socket_,
            parts,
            on_strand([self = shared_from_this(), then](error_code problem, std::size_t) {
                self->timer_.cancel();
                if (problem) return self->close();
                self->out_.clear();
                self->chunk_.clear();
                self->tail_.clear();
                then(*self);
            }));
    }

    void finish()
    {
        source_.reset();
        if (!keep_alive_) return close();
        read();
    }

    // Sends what the source has, behind what waits in `out_` already; sleeps while there is
    // nothing.
    void pump()
    {
        if (!source_) return;
        chunk_.clear();
        auto step = BodySource::Step::data;
        while (step == BodySource::Step::data && chunk_.size() < enough_to_send)
            step = source_->next(chunk_);
        if (step == BodySource::Step::broken) return close();
        if (chunk_.empty() && out_.empty() && step == BodySource::Step::waiting) {
            waiting_ = true;
            timer_.expires_after(source_->patience());
            timer_.async_wait(on_strand([weak = weak_from_this()](error_code problem) {
                const auto self = weak.lock();
                if (self && !problem) self->rung();
            }));
            return watch_for_close();
        }
        if (!chunk_.empty()) {
            out_ += fmt::format("{:x}\r\n", chunk_.size());
            tail_ = "\r\n";
        }
        if (step == BodySource::Step::end) {
            tail_ += "0\r\n\r\n";
            return write([](Connection& self) { self.finish(); });
        }
        write([](Connection& self) { self.pump(); });
    }

    void rung()
    {
        if (!waiting_) return;
        waiting_ = false;
        timer_.cancel();
        pump();
    }

    // A follower that went away while nothing was sent is noticed by its end of file.
    void watch_for_close()
    {
        if (watching_) return;
        watching_ = true;
        // This operation is also what keeps a waiting connection alive.
        socket_.async_wait(
            Socket::wait_read, on_strand([self = shared_from_this()](error_code problem) {
                self->watching_ = false;
                if (problem || !self->source_) return;
                char byte = 0;
                const auto got =
                    ::recv(self->socket_.native_handle(), &byte, 1, MSG_PEEK | MSG_DONTWAIT);
                if (got == 0) return self->close();
                if (got < 0 && self->waiting_) self->watch_for_close();  // woken for nothing
            }));
    }

    asio::strand<asio::any_io_executor> strand_;
    Socket socket_;
    asio::steady_timer timer_;
    std::shared_ptr<Shared> shared_;
    beast::flat_buffer buffer_;
    std::optional<http::request_parser<http::string_body>> parser_;
    std::unique_ptr<BodySource> source_;
    // What is written next, one behind the other.
    std::string out_;
    std::string chunk_;  // of a stream
    std::string tail_;
    bool keep_alive_ = true;
    bool served_any_ = false;
    bool waiting_ = false;
    bool watching_ = false;
};

}  // namespace

void serve_connection(Socket socket, std::shared_ptr<Shared> shared)
{
    auto connection = std::make_shared<Connection>(std::move(socket), std::move(shared));
    connection->read();
}

}  // namespace ponk::net
