// SPDX-License-Identifier: Apache-2.0
#include "ssh/address.hpp"

#include "base/text.hpp"

namespace ponk::ssh {
namespace {

constexpr std::string_view letters_and_digits =
    "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789";

bool consists_of(std::string_view text, std::string_view more)
{
    for (const char c : text) {
        if (letters_and_digits.find(c) == std::string_view::npos &&
            more.find(c) == std::string_view::npos)
            return false;
    }
    return true;
}

tl::unexpected<Error> no_address(std::string_view text)
{
    return tl::unexpected(Error(ErrorKind::invalid_argument,
                                fmt::format("'{}' is not an address of a machine", printable(text)),
                                "Write 'host', 'host:port' or '[IPv6 address]:port', the port "
                                "from 1 to 65535."));
}

}  // namespace

std::string Address::text() const
{
    const bool v6 = host.find(':') != std::string::npos;
    std::string out = user.empty() ? "" : user + "@";
    out += v6 && port ? "[" + host + "]" : host;
    if (port) out += fmt::format(":{}", *port);
    return out;
}

std::string Address::identity() const
{
    return fmt::format("{}@{}:{}", user, lower(host), port.value_or(22));
}

Result<> check_host(std::string_view host)
{
    const bool v6 = host.find(':') != std::string_view::npos;
    const bool good = !host.empty() && host.size() <= 253 && host.front() != '-' &&
                      host.front() != '.' && consists_of(host, v6 ? ".:%_-" : "._-");
    if (good) return {};
    return tl::unexpected(
        Error(ErrorKind::invalid_argument,
              fmt::format("'{}' cannot be the name of a machine", printable(host)),
              "A name has letters, digits, '.', '-' and '_'; an alias of ~/.ssh/config will do."));
}

Result<> check_user(std::string_view user)
{
    const bool good = !user.empty() && user.size() <= 128 && user.front() != '-' &&
                      consists_of(user, "._-@+\\") && user.front() != '\\' && user.back() != '\\' &&
                      user.front() != '@' && user.back() != '@';
    if (good) return {};
    return tl::unexpected(Error(ErrorKind::invalid_argument,
                                fmt::format("'{}' cannot be a user's name", printable(user)),
                                "A user's name has letters, digits, '.', '_', '-', '+' and '@' "
                                "inside."));
}

Result<Address> parse_address(std::string_view text, std::string_view user)
{
    Address address{.user = std::string(user), .host = {}};
    std::string_view host = text;
    if (const auto at = host.rfind('@'); at != std::string_view::npos) {
        if (!user.empty() && user != host.substr(0, at)) {
            return fail(ErrorKind::invalid_argument,
                        "two users are named: '{}' and '{}'",
                        printable(host.substr(0, at)),
                        printable(user));
        }
        address.user = std::string(host.substr(0, at));
        if (address.user.empty()) return no_address(text);
        host.remove_prefix(at + 1);
    }
    std::string_view port;
    bool has_port = false;
    if (host.starts_with('[')) {
        const auto end = host.find(']');
        if (end == std::string_view::npos || host.find(':') > end) return no_address(text);
        const auto rest = host.substr(end + 1);
        if (!rest.empty() && rest.front() != ':') return no_address(text);
        has_port = !rest.empty();
        if (has_port) port = rest.substr(1);
        host = host.substr(1, end - 1);
    } else if (const auto colon = host.find(':');
               colon != std::string_view::npos && host.find(':', colon + 1) == host.npos) {
        has_port = true;
        port = host.substr(colon + 1);
        host = host.substr(0, colon);
    }
    if (has_port) {
        const auto number = parse_integer(port);
        if (!number || *number < 1 || *number > 65535 || !consists_of(port, ""))
            return no_address(text);
        address.port = static_cast<int>(*number);
    }
    address.host = std::string(host);
    TRY(check_host(address.host));
    if (!address.user.empty()) TRY(check_user(address.user));
    return address;
}

}  // namespace ponk::ssh
