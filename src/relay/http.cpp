// SPDX-License-Identifier: Apache-2.0
#include "relay/http.hpp"

#include "base/text.hpp"
#include "base/time.hpp"

#include <fmt/format.h>

#include <cerrno>
#include <netinet/in.h>
#include <netinet/tcp.h>
#include <sys/sendfile.h>
#include <sys/socket.h>

namespace ponk::relay {

namespace {

constexpr std::size_t longest_head = 32 * 1024;
constexpr std::size_t block = 64 * 1024;
constexpr std::uint64_t little = std::uint64_t{1} << 20;
// For the next piece of whatever is awaited, also the next request.
constexpr timeval patience{600, 0};
// For the rest of a request that was refused.
constexpr timeval detach{5, 0};

const char* reason_of(int status)
{
    switch (status) {
    case 200:
        return "OK";
    case 206:
        return "Partial Content";
    case 400:
        return "Bad Request";
    case 401:
        return "Unauthorized";
    case 403:
        return "Forbidden";
    case 404:
        return "Not Found";
    case 413:
        return "Content Too Large";
    case 416:
        return "Range Not Satisfiable";
    case 501:
        return "Not Implemented";
    case 503:
        return "Service Unavailable";
    default:
        return "Status";
    }
}

}  // namespace

Stream::Stream(os::Fd socket) : socket_(std::move(socket))
{
    ::setsockopt(socket_.get(), SOL_SOCKET, SO_RCVTIMEO, &patience, sizeof patience);
    ::setsockopt(socket_.get(), SOL_SOCKET, SO_SNDTIMEO, &patience, sizeof patience);
    const int yes = 1;
    ::setsockopt(socket_.get(), IPPROTO_TCP, TCP_NODELAY, &yes, sizeof yes);
}

// False when the client has gone.
Result<bool> Stream::fill()
{
    const auto before = buffer_.size();
    buffer_.resize(before + block);
    ssize_t got = 0;
    do {
        got = ::recv(socket_.get(), buffer_.data() + before, block, 0);
    } while (got < 0 && errno == EINTR);
    const int problem = errno;
    buffer_.resize(before + static_cast<std::size_t>(std::max<ssize_t>(got, 0)));
    if (got < 0) return fail_errno(problem, "read a request");
    return got > 0;
}

Result<std::optional<Head>> Stream::read_head()
{
    for (;;) {
        const auto end = buffer_.find("\r\n\r\n");
        if (end != std::string::npos && end < longest_head) {
            auto head = parse_head(std::string_view(buffer_).substr(0, end + 4));
            buffer_.erase(0, end + 4);
            if (!head) return tl::unexpected(head.error());
            return std::optional(std::move(*head));
        }
        if (buffer_.size() >= longest_head)
            return fail(ErrorKind::invalid_argument, "not an HTTP request: its head is too long");
        if (!TRY(fill())) return std::optional<Head>();
    }
}

Result<> Stream::send(std::string_view bytes)
{
    while (!bytes.empty()) {
        const auto put = ::send(socket_.get(), bytes.data(), bytes.size(), MSG_NOSIGNAL);
        if (put < 0 && errno == EINTR) continue;
        if (put <= 0) return fail_errno(errno, "answer");
        bytes.remove_prefix(static_cast<std::size_t>(put));
    }
    return {};
}

Result<> Stream::send_file(int file, std::uint64_t offset, std::uint64_t size)
{
    auto at = static_cast<off_t>(offset);
    while (size > 0) {
        const auto piece = std::min<std::uint64_t>(size, std::uint64_t{1} << 30);
        const auto put = ::sendfile(socket_.get(), file, &at, static_cast<std::size_t>(piece));
        if (put < 0 && errno == EINTR) continue;
        if (put < 0) return fail_errno(errno, "send a file");
        // It became shorter meanwhile: nobody may take a part for all.
        if (put == 0) return fail(ErrorKind::damaged, "a file was cut while it was sent");
        size -= static_cast<std::uint64_t>(put);
    }
    return {};
}

void Stream::close_gently()
{
    ::shutdown(socket_.get(), SHUT_WR);
    ::setsockopt(socket_.get(), SOL_SOCKET, SO_RCVTIMEO, &detach, sizeof detach);
    const auto deadline = after(std::chrono::seconds(detach.tv_sec));
    do
        buffer_.clear();
    while (Deadline::clock::now() < deadline && fill().value_or(false));
}

Result<std::string> Stream::read_some(std::size_t most)
{
    if (buffer_.empty() && !TRY(fill())) return std::string();
    if (buffer_.size() <= most) return std::exchange(buffer_, {});
    auto piece = buffer_.substr(0, most);
    buffer_.erase(0, most);
    return piece;
}

Result<std::string> Stream::read_line(std::size_t longest)
{
    for (;;) {
        const auto end = buffer_.find("\r\n");
        if (end != std::string::npos && end <= longest) {
            auto line = buffer_.substr(0, end);
            buffer_.erase(0, end + 2);
            return line;
        }
        if (buffer_.size() > longest)
            return fail(ErrorKind::invalid_argument, "not an HTTP request: a line is too long");
        if (!TRY(fill())) return fail(ErrorKind::unavailable, "the client went away");
    }
}

Body::Body(Stream& stream, const Head& head)
    : stream_(stream), head_(head), done_(!head.chunked && head.length == 0), left_(head.length)
{
}

Result<> Body::begin()
{
    begun_ = true;
    if (head_.expects_continue) TRY(stream_.send("HTTP/1.1 100 Continue\r\n\r\n"));
    if (head_.chunked) TRY(next_chunk());
    return {};
}

Result<> Body::next_chunk()
{
    left_ = TRY(parse_chunk_size(TRY(stream_.read_line(1024))));
    if (left_ > 0) return {};
    // Headers behind the last one are of no use to us.
    for (int lines = 0; !TRY(stream_.read_line(8192)).empty(); ++lines) {
        if (lines == 100)
            return fail(ErrorKind::invalid_argument, "not an HTTP request: too many trailers");
    }
    done_ = true;
    return {};
}

Result<std::string> Body::next()
{
    if (!done_ && !begun_) TRY(begin());
    if (done_) return std::string();
    auto piece =
        TRY(stream_.read_some(static_cast<std::size_t>(std::min<std::uint64_t>(left_, block))));
    if (piece.empty()) return fail(ErrorKind::unavailable, "the client went away");
    left_ -= piece.size();
    if (left_ > 0) return piece;
    if (!head_.chunked) {
        done_ = true;
    } else {
        if (!TRY(stream_.read_line(0)).empty())
            return fail(ErrorKind::invalid_argument, "not an HTTP request: the end of a chunk");
        TRY(next_chunk());
    }
    return piece;
}

Result<std::string> Body::all(std::size_t most)
{
    std::string out;
    const auto too_long = [this, most] {
        too_long_ = true;
        return fail(ErrorKind::invalid_argument, "the request has more than {} bytes", most);
    };
    if (!head_.chunked && head_.length > most) return too_long();
    if (!done_ && !begun_) TRY(begin());
    while (!done_) {
        // Also what a chunk announces: nobody waits for it.
        if (left_ > most - out.size()) return too_long();
        out += TRY(next());
    }
    return out;
}

bool Body::skip()
{
    // A client that waits for our word has sent nothing yet.
    if (!begun_ && head_.expects_continue) return done_;
    for (std::uint64_t read = 0; !done_ && read < little;) {
        const auto piece = next();
        if (!piece) return false;
        read += piece->size();
    }
    return done_;
}

std::string response_head(const net::Response& response, bool keep_alive, std::uint64_t length)
{
    auto head = fmt::format("HTTP/1.1 {} {}\r\nContent-Type: {}\r\nContent-Length: {}\r\n",
                            response.status,
                            reason_of(response.status),
                            response.type,
                            length);
    for (const auto& [name, value] : response.headers)
        head += name + ": " + value + "\r\n";
    if (!keep_alive) head += "Connection: close\r\n";
    return head + "\r\n";
}

}  // namespace ponk::relay
