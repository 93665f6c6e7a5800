// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "net/message.hpp"

#include <boost/asio/buffer.hpp>
#include <boost/beast/core/flat_buffer.hpp>
#include <boost/beast/http/buffer_body.hpp>
#include <boost/beast/http/empty_body.hpp>
#include <boost/beast/http/parser.hpp>

#include <algorithm>
#include <cstdint>
#include <functional>
#include <optional>
#include <string>
#include <string_view>

// Inside net/ only: this header pulls in Beast.
namespace ponk::net {

// Understands the requests of one connection from its bytes as they come. Does no I/O. Not for
// several threads.
class RequestReader {
public:
    // more: bytes are needed; ready: the head, or the body, is complete; piece: as much of the body
    // as was asked for; bad: no HTTP that we understand, `problem` says why.
    enum class Step { more, ready, piece, bad };

    RequestReader() { next_request(); }
    RequestReader(const RequestReader&) = delete;
    RequestReader& operator=(const RequestReader&) = delete;

    // Where received bytes go, and how many came.
    boost::asio::mutable_buffer room(std::size_t size) { return buffer_.prepare(size); }
    void received(std::size_t size) { buffer_.commit(size); }
    // Whether such room is there already, from the last request.
    [[nodiscard]] bool keeps_room(std::size_t size) const { return buffer_.capacity() >= size; }
    // Whether bytes are there that were not looked at yet.
    [[nodiscard]] bool has_bytes() const { return buffer_.size() > 0; }
    // These bytes, for who reads them as something else than requests, and how many that used.
    [[nodiscard]] std::string_view bytes() const
    {
        return {static_cast<const char*>(buffer_.cdata().data()), buffer_.size()};
    }
    void use(std::size_t size) { buffer_.consume(size); }

    void next_request();
    Step read_head();
    // Whether anything of the current request was seen.
    [[nodiscard]] bool has_begun() const { return has_bytes() || begun_; }

    // After the head, for as long as the request lasts.
    [[nodiscard]] std::string_view method() const { return method_; }
    [[nodiscard]] std::string_view target() const { return target_; }
    Headers take_headers() { return std::move(headers_); }
    [[nodiscard]] bool keep_alive() const { return keep_alive_; }
    [[nodiscard]] bool is_old_http() const { return version_ < 11; }  // HTTP/1.0: no chunks
    [[nodiscard]] const std::string& expectation() const { return expectation_; }
    [[nodiscard]] std::optional<std::uint64_t> body_size() const { return body_size_; }
    [[nodiscard]] bool has_all() const { return body_ ? body_->is_done() : head_->is_done(); }

    // Appends up to `most` bytes of the body to `out`. Chunks of which more is frame than data are
    // refused once there are many: each costs time, however little is in it.
    Step read_body(std::string& out, std::size_t most);
    // What was read of it so far, and what the frames of chunks had in bytes.
    [[nodiscard]] std::uint64_t data_bytes() const { return data_bytes_; }
    [[nodiscard]] std::uint64_t frame_bytes() const { return frame_bytes_; }
    // How long the body will be at least, by what its length or its chunks have said so far.
    [[nodiscard]] std::uint64_t promised_bytes() const
    {
        return std::max(body_size_.value_or(0), promised_bytes_);
    }
    // How many bytes to receive at once: few until it is seen what chunks are like.
    [[nodiscard]] std::size_t body_room() const;

    struct Problem {
        int status = 400;
        std::string text;
    };
    [[nodiscard]] const Problem& problem() const { return problem_; }

private:
    Step fail(boost::system::error_code code);
    void keep_head();
    bool is_framed_plainly();

    boost::beast::flat_buffer buffer_;
    std::optional<boost::beast::http::request_parser<boost::beast::http::empty_body>> head_;
    std::optional<boost::beast::http::request_parser<boost::beast::http::buffer_body>> body_;
    std::string method_;
    std::string target_;
    Headers headers_;
    std::string expectation_;
    std::optional<std::uint64_t> body_size_;
    std::uint64_t frame_bytes_ = 0;
    std::uint64_t data_bytes_ = 0;
    std::uint64_t promised_bytes_ = 0;
    std::function<void(std::uint64_t size,
                       boost::beast::string_view extensions,
                       boost::system::error_code& problem)>
        on_chunk_;  // the parser has a reference to it
    unsigned version_ = 11;
    bool keep_alive_ = true;
    bool begun_ = false;
    Problem problem_;
};

}  // namespace ponk::net
