// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "api/access/endpoints.hpp"
#include "daemon/daemon.hpp"
#include "net/server.hpp"

#include <functional>
#include <string>
#include <vector>

namespace ponk::daemon {

// The port of this machine's own clients, the same as long as the home lives: the one that was
// remembered, else one that is free, and remembered from then on. Sets `tracking_uri`. Empty where
// there is no loopback; `tell` hears why.
std::vector<net::Listener> listen_on_loopback(api::Endpoints& endpoints,
                                              const os::Path& home,
                                              const std::function<void(const std::string&)>& tell);

// The address that `ponk serve` was asked for. Without TLS only addresses of this machine's own are
// opened, unless the caller insists. Adds to `addresses`.
Result<std::vector<net::Listener>> listen_as_told(const ServeOptions& options,
                                                  api::Endpoints& endpoints);

}  // namespace ponk::daemon
