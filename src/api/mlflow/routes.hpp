// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "api/http/route.hpp"
#include "mlflow/error.hpp"
#include "mlflow/fields.hpp"

#include <memory>
#include <optional>
#include <span>
#include <string>
#include <vector>

// The tracking API that MLflow's clients speak, docs/design/mlflow.md.
namespace ponk::api::mlflow {

// Said by the daemon and by relays of runs in the same words.
using ponk::mlflow::endpoint_not_found;
using ponk::mlflow::Fields;
using ponk::mlflow::not_implemented;
using ponk::mlflow::refuse;

// A call with its fields and its path variables, in order; "{path}" takes all remaining segments.
struct Call {
    const net::Request& request;
    std::vector<std::string> variables;
    Fields fields;
};

using Action = Result<net::Response> (*)(const Services& services, const Call& call);
// For a body that is taken as a stream. Called before any of it was read, on a thread that must not
// wait: no files, no database; the sink's own calls may.
using SinkMaker = Result<std::unique_ptr<net::BodySink>> (*)(const Services& services,
                                                             const Call& call);

// For calls that wait for the disk alone, see net::Reception::begin.
using Beginner = bool (*)(const Services& services,
                          const net::Request& request,
                          const net::Respond& respond);

struct Route {
    const char* method;
    // "/api/2.0/mlflow/…": there is a twin below /ajax-api, which browsers use.
    const char* pattern;
    Permission permission;
    Action action;  // null when `sink` is there
    // raw: the body is bytes and no fields are read from it.
    enum class Body { fields, raw } body = Body::fields;
    SinkMaker sink = nullptr;
    Beginner begin = nullptr;
    net::Reception::Pace pace = net::Reception::Pace::quick;
    std::size_t body_limit = std::size_t{16} << 20;
};

// One table for each part of the API, in the file of its handlers.
std::span<const Route> server_routes();
std::span<const Route> experiment_routes();
std::span<const Route> run_routes();
std::span<const Route> dataset_routes();
std::span<const Route> logged_model_routes();
std::span<const Route> registry_routes();
std::span<const Route> trace_routes();
std::span<const Route> assessment_routes();
std::span<const Route> span_routes();
std::span<const Route> old_trace_routes();
std::span<const Route> trace_correlation_routes();
std::span<const Route> trace_metric_routes();
std::span<const Route> metric_routes();
std::span<const Route> artifact_routes();

// All of them, with their twins written out.
const std::vector<Route>& routes();

// The route that answers a call, and its path variables. None: the path is MLflow's, but nothing is
// there; that is for those who may read.
struct Found {
    const Route* route = nullptr;
    std::vector<std::string> variables = {};

    [[nodiscard]] Permission permission() const
    {
        return route != nullptr ? route->permission : Permission::read;
    }
};
// Nullopt: the path is none of MLflow's.
std::optional<Found> find(const net::Request& head);
// For a caller who may. Waits for nothing.
net::Reception receive(const Services& services, const net::Request& head, Found found);
net::Response dispatch(const Services& services, const net::Request& request, Found found);

// An answer without fields is "{}".
net::Response reply(JsonObject object = {});

}  // namespace ponk::api::mlflow
