// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "api/services.hpp"
#include "net/message.hpp"
#include "net/server.hpp"

#include <memory>
#include <string>
#include <vector>

namespace ponk::api {

// A call with its path variables taken out, in order; "{path}" takes all remaining segments. Valid
// as long as the function lasts that got it: who works on later copies what it needs.
struct Call {
    const net::Request& request;
    std::vector<std::string> variables;
};

using Action = Result<net::Response> (*)(const Services& services, const Call& call);
// For a body that is taken as a stream. Called before any of it was read, on a thread that must not
// wait: no files, no database; the sink's own calls may.
using SinkMaker = Result<std::unique_ptr<net::BodySink>> (*)(const Services& services,
                                                             const Call& call);

// What a route needs: nothing, or a role. A higher one includes the lower ones. The Unix socket
// admits its owner only, who may do everything; elsewhere a token has a role. A route without a
// permission does not compile, so that no door is left open by forgetting.
//
// `write` changes history and never reaches further: what starts programs, reads or writes files
// that a caller names, or touches secrets needs `administer`. `promote` decides what others get
// when they load a registered model by an alias or a stage: who logs need not have that right.
enum class Permission { open, read, write, promote, administer };

struct Route {
    const char* method;   // HEAD is answered by GET
    const char* pattern;  // "/runs/{run}/log", behind the prefix of its table
    Permission permission;
    Action action;  // null when `sink` is there
    net::Reception::Pace pace = net::Reception::Pace::quick;
    SinkMaker sink = nullptr;
    std::size_t body_limit = std::size_t{16} << 20;
};

// Routes that stand behind the same beginnings of addresses.
struct RouteTable {
    std::vector<std::string> prefixes;  // "/api/v1"; empty: at the root
    const std::vector<Route>& routes;
};

// The native API.
const std::vector<Route>& routes();
// Everything that is served. A table that is not here is not reachable.
const std::vector<RouteTable>& route_tables();

// What becomes of a request whose head is there: refused, taken as a stream, or read whole.
net::Reception receive(const Services& services, const net::Request& head);
// Finds the route and carries the call out; every failure becomes an error body. Asks for the
// permission itself: it does not matter whether `receive` was asked before.
net::Response dispatch(const Services& services, const net::Request& request);

// For handlers: the body as a JSON object (an empty body is an empty object).
Result<Json> body_of(const Call& call);
// The user's umask, which calls that make files for them carry.
mode_t umask_of(const Json& body);
// The run that the first path variable means.
Result<RunId> run_of(const Services& services, const Call& call);

}  // namespace ponk::api
