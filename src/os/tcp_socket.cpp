// SPDX-License-Identifier: Apache-2.0
#include "os/tcp_socket.hpp"

#include <arpa/inet.h>
#include <cerrno>
#include <cstring>
#include <netdb.h>
#include <netinet/in.h>
#include <unistd.h>

namespace ponk::os {

namespace {

const sockaddr_in& as_four(const sockaddr_storage& address)
{
    return reinterpret_cast<const sockaddr_in&>(address);
}

const sockaddr_in6& as_six(const sockaddr_storage& address)
{
    return reinterpret_cast<const sockaddr_in6&>(address);
}

const sockaddr* generic(const TcpAddress& address)
{
    return reinterpret_cast<const sockaddr*>(&address.value);
}

}  // namespace

std::string address_text(const sockaddr_storage& address)
{
    char text[INET6_ADDRSTRLEN] = {};
    if (address.ss_family == AF_INET) {
        ::inet_ntop(AF_INET, &as_four(address).sin_addr, text, sizeof text);
    } else if (address.ss_family == AF_INET6) {
        const auto& six = as_six(address).sin6_addr;
        if (IN6_IS_ADDR_V4MAPPED(&six)) {
            ::inet_ntop(AF_INET, &six.s6_addr[12], text, sizeof text);
        } else {
            ::inet_ntop(AF_INET6, &six, text, sizeof text);
        }
    }
    return text;
}

bool TcpAddress::is_loopback() const
{
    if (value.ss_family == AF_INET) return (ntohl(as_four(value).sin_addr.s_addr) >> 24U) == 127;
    return value.ss_family == AF_INET6 && IN6_IS_ADDR_LOOPBACK(&as_six(value).sin6_addr);
}

std::string TcpAddress::text() const
{
    const bool six = value.ss_family == AF_INET6;
    const auto port = ntohs(six ? as_six(value).sin6_port : as_four(value).sin_port);
    return fmt::format(
        six ? fmt::runtime("[{}]:{}") : fmt::runtime("{}:{}"), address_text(value), port);
}

Result<std::vector<TcpAddress>> resolve_tcp(const std::string& host, std::uint16_t port)
{
    addrinfo request{};
    request.ai_socktype = SOCK_STREAM;
    request.ai_flags = AI_PASSIVE | AI_NUMERICSERV;
    addrinfo* found = nullptr;
    const int code = ::getaddrinfo(host.c_str(), std::to_string(port).c_str(), &request, &found);
    if (code != 0)
        return fail(ErrorKind::not_found, "address '{}': {}", host, ::gai_strerror(code));
    std::vector<TcpAddress> addresses;
    for (const auto* entry = found; entry != nullptr; entry = entry->ai_next) {
        if (entry->ai_family != AF_INET && entry->ai_family != AF_INET6) continue;
        TcpAddress address;
        std::memcpy(&address.value, entry->ai_addr, entry->ai_addrlen);
        address.size = entry->ai_addrlen;
        addresses.push_back(address);
    }
    ::freeaddrinfo(found);
    return addresses;
}

TcpAddress loopback_address(int family, std::uint16_t port)
{
    TcpAddress address;
    if (family == AF_INET6) {
        auto& six = reinterpret_cast<sockaddr_in6&>(address.value);
        six.sin6_family = AF_INET6;
        six.sin6_addr = IN6ADDR_LOOPBACK_INIT;
        six.sin6_port = htons(port);
        address.size = sizeof six;
    } else {
        auto& four = reinterpret_cast<sockaddr_in&>(address.value);
        four.sin_family = AF_INET;
        four.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
        four.sin_port = htons(port);
        address.size = sizeof four;
    }
    return address;
}

Result<Fd> listen_tcp(const TcpAddress& address)
{
    const int family = address.value.ss_family;
    Fd socket(::socket(family, SOCK_STREAM | SOCK_CLOEXEC | SOCK_NONBLOCK, IPPROTO_TCP));
    if (!socket) return fail_errno(errno, "create a socket");
    const int one = 1;
    // Connections of the daemon before us that linger do not hold the port.
    ::setsockopt(socket.get(), SOL_SOCKET, SO_REUSEADDR, &one, sizeof one);
    if (family == AF_INET6) ::setsockopt(socket.get(), IPPROTO_IPV6, IPV6_V6ONLY, &one, sizeof one);
    if (::bind(socket.get(), generic(address), address.size) != 0 ||
        ::listen(socket.get(), 1024) != 0) {
        if (errno == EADDRINUSE)
            return fail(
                ErrorKind::conflict, "another program already listens on {}", address.text());
        return fail_errno(errno, "listen on {}", address.text());
    }
    return socket;
}

Result<std::uint16_t> port_of(int socket)
{
    sockaddr_storage address{};
    socklen_t size = sizeof address;
    if (::getsockname(socket, reinterpret_cast<sockaddr*>(&address), &size) != 0)
        return fail_errno(errno, "ask for the socket's port");
    return ntohs(address.ss_family == AF_INET6 ? as_six(address).sin6_port
                                               : as_four(address).sin_port);
}

Result<Fd> connect_tcp(const TcpAddress& address)
{
    Fd socket(::socket(address.value.ss_family, SOCK_STREAM | SOCK_CLOEXEC, IPPROTO_TCP));
    if (!socket) return fail_errno(errno, "create a socket");
    const timeval limit{.tv_sec = 5, .tv_usec = 0};
    ::setsockopt(socket.get(), SOL_SOCKET, SO_SNDTIMEO, &limit, sizeof limit);
    if (::connect(socket.get(), generic(address), address.size) != 0)
        return fail_errno(
            errno == EINPROGRESS ? ETIMEDOUT : errno, "connect to {}", address.text());
    return socket;
}

}  // namespace ponk::os
