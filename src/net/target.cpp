// SPDX-License-Identifier: Apache-2.0
#include "net/target.hpp"

#include "base/text.hpp"

#include <fmt/format.h>

#include <algorithm>

namespace ponk::net {

namespace {

bool is_hex(char c)
{
    return (c >= '0' && c <= '9') || (c >= 'a' && c <= 'f') || (c >= 'A' && c <= 'F');
}

Result<std::string> percent_decode(std::string_view text)
{
    if (text.find('%') == std::string_view::npos) return std::string(text);
    std::string out;
    for (std::size_t at = 0; at < text.size(); ++at) {
        if (text[at] != '%') {
            out += text[at];
            continue;
        }
        if (at + 2 >= text.size() || !is_hex(text[at + 1]) || !is_hex(text[at + 2]))
            return fail(ErrorKind::invalid_argument, "'%' without two hex digits in the address");
        out += from_hex(lower(text.substr(at + 1, 2))).value_or("");
        at += 2;
    }
    return out;
}

// In a query, and only there, a plus is a space.
Result<std::string> decode_parameter(std::string_view text)
{
    std::string spaced(text);
    std::replace(spaced.begin(), spaced.end(), '+', ' ');
    return percent_decode(spaced);
}

Result<std::string> decode_segment(std::string_view text)
{
    auto segment = TRY(percent_decode(text));
    const bool twice = [&segment] {
        for (std::size_t at = 0; at + 2 < segment.size(); ++at) {
            if (segment[at] == '%' && is_hex(segment[at + 1]) && is_hex(segment[at + 2]))
                return true;
        }
        return false;
    }();
    if (segment.empty() || segment == "." || segment == ".." || twice ||
        segment.find_first_of(std::string_view("/\\\0", 3)) != std::string::npos) {
        return fail(ErrorKind::invalid_argument,
                    "'{}' cannot be part of an address",
                    printable(text.substr(0, 80)));
    }
    return segment;
}

}  // namespace

Result<Target> parse_target(std::string_view text)
{
    Target target;
    // As a proxy is asked: the address with the host before it.
    for (const std::string_view scheme : {"http://", "https://"}) {
        if (text.starts_with('/')) break;
        if (!same_ignoring_case(text.substr(0, scheme.size()), scheme)) continue;
        text.remove_prefix(scheme.size());
        const auto end = std::min(text.find_first_of("/?"), text.size());
        target.authority = text.substr(0, end);
        if (target.authority.empty())
            return fail(ErrorKind::invalid_argument, "the address names no host");
        text.remove_prefix(end);
        if (text.empty()) text = "/";
        break;
    }
    if (text.empty() || text.front() != '/')
        return fail(ErrorKind::invalid_argument, "the address does not start with '/'");
    const auto question = text.find('?');
    auto path = text.substr(1, question == std::string_view::npos ? question : question - 1);
    if (!path.empty())
        target.path.reserve(static_cast<std::size_t>(std::count(path.begin(), path.end(), '/')) +
                            1);
    for (auto at = path.empty() ? std::string_view::npos : 0; at != std::string_view::npos;) {
        const auto end = path.find('/', at);
        target.path.push_back(TRY(decode_segment(path.substr(at, end - at))));
        at = end == std::string_view::npos ? end : end + 1;
    }
    if (question == std::string_view::npos) return target;
    for (const auto& pair : split(text.substr(question + 1), '&')) {
        if (pair.empty()) continue;
        const auto equals = pair.find('=');
        auto key = TRY(decode_parameter(std::string_view(pair).substr(0, equals)));
        auto value = equals == std::string::npos
                         ? std::string()
                         : TRY(decode_parameter(std::string_view(pair).substr(equals + 1)));
        target.query.emplace_back(std::move(key), std::move(value));
    }
    return target;
}

std::string percent_encode(std::string_view text)
{
    std::string out;
    for (const char c : text) {
        const bool plain = (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') ||
                           (c >= '0' && c <= '9') || c == '-' || c == '_' || c == '.' || c == '~';
        if (plain) {
            out += c;
        } else {
            out += fmt::format("%{:02X}", static_cast<unsigned char>(c));
        }
    }
    return out;
}

}  // namespace ponk::net
