// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "base/error.hpp"
#include "base/synced.hpp"
#include "os/file.hpp"

#include <cstdint>
#include <mutex>
#include <string>
#include <string_view>
#include <vector>

namespace ponk::api {

// What of the daemon's endpoints outlives it: the file `listeners.json`, docs/design/listeners.md.
struct EndpointNote {
    std::uint16_t port = 0;  // on loopback; 0: none was chosen yet
    // Clients that nobody starts a daemon for rely on it: it stays although it has nothing to do.
    bool pinned = false;

    friend bool operator==(const EndpointNote&, const EndpointNote&) = default;
};
std::string endpoint_note_text(const EndpointNote& note);
Result<EndpointNote> parse_endpoint_note(std::string_view text);

// That note, and where the daemon is reached now. Safe for several threads.
class Endpoints {
public:
    // A note that cannot be read counts as none; the next change replaces it.
    explicit Endpoints(os::Path home);

    [[nodiscard]] EndpointNote note() const { return *note_.lock(); }
    Result<> remember_port(std::uint16_t port);
    enum class Pin { no, yes };
    Result<> set_pin(Pin pin);

    // "https://127.0.0.1:23457" and the file of the certificate that it shows, which tells a client
    // that it is us; the same port without TLS; and the addresses that others reach. Empty where
    // there is none. Set before the first request.
    std::string tracking_uri = {};
    std::string certificate = {};
    std::string plain_uri = {};
    std::vector<std::string> addresses = {};
    // The better one of the two on loopback.
    [[nodiscard]] std::string uri() const
    {
        return tracking_uri.empty() ? plain_uri : tracking_uri;
    }

private:
    template <class Change>
    Result<> change(Change how);

    os::Path file_;
    std::mutex changing_;  // from reading the note to its being on disk
    mutable Synced<EndpointNote> note_;
};

}  // namespace ponk::api
