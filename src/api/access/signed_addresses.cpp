// SPDX-License-Identifier: Apache-2.0
#include "api/access/signed_addresses.hpp"

#include "base/json.hpp"
#include "base/text.hpp"

#include <fmt/format.h>

namespace ponk::api {

namespace {

constexpr std::string_view parameter = "signed";
constexpr std::size_t key_bytes = 64;

std::string_view bytes_of(const Digest& digest)
{
    return {reinterpret_cast<const char*>(digest.bytes.data()), digest.bytes.size()};
}

// Compared by their hashes: how long that takes says nothing of them.
bool same(std::string_view left, std::string_view right)
{
    return sha256(left) == sha256(right);
}

}  // namespace

SignedAddresses::SignedAddresses()
    : inner_(random_bytes(key_bytes)), outer_(random_bytes(key_bytes))
{
}

std::string SignedAddresses::mac(const net::Request& of, const std::string& claim) const
{
    // As JSON, so that no part can be taken for another.
    JsonArray parts{Json(claim)};
    JsonArray path(of.path.begin(), of.path.end());
    parts.emplace_back(std::move(path));
    for (const auto& [name, value] : of.query) {
        if (name == parameter) continue;
        parts.emplace_back(name);
        parts.emplace_back(value);
    }
    const auto first = sha256(inner_ + to_json(parts));
    return sha256(outer_ + std::string(bytes_of(first))).text();
}

std::string SignedAddresses::sign(const net::Request& of,
                                  const std::string& session,
                                  std::int64_t expires,
                                  Show show) const
{
    const auto claim =
        fmt::format("{}.{}.{}", expires, show == Show::frame ? "frame" : "download", session);
    return claim + "." + mac(of, claim);
}

std::optional<SignedAddresses::Signed> SignedAddresses::find(const net::Request& request,
                                                             std::int64_t now) const
{
    if (request.method != "GET" && request.method != "HEAD") return std::nullopt;
    const auto text = request.parameter(parameter);
    if (!text) return std::nullopt;
    const auto parts = split(*text, '.');
    if (parts.size() != 4) return std::nullopt;
    const auto expires = parse_integer(parts[0]);
    if (!expires || *expires <= now) return std::nullopt;
    if (!same(mac(request, fmt::format("{}.{}.{}", parts[0], parts[1], parts[2])), parts[3]))
        return std::nullopt;
    return Signed{parts[2], parts[1] == "frame" ? Show::frame : Show::download};
}

}  // namespace ponk::api
