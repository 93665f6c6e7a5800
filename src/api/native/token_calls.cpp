// SPDX-License-Identifier: Apache-2.0
#include "api/native/handlers.hpp"
#include "base/time.hpp"

namespace ponk::api {

namespace {

Result<Tokens*> tokens_of(const Services& services)
{
    if (services.tokens == nullptr)
        return fail(ErrorKind::unavailable, "this daemon does not support tokens");
    return services.tokens;
}

Result<std::optional<std::int64_t>> expiry_of(const Json& body)
{
    if (body["expires"].is_null()) return std::optional<std::int64_t>();
    const auto time = parse_utc(body.text("expires"));
    if (!time)
        return fail(ErrorKind::invalid_argument, "'expires' must be like 2026-03-01T12:30:05.123Z");
    return std::optional(*time);
}

}  // namespace

Result<net::Response> create_token(const Services& services, const Call& call)
{
    auto* tokens = TRY(tokens_of(services));
    const auto body = TRY(body_of(call));
    const auto role = TRY(parse_role(body.text("role")));
    const auto expires = TRY(expiry_of(body));
    const auto token = TRY(tokens->create(body.text("name"), role, expires));
    return net::json_response(
        JsonObject{{"name", body.text("name")}, {"role", to_string(role)}, {"token", token}}, 201);
}

Result<net::Response> list_tokens(const Services& services, const Call& /*call*/)
{
    JsonArray list;
    for (const auto& token : TRY(tokens_of(services))->list()) {
        const bool expired = token.expires && *token.expires <= wall_milliseconds();
        list.emplace_back(
            JsonObject{{"name", token.name},
                       {"role", to_string(token.role)},
                       {"created", utc_text(token.created)},
                       {"expires", token.expires ? Json(utc_text(*token.expires)) : Json()},
                       {"expired", expired}});
    }
    return net::json_response(JsonObject{{"tokens", std::move(list)}});
}

Result<net::Response> delete_token(const Services& services, const Call& call)
{
    const auto& name = call.variables.at(0);
    TRY(TRY(tokens_of(services))->remove(name));
    return net::json_response(JsonObject{{"deleted", name}});
}

}  // namespace ponk::api
