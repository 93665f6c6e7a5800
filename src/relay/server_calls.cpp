// SPDX-License-Identifier: Apache-2.0
#include "mlflow/version.hpp"
#include "relay/calls.hpp"

// What a client asks about the server itself.
namespace ponk::relay {

namespace {

net::Response plain(std::string text)
{
    net::Response response;
    response.type = "text/plain; charset=utf-8";
    response.body = std::move(text);
    return response;
}

Result<Answer> show_health(Recorder& /*recorder*/, const Call& /*call*/)
{
    return plain("OK");
}

Result<Answer> show_version(Recorder& /*recorder*/, const Call& /*call*/)
{
    return plain(mlflow::relay_version);
}

Result<Answer> show_abilities(Recorder& /*recorder*/, const Call& /*call*/)
{
    return reply({{"store_type", "SqlStore"},
                  {"workspaces_enabled", false},
                  {"trace_archival_enabled", false},
                  {"multipart_uploads_enabled", false},
                  {"multipart_downloads_enabled", false}});
}

}  // namespace

std::span<const Route> server_calls()
{
    static constexpr Route table[] = {
        {"GET", "/health", show_health},
        {"GET", "/version", show_version},
        {"GET", "/api/3.0/mlflow/server-info", show_abilities},
    };
    return table;
}

}  // namespace ponk::relay
