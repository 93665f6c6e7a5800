// SPDX-License-Identifier: Apache-2.0
#include "daemon/listeners.hpp"

#include "base/hash.hpp"
#include "net/own_certificate.hpp"
#include "net/tls.hpp"
#include "os/tcp_socket.hpp"

#include <fmt/format.h>

namespace ponk::daemon {

namespace {

// Below the ports that the kernel gives to outgoing connections, so that none of those has ours
// while we are away.
constexpr std::uint16_t first_port = 20'000;
constexpr std::uint16_t port_count = 10'000;
constexpr int attempts = 200;

// Both kinds of loopback on one port; `conflict` when somebody has it on either.
Result<std::vector<net::Listener>> listen_on(std::uint16_t port)
{
    std::vector<net::Listener> listeners;
    listeners.push_back({.socket = TRY(os::listen_tcp(os::loopback_address(AF_INET, port))),
                         .listener_kind = net::ListenerKind::loopback});
    auto six = os::listen_tcp(os::loopback_address(AF_INET6, port));
    if (six) {
        listeners.push_back(
            {.socket = std::move(*six), .listener_kind = net::ListenerKind::loopback});
    } else if (six.error().kind() == ErrorKind::conflict) {
        return tl::unexpected(six.error());
    }  // else this machine has no IPv6
    return listeners;
}

// Where the search for a free port begins: different homes rarely want the same one.
std::uint16_t favourite_of(const os::Path& home)
{
    const auto digest = sha256(home.native());
    return static_cast<std::uint16_t>((digest.bytes[0] << 8U | digest.bytes[1]) % port_count);
}

Result<std::pair<std::uint16_t, std::vector<net::Listener>>> find_port(const os::Path& home)
{
    const auto favourite = favourite_of(home);
    for (int i = 0;; ++i) {
        const auto port = static_cast<std::uint16_t>(first_port + (favourite + i) % port_count);
        auto listeners = listen_on(port);
        if (listeners) return std::pair(port, std::move(*listeners));
        if (listeners.error().kind() != ErrorKind::conflict || i == attempts)
            return tl::unexpected(listeners.error());
    }
}

std::string uri_of(const os::TcpAddress& address, bool secure)
{
    return (secure ? "https://" : "http://") + address.text();
}

Result<std::shared_ptr<net::Tls>> own_tls(const os::Path& home, std::string& certificate)
{
    const auto files = TRY(net::keep_own_certificate(home));
    certificate = files.certificate.native();
    return net::Tls::load(files.certificate, files.key);
}

}  // namespace

std::vector<net::Listener> listen_on_loopback(api::Endpoints& endpoints,
                                              const os::Path& home,
                                              const std::function<void(const std::string&)>& tell)
{
    auto port = endpoints.note().port;
    auto listeners = port != 0 ? listen_on(port) : Result<std::vector<net::Listener>>();
    if (port != 0 && !listeners) tell(listeners.error().message() + ": another port is chosen");
    if (port == 0 || !listeners) {
        auto found = find_port(home);
        if (!found) {
            tell("no port on loopback: " + found.error().message());
            return {};
        }
        port = found->first;
        listeners = std::move(found->second);
        if (const auto kept = endpoints.remember_port(port); !kept)
            tell("the port is not remembered: " + kept.error().message());
    }
    const auto address = os::loopback_address(AF_INET, port);
    endpoints.plain_uri = uri_of(address, false);
    const auto tls = own_tls(home, endpoints.certificate);
    if (!tls) {
        tell("no TLS on loopback: " + tls.error().message());
        return std::move(*listeners);
    }
    endpoints.tracking_uri = uri_of(address, true);
    for (auto& listener : *listeners) {
        listener.tls = *tls;
        listener.plain = net::Listener::Plain::accepted;
    }
    return std::move(*listeners);
}

namespace {

struct ServedAddresses {
    std::shared_ptr<net::Tls> tls;
    std::vector<os::TcpAddress> addresses;
};

Result<ServedAddresses> addresses_of(const ServeOptions& options)
{
    ServedAddresses served;
    if (!options.certificate.empty())
        served.tls = TRY(net::Tls::load(options.certificate, options.key));
    served.addresses = TRY(os::resolve_tcp(options.host, options.port));
    for (const auto& address : served.addresses) {
        if (address.is_loopback() || served.tls ||
            options.plain != ServeOptions::Plain::on_loopback)
            continue;
        return tl::unexpected(
            Error(ErrorKind::invalid_argument,
                  fmt::format("other machines can reach {}, and without TLS anybody on the "
                              "network path can read the tokens",
                              address.text()),
                  "Use '--tls-cert FILE --tls-key FILE', or '--insecure' if something else "
                  "protects the connection."));
    }
    return served;
}

}  // namespace

Result<> check_serve(const ServeOptions& options)
{
    return addresses_of(options).map([](const auto&) {});
}

Result<std::vector<net::Listener>> listen_as_told(const ServeOptions& options,
                                                  api::Endpoints& endpoints)
{
    const auto [tls, addresses] = TRY(addresses_of(options));
    std::vector<net::Listener> listeners;
    for (const auto& address : addresses) {
        const bool own = address.is_loopback();
        listeners.push_back(
            {.socket = TRY(os::listen_tcp(address)),
             .listener_kind = own ? net::ListenerKind::loopback : net::ListenerKind::network,
             .tls = tls});
        auto real = address;
        if (options.port == 0) {
            const auto port = TRY(os::port_of(listeners.back().socket.get()));
            real = TRY(os::resolve_tcp(os::address_text(address.value), port)).front();
        }
        endpoints.addresses.push_back(uri_of(real, tls != nullptr));
    }
    return listeners;
}

}  // namespace ponk::daemon
