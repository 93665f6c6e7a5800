// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "api/mlflow/error.hpp"
#include "api/mlflow/fields.hpp"
#include "api/router.hpp"

#include <optional>
#include <span>
#include <string>
#include <vector>

// The tracking API that MLflow's clients speak, docs/design/mlflow.md.
namespace ponk::api::mlflow {

// A call with its fields and its path variables, in order; "{path}" takes all remaining segments.
struct Call {
    const net::Request& request;
    std::vector<std::string> variables;
    Fields fields;
};

using Action = Result<net::Response> (*)(const Services& services, const Call& call);

struct Route {
    const char* method;
    // "/api/2.0/mlflow/…": there is a twin below /ajax-api, which browsers use.
    const char* pattern;
    Permission permission;
    Action action;
    // raw: the body is bytes and no fields are read from it.
    enum class Body { fields, raw } body = Body::fields;
};

// One table for each part of the API, in the file of its handlers.
std::span<const Route> server_routes();
std::span<const Route> experiment_routes();
std::span<const Route> run_routes();
std::span<const Route> metric_routes();

// All of them, with their twins written out.
const std::vector<Route>& routes();

// nullopt: the path is none of MLflow's.
std::optional<net::Response> dispatch(const Services& services, const net::Request& request);

// An answer without fields is "{}".
net::Response reply(JsonObject object = {});

}  // namespace ponk::api::mlflow
