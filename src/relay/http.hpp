// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "net/message.hpp"
#include "os/fd.hpp"

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>

// HTTP/1.1 as far as a run's own clients speak it, one thread for each connection: bodies of any
// size pass through in pieces, and an answer costs no change of threads.
namespace ponk::relay {

struct Head {
    std::string method;
    std::string target;  // as it was sent
    net::Headers headers;
    bool keep_alive = true;
    bool chunked = false;
    std::uint64_t length = 0;  // of the body, unless it is chunked
    bool expects_continue = false;

    [[nodiscard]] std::string header(std::string_view name) const;
};

// A request's head with its last empty line. Anything that two readers could understand
// differently is refused.
Result<Head> parse_head(std::string_view text);

// "1a;name=value" before a piece of a body that is sent in chunks.
Result<std::uint64_t> parse_chunk_size(std::string_view line);

// One connection. Every wait ends after its time-out.
class Stream {
public:
    explicit Stream(os::Fd socket);

    // nullopt: the client has gone, or has nothing more to say.
    Result<std::optional<Head>> read_head();
    Result<> send(std::string_view bytes);
    // `size` bytes of a file.
    Result<> send_file(int file, std::uint64_t offset, std::uint64_t size);
    // The end: whoever is still sending reads what it was told, and is not cut off before.
    void close_gently();
    // Up to `most` bytes; empty when the client has gone.
    Result<std::string> read_some(std::size_t most);
    // Without its end.
    Result<std::string> read_line(std::size_t longest);

private:
    Result<bool> fill();

    os::Fd socket_;
    std::string buffer_;
};

// The body of one request, in pieces.
class Body {
public:
    Body(Stream& stream, const Head& head);

    // Empty at the end.
    Result<std::string> next();
    // All of it; `invalid_argument` when it is longer than `most`.
    Result<std::string> all(std::size_t most);
    // Reads what is left, when that is little: a client reads the answer when it has sent all.
    // False when there is more.
    bool skip();
    [[nodiscard]] bool is_at_end() const noexcept { return done_; }
    // Why `all` failed.
    [[nodiscard]] bool is_too_long() const noexcept { return too_long_; }

private:
    Result<> begin();
    Result<> next_chunk();

    Stream& stream_;
    const Head& head_;
    bool begun_ = false;
    bool done_ = false;
    bool too_long_ = false;
    std::uint64_t left_ = 0;  // of the body, or of its chunk
};

// Head and body of an answer. `body_length` is for a body that follows.
std::string response_head(const net::Response& response, bool keep_alive, std::uint64_t length);

}  // namespace ponk::relay
