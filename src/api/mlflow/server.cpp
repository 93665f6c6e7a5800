// SPDX-License-Identifier: Apache-2.0
#include "api/mlflow/routes.hpp"

// What a client asks about the server itself.
namespace ponk::api::mlflow {

namespace {

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
        {"GET", "/api/3.0/mlflow/server-info", read, show_abilities},
    };
    return table;
}

}  // namespace ponk::api::mlflow
