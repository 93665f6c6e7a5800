// SPDX-License-Identifier: Apache-2.0
#include "cli/client/server_address.hpp"

#include "base/text.hpp"
#include "os/file.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cerrno>
#include <cstdlib>
#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

namespace ponk::cli {
namespace {

using Security = net::ServerPlace::Security;

std::string variable(const char* name)
{
    const char* value = ::getenv(name);
    return value != nullptr ? value : "";
}

tl::unexpected<Error> bad_address(const std::string& origin, const std::string& why)
{
    return tl::unexpected(Error(ErrorKind::invalid_argument,
                                fmt::format("{}: {}", origin, why),
                                "Give the address that 'ponk serve' prints, such as "
                                "https://gpu.example:5000; 'here' is this machine."));
}

bool is_name_character(char c)
{
    return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || (c >= '0' && c <= '9') || c == '.' ||
           c == '-' || c == '_';
}

// "host", "host:port", "[::1]:port".
Result<> read_authority(std::string_view text, const std::string& origin, net::ServerPlace& place)
{
    std::string_view port;
    if (text.starts_with('[')) {
        const auto end = text.find(']');
        if (end == text.npos) return bad_address(origin, "the address has '[' without ']'");
        place.host = text.substr(1, end - 1);
        port = text.substr(end + 1);
        if (place.host.find_first_not_of("0123456789abcdefABCDEF:.") != std::string::npos)
            return bad_address(origin, "the address in [] is no IPv6 address");
    } else {
        const auto colon = std::min(text.find(':'), text.size());
        place.host = text.substr(0, colon);
        port = text.substr(colon);
        if (!std::all_of(place.host.begin(), place.host.end(), is_name_character))
            return bad_address(origin, "the address has a host name that no host has");
    }
    if (place.host.empty()) return bad_address(origin, "the address names no host");
    if (port.empty()) return {};
    const auto number = port.front() == ':' ? parse_integer(port.substr(1)) : std::nullopt;
    if (!number || *number < 1 || *number > 65535)
        return bad_address(origin, "the address has a port that is none");
    place.port = static_cast<std::uint16_t>(*number);
    return {};
}

Result<ServerAddress> parse_address(std::string_view text, const std::string& origin)
{
    constexpr std::string_view tls = "https://";
    constexpr std::string_view plain = "http://";
    ServerAddress server{.url = {}, .origin = origin, .place = {}};
    const bool has_tls = text.starts_with(tls);
    if (!has_tls && !text.starts_with(plain))
        return bad_address(origin, "the address begins neither with https:// nor with http://");
    text.remove_prefix(has_tls ? tls.size() : plain.size());
    while (text.ends_with('/'))
        text.remove_suffix(1);
    // A password in an address would be shown by whatever shows the address.
    if (text.find('@') != text.npos)
        return bad_address(origin, "the address has a user or a password, but a server has tokens");
    if (text.find_first_of("/?#") != text.npos)
        return bad_address(origin, "the address has more than a host and a port");
    server.place.port = has_tls ? 443 : 80;
    TRY(read_authority(text, origin, server.place));
    if (!has_tls) {
        server.place.security =
            variable("PONK_SERVER_INSECURE") == "1" ? Security::plain : Security::plain_on_loopback;
    }
    server.url = fmt::format("{}{}", has_tls ? tls : plain, net::authority_text(server.place));
    server.place.authority = variable("PONK_SERVER_CERT");
    return server;
}

// A header's value; the rest of it is ignored.
Result<std::string> checked(std::string token, const std::string& origin)
{
    const auto fits = [](char c) { return c > ' ' && c < '\x7f'; };
    if (!token.empty() && std::all_of(token.begin(), token.end(), fits)) return token;
    return tl::unexpected(
        Error(ErrorKind::invalid_argument,
              fmt::format("{} holds no token", origin),
              "A token is one word, 'ponk_' and 64 hex digits, without quotes and blanks."));
}

Result<std::string> read_token_file(const os::Path& path)
{
    const os::Fd file = TRY(os::open_file(path, O_RDONLY | O_NONBLOCK | O_NOCTTY)
                                .map_error(while_doing("PONK_SERVER_TOKEN_FILE")));
    struct stat info {};
    if (::fstat(file.get(), &info) != 0) return fail_errno(errno, "{}", os::in_quotes(path));
    if (!S_ISREG(info.st_mode))
        return fail(ErrorKind::invalid_argument, "{} is not a file", os::in_quotes(path));
    if (info.st_uid != ::geteuid() && info.st_uid != 0) {
        return tl::unexpected(Error(ErrorKind::conflict,
                                    fmt::format("token file {} belongs to another user (uid {})",
                                                os::in_quotes(path),
                                                info.st_uid),
                                    "Use a file of your own: PONK_SERVER_TOKEN_FILE names it."));
    }
    if ((info.st_mode & 077U) != 0) {
        return tl::unexpected(
            Error(ErrorKind::conflict,
                  fmt::format("token file {} can be used by others (mode {:03o})",
                              os::in_quotes(path),
                              info.st_mode & 0777U),
                  fmt::format("Run 'chmod 600 {}'. If others may have read the token, let the "
                              "server make another.",
                              path.string())));
    }
    const std::string text = TRY(os::read_at(file.get(), 0, 4096));
    return checked(std::string(trim(text)), fmt::format("file {}", os::in_quotes(path)));
}

}  // namespace

Result<std::optional<ServerAddress>> find_server(const std::optional<std::string>& option)
{
    const std::string text = option ? *option : variable("PONK_SERVER");
    if (text == "here" || (text.empty() && !option)) return std::nullopt;
    return TRY(parse_address(text, option ? "--server" : "PONK_SERVER"));
}

Result<std::string> server_token()
{
    if (auto token = variable("PONK_SERVER_TOKEN"); !token.empty())
        return checked(std::move(token), "PONK_SERVER_TOKEN");
    if (const auto path = variable("PONK_SERVER_TOKEN_FILE"); !path.empty())
        return read_token_file(path);
    return tl::unexpected(
        Error(ErrorKind::invalid_argument,
              "a server needs a token, and neither PONK_SERVER_TOKEN nor PONK_SERVER_TOKEN_FILE "
              "is set",
              "Who runs the server makes one: 'ponk token create --name NAME --role read'. Put it "
              "into a file with mode 600 and set PONK_SERVER_TOKEN_FILE to it."));
}

bool is_server_variable(std::string_view name_and_value)
{
    return name_and_value.starts_with("PONK_SERVER=") || name_and_value.starts_with("PONK_SERVER_");
}

}  // namespace ponk::cli
