// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "api/access/permission.hpp"
#include "api/http/services.hpp"
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

struct Route {
    const char* method;   // HEAD is answered by GET
    const char* pattern;  // "/runs/{run}/log", behind the prefix of its table
    Permission permission;
    Action action;  // null when `sink` is there
    net::Reception::Pace pace = net::Reception::Pace::quick;
    SinkMaker sink = nullptr;
    std::size_t body_limit = std::size_t{16} << 20;
};

// Routes with the same beginnings of addresses.
struct RouteTable {
    std::vector<std::string> prefixes;  // "/api/v1"; empty: at the root
    const std::vector<Route>& routes;
};

// For handlers: the body as a JSON object (an empty body is an empty object).
Result<Json> body_of(const Call& call);
// The user's umask, which calls that make files for them carry.
mode_t umask_of(const Json& body);
// The run that the first path variable means.
Result<RunId> run_of(const Services& services, const Call& call);

}  // namespace ponk::api
