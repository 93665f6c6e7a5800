// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "base/error.hpp"
#include "net/server_dial.hpp"

#include <optional>
#include <string>
#include <string_view>

namespace ponk::cli {

// A team server, which the reading commands ask instead of this machine's daemon.
struct ServerAddress {
    std::string url;     // "https://gpu.example:5000", as messages name it
    std::string origin;  // "--server" or "PONK_SERVER"
    net::ServerPlace place;
};

// What `option` (--server), else PONK_SERVER, names; nothing: this machine, because neither is set
// or it is "here".
Result<std::optional<ServerAddress>> find_server(const std::optional<std::string>& option);

// The token for it: PONK_SERVER_TOKEN, else the content of the file that PONK_SERVER_TOKEN_FILE
// names, which must be its owner's alone. No error shows any of it.
Result<std::string> server_token();

// The variables that name servers and tokens are for commands, and go to no run and no daemon.
bool is_server_variable(std::string_view name_and_value);

}  // namespace ponk::cli
