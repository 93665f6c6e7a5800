// SPDX-License-Identifier: Apache-2.0
#include "api/mlflow/registry/uri_text.hpp"

#include "base/text.hpp"

#include <algorithm>

namespace ponk::api::mlflow {

namespace {

std::string decode_once(std::string_view text)
{
    std::string out;
    for (std::size_t i = 0; i < text.size(); ++i) {
        const auto byte = text[i] == '%' ? from_hex(text.substr(i + 1, 2)) : std::nullopt;
        if (byte && byte->size() == 1) {
            out += *byte;
            i += 2;
        } else {
            out += text[i];
        }
    }
    return out;
}

std::string decode(std::string_view text)
{
    std::string decoded(text);
    for (;;) {
        auto again = decode_once(decoded);
        if (again.size() == decoded.size()) return decoded;
        decoded = std::move(again);
    }
}

bool is_scheme(std::string_view text)
{
    const auto is_letter = [](char c) { return (c | 0x20) >= 'a' && (c | 0x20) <= 'z'; };
    return !text.empty() && is_letter(text.front()) &&
           std::all_of(text.begin(), text.end(), [&](char c) {
               return is_letter(c) || (c >= '0' && c <= '9') || c == '+' || c == '-' || c == '.';
           });
}

// ".." between whatever may end a part of an address.
bool has_parent(std::string_view decoded)
{
    constexpr std::string_view ends = "/?#&;=";
    while (true) {
        const auto end = decoded.find_first_of(ends);
        if (decoded.substr(0, end) == "..") return true;
        if (end == std::string_view::npos) return false;
        decoded.remove_prefix(end + 1);
    }
}

}  // namespace

bool UriText::is_absolute() const
{
    return !may_lead_elsewhere && path.starts_with('/') &&
           std::find(segments.begin(), segments.end(), ".") == segments.end();
}

bool UriText::is_within(const UriText& root) const
{
    const bool same_place =
        is_local() ? root.is_local() : scheme == root.scheme && authority == root.authority;
    return same_place && segments.size() >= root.segments.size() &&
           std::equal(root.segments.begin(), root.segments.end(), segments.begin());
}

UriText parse_uri_text(std::string_view text)
{
    UriText uri;
    const auto whole = decode(text);
    uri.may_lead_elsewhere =
        has_parent(whole) || whole.find_first_of(std::string_view("\\\0", 2)) != std::string::npos;
    auto rest = text;
    const auto colon = rest.find(':');
    if (colon != std::string_view::npos && is_scheme(rest.substr(0, colon))) {
        uri.scheme = lower(rest.substr(0, colon));
        rest.remove_prefix(colon + 1);
        if (rest.starts_with("//")) {
            rest.remove_prefix(2);
            const auto end = std::min(rest.find_first_of("/?#"), rest.size());
            uri.authority = decode(rest.substr(0, end));
            rest.remove_prefix(end);
        }
    }
    // Behind these follows no path in an address; in a path they are letters like others.
    if (!uri.is_local()) rest = rest.substr(0, rest.find_first_of("?#"));
    uri.path = decode(rest);
    for (auto& segment : split(uri.path, '/')) {
        if (!segment.empty()) uri.segments.push_back(std::move(segment));
    }
    return uri;
}

}  // namespace ponk::api::mlflow
