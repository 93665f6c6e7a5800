// SPDX-License-Identifier: Apache-2.0
#include "api/access/access.hpp"

#include "base/base64.hpp"
#include "base/text.hpp"
#include "base/time.hpp"

#include <algorithm>

namespace ponk::api {

namespace {

bool changes_something(const net::Request& request)
{
    return request.method != "GET" && request.method != "HEAD" && request.method != "OPTIONS";
}

// A page of this very server, or no page at all. Behind a proxy our name is another than that in
// `Origin`; the browser, which no page can make lie about this, then knows that both are one.
bool is_own_page(const net::Request& request)
{
    const auto site = request.header("Sec-Fetch-Site");
    if (!site.empty() && site != "same-origin" && site != "none") return false;
    if (site == "same-origin" && request.listener_kind == net::ListenerKind::network) return true;
    const auto origin = request.header("Origin");
    if (origin.empty()) return true;
    const auto authority = origin.find("://");
    return authority != std::string::npos &&
           same_ignoring_case(std::string_view(origin).substr(authority + 3),
                              request.header("Host"));
}

Refusal forbidden(std::string message, std::string hint)
{
    return {403, Error(ErrorKind::invalid_argument, std::move(message), std::move(hint))};
}

Refusal unknown_caller(bool had_token)
{
    return {401,
            Error(ErrorKind::invalid_argument,
                  had_token ? "the token or session is unknown or has expired"
                            : "this request needs a token",
                  "'ponk tracking env' prints the token of this machine; 'ponk token create' "
                  "creates others."),
            {{"WWW-Authenticate", "Bearer realm=\"ponk\""}}};
}

const char* name_of(Permission needed)
{
    switch (needed) {
    case Permission::open:
    case Permission::login:
    case Permission::read:
        break;
    case Permission::write:
        return "write";
    case Permission::promote:
        return "promote";
    case Permission::administer:
        return "administer";
    case Permission::owner:
        return "owner";
    }
    return "read";
}

}  // namespace

bool is_loopback_host(std::string_view host)
{
    std::string_view name = host;
    std::string_view port;
    const auto end = host.starts_with('[') ? host.find(']') : host.find(':') - 1;
    if (end != std::string_view::npos && end + 1 < host.size()) {
        name = host.substr(0, end + 1);
        port = host.substr(end + 1);
    }
    const bool right_port =
        port.empty() ||
        (port.size() > 1 && port.size() <= 6 && port.front() == ':' &&
         std::all_of(port.begin() + 1, port.end(), [](char c) { return c >= '0' && c <= '9'; }));
    return right_port &&
           (same_ignoring_case(name, "localhost") || name == "127.0.0.1" || name == "[::1]");
}

std::optional<std::string> token_of(const net::Request& request)
{
    const auto text = request.header("Authorization");
    const auto blank = text.find(' ');
    if (blank == std::string::npos) return std::nullopt;
    const auto scheme = std::string_view(text).substr(0, blank);
    const auto rest = trim(std::string_view(text).substr(blank));
    if (same_ignoring_case(scheme, "Bearer")) return std::string(rest);
    if (!same_ignoring_case(scheme, "Basic")) return std::nullopt;
    const auto pair = from_base64(rest);
    const auto colon = pair ? pair->find(':') : std::string::npos;
    if (colon == std::string::npos) return std::nullopt;
    return pair->substr(colon + 1);
}

bool is_owners_session(const Caller& caller)
{
    return !caller.session.empty() && caller.token.empty();
}

std::string client_of(const Caller& caller)
{
    if (is_owners_session(caller)) return "session of the owner";
    return caller.token.empty() ? std::string() : "token " + caller.token;
}

bool suffices(Role role, Permission needed)
{
    switch (needed) {
    case Permission::open:
    case Permission::login:
    case Permission::read:
        return true;
    case Permission::write:
        return role >= Role::write;
    case Permission::promote:
        return role >= Role::promote;
    case Permission::administer:
        return role >= Role::administer;
    case Permission::owner:
        break;  // no role is enough
    }
    return false;
}

std::optional<Caller> find_caller(const Known& known, const net::Request& request)
{
    const auto text = token_of(request);
    if (!text && known.addresses != nullptr && known.sessions != nullptr) {
        const auto address = known.addresses->find(request, wall_milliseconds());
        auto session = address ? known.sessions->find_by_id(address->session) : std::nullopt;
        if (!session) return std::nullopt;
        return Caller{std::move(session->token),
                      session->role,
                      std::move(session->session.id),
                      address->show};
    }
    if (!text) return std::nullopt;
    if (Sessions::is_session_text(*text)) {
        auto session = known.sessions == nullptr ? std::nullopt : known.sessions->find(*text);
        if (!session) return std::nullopt;
        return Caller{std::move(session->token), session->role, std::move(session->session.id)};
    }
    auto token = known.tokens == nullptr ? std::nullopt : known.tokens->find(*text);
    if (!token) return std::nullopt;
    return Caller{std::move(token->name), token->role};
}

std::optional<Refusal>
find_refusal(const Known& known, const net::Request& request, Permission needed, Caller* caller)
{
    if (request.listener_kind == net::ListenerKind::unix_socket || needed == Permission::open)
        return std::nullopt;
    // A name of somebody else's that leads here is how pages of strangers reach local servers.
    if (request.listener_kind == net::ListenerKind::loopback &&
        !is_loopback_host(request.header("Host"))) {
        return forbidden("the host '" + printable(request.header("Host").substr(0, 100)) +
                             "' is not served here",
                         "Use 'localhost' or '127.0.0.1'.");
    }
    // Who says only later who asks is asked now which page it is: a WebSocket begins with a GET.
    if ((changes_something(request) || needed == Permission::login) && !is_own_page(request)) {
        return forbidden("a page of '" + printable(request.header("Origin").substr(0, 100)) +
                             "' may not change anything here",
                         "");
    }
    if (needed == Permission::login) return std::nullopt;
    auto found = find_caller(known, request);
    if (!found) return unknown_caller(token_of(request).has_value());
    const auto role = found->role;
    const bool owns = is_owners_session(*found);
    if (caller != nullptr) *caller = *std::move(found);
    if (owns || suffices(role, needed)) return std::nullopt;
    if (needed == Permission::owner) {
        return forbidden("this is for the owner of the daemon, not for a token",
                         "Open the page with 'ponk ui' on the daemon's machine.");
    }
    return forbidden(
        fmt::format(
            "this needs the role '{}'; the token has '{}'", name_of(needed), to_string(role)),
        fmt::format("'ponk token create --name NAME --role {}' creates a token with this role.",
                    name_of(needed)));
}

}  // namespace ponk::api
