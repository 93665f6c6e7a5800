// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "api/services.hpp"
#include "net/message.hpp"

#include <string>
#include <vector>

namespace ponk::api {

// A call with its path variables taken out, in order; "{path}" takes all remaining segments.
struct Call {
    const net::Request& request;
    std::vector<std::string> variables;
};

using Action = Result<net::Response> (*)(const Services& services, const Call& call);

// Who may call. The Unix socket admits its owner only, who may do everything; a route without a
// permission does not compile, so that no later door is left open by forgetting.
enum class Permission { read, write, administer };

struct Route {
    const char* method;
    const char* pattern;  // "/runs/{run}/log"
    Permission permission;
    Action action;
};

// Every route of the API, in one table.
const std::vector<Route>& routes();

// Finds the route and carries the call out; every failure becomes an error body.
net::Response dispatch(const Services& services, const net::Request& request);

// For handlers: the body as a JSON object (an empty body is an empty object).
Result<Json> body_of(const Call& call);
// The user's umask, which calls that make files for them carry.
mode_t umask_of(const Json& body);
// The run that the first path variable means.
Result<RunId> run_of(const Services& services, const Call& call);

}  // namespace ponk::api
