// SPDX-License-Identifier: Apache-2.0
#include "api/mlflow/routes.hpp"

// What a client asks about the server itself.
namespace ponk::api::mlflow {

namespace {

// Clients of 3.4 and later would send spans in a binary form that nobody here reads.
constexpr const char* spoken_version = "3.3.0";

net::Response plain(std::string text)
{
    net::Response response;
    response.type = "text/plain; charset=utf-8";
    response.body = std::move(text);
    return response;
}

Result<net::Response> show_health(const Services& /*services*/, const Call& /*call*/)
{
    return plain("OK");
}

Result<net::Response> show_version(const Services& /*services*/, const Call& /*call*/)
{
    return plain(spoken_version);
}

Result<net::Response> show_abilities(const Services& /*services*/, const Call& /*call*/)
{
    return reply({{"store_type", "SqlStore"},
                  {"workspaces_enabled", false},
                  {"trace_archival_enabled", false},
                  {"multipart_uploads_enabled", false},
                  {"multipart_downloads_enabled", false}});
}

}  // namespace

std::span<const Route> server_routes()
{
    using enum Permission;
    static constexpr Route table[] = {
        {"GET", "/health", read, show_health},
        {"GET", "/version", read, show_version},
        {"GET", "/api/3.0/mlflow/server-info", read, show_abilities},
    };
    return table;
}

}  // namespace ponk::api::mlflow
