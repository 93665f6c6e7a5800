// SPDX-License-Identifier: Apache-2.0
#include "secrets/secrets.hpp"

#include "api/handlers.hpp"
#include "base/time.hpp"

namespace ponk::api {

namespace {

Json secret_json(const secrets::SecretInfo& info)
{
    return JsonObject{{"name", info.name},
                      {"where", secrets::to_string(info.where)},
                      {"updated", utc_text(info.updated)},
                      {"problem", info.problem.empty() ? Json() : Json(info.problem)}};
}

}  // namespace

Result<net::Response> list_secrets(const Services& services, const Call& /*call*/)
{
    JsonArray items;
    for (const auto& info : TRY(services.context().secrets.list()))
        items.push_back(secret_json(info));
    return net::json_response(JsonObject{{"secrets", std::move(items)}});
}

Result<net::Response> put_secret(const Services& services, const Call& call)
{
    const auto body = TRY(body_of(call));
    if (!body["value"].is_string())
        return fail(ErrorKind::invalid_argument, "'value' must be a text");
    const auto info =
        TRY(services.context().secrets.set(call.variables.at(0), body["value"].as_string()));
    return net::json_response(secret_json(info));
}

Result<net::Response> delete_secret(const Services& services, const Call& call)
{
    auto& secrets = services.context().secrets;
    const bool purge = call.request.parameter("purge").value_or("") == "1";
    TRY(purge ? secrets.purge(call.variables.at(0)) : secrets.remove(call.variables.at(0)));
    return net::json_response(JsonObject{{"deleted", call.variables.at(0)}});
}

}  // namespace ponk::api
