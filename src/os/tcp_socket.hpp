// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "base/error.hpp"
#include "os/fd.hpp"

#include <cstdint>
#include <string>
#include <sys/socket.h>
#include <vector>

namespace ponk::os {

// An address of TCP: IPv4 or IPv6, with its port.
struct TcpAddress {
    sockaddr_storage value{};
    socklen_t size = 0;

    // Only this machine reaches it.
    [[nodiscard]] bool is_loopback() const;
    // "127.0.0.1:80", "[::1]:80"
    [[nodiscard]] std::string text() const;
};

// What a host name or address stands for; asks the resolver. `not_found` when it is not known.
Result<std::vector<TcpAddress>> resolve_tcp(const std::string& host, std::uint16_t port);
// 127.0.0.1, or ::1.
TcpAddress loopback_address(int family, std::uint16_t port);

// A listening socket. `conflict` when somebody has the address already. Port 0: any free one.
Result<Fd> listen_tcp(const TcpAddress& address);
// The port that a socket has.
Result<std::uint16_t> port_of(int socket);
Result<Fd> connect_tcp(const TcpAddress& address);

// "127.0.0.1", "::1"; empty for what is no IP address. An IPv4 address in IPv6 form is told as
// IPv4.
std::string address_text(const sockaddr_storage& address);

}  // namespace ponk::os
