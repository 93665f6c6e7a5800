// SPDX-License-Identifier: Apache-2.0
// What anybody may ask, so that clients and watchdogs can find out who is there.
#include "api/native/handlers.hpp"
#include "mlflow/version.hpp"

namespace ponk::api {

namespace {

net::Response plain(std::string text)
{
    net::Response response;
    response.type = "text/plain; charset=utf-8";
    response.body = std::move(text);
    return response;
}

}  // namespace

Result<net::Response> show_health(const Services& /*services*/, const Call& /*call*/)
{
    return plain("OK");
}

Result<net::Response> show_mlflow_version(const Services& /*services*/, const Call& /*call*/)
{
    return plain(ponk::mlflow::spoken_version);
}

const std::vector<Route>& front_routes()
{
    static const std::vector<Route> table{
        {"GET", "/health", Permission::open, show_health},
        {"GET", "/version", Permission::open, show_mlflow_version},
    };
    return table;
}

}  // namespace ponk::api
