// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "api/http/route.hpp"

#include <vector>

namespace ponk::api {

// The native API.
const std::vector<Route>& routes();
// Everything that is served. A table that is not here is not reachable.
const std::vector<RouteTable>& route_tables();

// What becomes of a request whose head is there: refused, taken as a stream, or read whole.
net::Reception receive(const Services& services, const net::Request& head);
// Finds the route and carries the call out; every failure becomes an error body. Asks for the
// permission itself: it does not matter whether `receive` was asked before.
net::Response dispatch(const Services& services, const net::Request& request);

}  // namespace ponk::api
