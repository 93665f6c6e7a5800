// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "base/error.hpp"

#include <optional>
#include <string>
#include <string_view>

namespace ponk::ssh {

// A host as the user names it. The host may be an alias of ~/.ssh/config, so what is not said here
// (user, port) is left to that file.
struct Address {
    std::string user;  // empty: as ssh decides
    std::string host;  // a name, an alias, or an IP address without brackets
    std::optional<int> port = std::nullopt;

    // "ann@host:5022", "[fe80::1]:22": for messages.
    [[nodiscard]] std::string text() const;
    // "user@host:port" with port 22 where none is said: what the host's folder is named after.
    [[nodiscard]] std::string identity() const;
    friend bool operator==(const Address&, const Address&) = default;
};

// Names reach command lines and the user's own ProxyCommand, so the alphabet is narrow: letters,
// digits, ".", "_", "-" (not first), ":" and "%" in IPv6 addresses; for users also "@", "+" and "\"
// inside, as directories of companies have them.
Result<> check_host(std::string_view host);
Result<> check_user(std::string_view user);

// "host", "host:port", "v6", "[v6]", "[v6]:port", each with "user@" in front if `user` is empty.
Result<Address> parse_address(std::string_view text, std::string_view user = {});

}  // namespace ponk::ssh
