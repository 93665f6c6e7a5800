// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "api/access/permission.hpp"
#include "api/access/sessions.hpp"
#include "api/access/signed_addresses.hpp"
#include "api/access/tokens.hpp"
#include "net/message.hpp"

#include <optional>
#include <string>
#include <string_view>

namespace ponk::api {

// Why a request may not do what it asks for.
struct Refusal {
    int status = 403;
    Error error;
    net::Headers headers = {};
};

// Who a request comes from: the name and the role of its token, when it has one that is known.
struct Caller {
    std::string token = {};  // empty: none, or the owner's session
    Role role = Role::read;
    std::string session = {};  // the id of the page's session that it is of
    // The address said who asks, and how its answer is shown.
    std::optional<SignedAddresses::Show> show = {};
};

// Made over the Unix socket: everything but logs with secrets.
bool is_owners_session(const Caller& caller);

// Clients share the server by their tokens, whatever connections and user names they come with.
// Empty: the address decides.
std::string client_of(const Caller& caller);
// Whether a role is enough for what needs this permission.
bool suffices(Role role, Permission needed);

// Where callers are known from. Without any, only the Unix socket is open.
struct Known {
    const Tokens* tokens = nullptr;
    const Sessions* sessions = nullptr;
    const SignedAddresses* addresses = nullptr;
};

// The session or the token that a request brings, when it is one.
std::optional<Caller> find_caller(const Known& known, const net::Request& request);

// Asks the listener through which a request came, where it says it wants to go (Host), which page
// sent it (Origin) and its token. Nothing: it may. Waits for nothing. `caller` becomes who it is,
// as far as that is known then.
std::optional<Refusal> find_refusal(const Known& known,
                                    const net::Request& request,
                                    Permission needed,
                                    Caller* caller = nullptr);

// "localhost", "127.0.0.1" or "[::1]", with a port or without.
bool is_loopback_host(std::string_view host);
// The token that a request brings: "Bearer T", or "Basic" with T as the password.
std::optional<std::string> token_of(const net::Request& request);

}  // namespace ponk::api
