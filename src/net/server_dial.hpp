// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "net/wire.hpp"
#include "os/file.hpp"

#include <cstdint>
#include <string>

namespace ponk::net {

// Where a server listens by TCP, and how a client makes sure of it.
struct ServerPlace {
    // `plain`: without TLS. `plain_on_loopback`: only where nothing leaves this machine.
    enum class Security { tls, plain_on_loopback, plain };

    std::string host;  // a name or an IP address, without brackets
    std::uint16_t port = 0;
    Security security = Security::tls;
    os::Path authority = {};  // PEM: what alone is trusted; empty: what the system trusts
};

// The address as in a URL: "[::1]:5000".
std::string authority_text(const ServerPlace& place);

// Connects within ten seconds, or earlier by the limit. TLS 1.2 or 1.3; the certificate must be
// valid and be for the host. `unreachable`: the server is not trusted, or speaks
// something else; trying again does not help.
Dial dial_server(ServerPlace place);

}  // namespace ponk::net
