// SPDX-License-Identifier: Apache-2.0
#include "http_connection.hpp"

#include "base/text.hpp"

#include <fmt/format.h>

#include <arpa/inet.h>
#include <array>
#include <cerrno>
#include <netinet/tcp.h>
#include <sys/socket.h>
#include <unistd.h>

namespace ponk::bench {

namespace {

// The value of a header line in `head`, whose names may have any case.
std::string header(std::string_view head, std::string_view name)
{
    for (const auto& line : split(head, '\n')) {
        const auto colon = line.find(':');
        if (colon != std::string::npos && same_ignoring_case(line.substr(0, colon), name))
            return std::string(trim(std::string_view(line).substr(colon + 1)));
    }
    return {};
}

}  // namespace

HttpConnection::HttpConnection(os::Fd socket, const std::string& port, const std::string& token)
    : socket_(std::move(socket)),
      fixed_("Host: 127.0.0.1:" + port + "\r\nContent-Type: application/json\r\n")
{
    if (!token.empty()) fixed_ += "Authorization: Bearer " + token + "\r\n";
}

Result<HttpConnection> HttpConnection::open(std::uint16_t port, const std::string& token)
{
    os::Fd socket(::socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0));
    if (!socket) return fail_errno(errno, "socket");
    sockaddr_in address{};
    address.sin_family = AF_INET;
    address.sin_port = htons(port);
    address.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
    const auto* generic = reinterpret_cast<const sockaddr*>(&address);
    if (::connect(socket.get(), generic, sizeof address) != 0)
        return fail_errno(errno, "connect to port {}", port);
    const int on = 1;
    ::setsockopt(socket.get(), IPPROTO_TCP, TCP_NODELAY, &on, sizeof on);
    return HttpConnection(std::move(socket), std::to_string(port), token);
}

Result<> HttpConnection::send_all(std::string_view bytes)
{
    while (!bytes.empty()) {
        const auto sent = ::send(socket_.get(), bytes.data(), bytes.size(), MSG_NOSIGNAL);
        if (sent < 0 && errno == EINTR) continue;
        if (sent < 0) return fail_errno(errno, "send");
        bytes.remove_prefix(static_cast<std::size_t>(sent));
    }
    return {};
}

Result<> HttpConnection::receive(std::size_t size)
{
    while (received_.size() < size) {
        std::array<char, 64 * 1024> piece;
        const auto got = ::recv(socket_.get(), piece.data(), piece.size(), 0);
        if (got < 0 && errno == EINTR) continue;
        if (got < 0) return fail_errno(errno, "receive");
        if (got == 0) return fail(ErrorKind::unavailable, "the server closed the connection");
        received_.append(piece.data(), static_cast<std::size_t>(got));
    }
    return {};
}

Result<std::size_t> HttpConnection::head_end()
{
    for (;;) {
        const auto end = received_.find("\r\n\r\n");
        if (end != std::string::npos) return end + 4;
        TRY(receive(received_.size() + 1));
    }
}

Result<HttpConnection::Answer> HttpConnection::post(std::string_view target, std::string_view body)
{
    request_.clear();
    fmt::format_to(std::back_inserter(request_),
                   "POST {} HTTP/1.1\r\n{}Content-Length: {}\r\n\r\n{}",
                   target,
                   fixed_,
                   body.size(),
                   body);
    TRY(send_all(request_));
    received_.clear();
    const auto begin = TRY(head_end());
    const auto head = received_.substr(0, begin);
    const auto length = parse_integer(header(head, "Content-Length"));
    if (!length) return fail(ErrorKind::damaged, "an answer without a length: {}", printable(head));
    TRY(receive(begin + static_cast<std::size_t>(*length)));
    const auto status = parse_integer(std::string_view(head).substr(9, 3)).value_or(0);
    return Answer{static_cast<int>(status), std::string_view(received_).substr(begin)};
}

}  // namespace ponk::bench
