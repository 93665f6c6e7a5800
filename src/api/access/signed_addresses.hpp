// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "base/hash.hpp"
#include "net/message.hpp"

#include <cstdint>
#include <optional>
#include <string>

namespace ponk::api {

// Addresses that say themselves who asks: for frames, pictures and downloads, which a browser
// fetches without the header that the page sends. Of one session, for GET, for a few minutes, and
// for this daemon's life. Safe for several threads.
class SignedAddresses {
public:
    SignedAddresses();

    // frame: to be looked at; download: to be stored.
    enum class Show { frame, download };
    static constexpr std::int64_t lifetime = 300'000;

    // The value of the parameter `signed` for that path and query, which has no such parameter.
    [[nodiscard]] std::string
    sign(const net::Request& of, const std::string& session, std::int64_t expires, Show show) const;
    struct Signed {
        std::string session;
        Show show = Show::download;
    };
    // Nothing without such a parameter, for another method, and for one that is wrong or too late.
    [[nodiscard]] std::optional<Signed> find(const net::Request& request, std::int64_t now) const;

private:
    [[nodiscard]] std::string mac(const net::Request& of, const std::string& claim) const;

    std::string inner_;
    std::string outer_;
};

}  // namespace ponk::api
