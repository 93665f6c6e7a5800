// SPDX-License-Identifier: Apache-2.0
#include "secrets/secrets.hpp"

#include "api/native/handlers.hpp"
#include "base/time.hpp"
#include "config/consents/consents.hpp"
#include "secrets/redactor.hpp"

namespace ponk::api {

namespace {

using config::Consent;
using config::ConsentKind;

// The projects that may use it: paths, or "*".
JsonArray projects_of(const std::vector<Consent>& consents, const std::string& name)
{
    JsonArray projects;
    for (const auto& consent : consents)
        if (consent.kind == ConsentKind::secret && consent.what == name)
            projects.emplace_back(consent.project);
    return projects;
}

Json secret_json(const secrets::SecretInfo& info, const std::vector<Consent>& consents)
{
    return JsonObject{{"name", info.name},
                      {"where", secrets::to_string(info.where)},
                      {"updated", utc_text(info.updated)},
                      {"projects", projects_of(consents, info.name)},
                      {"problem", info.problem.empty() ? Json() : Json(info.problem)}};
}

}  // namespace

Result<net::Response> list_secrets(const Services& services, const Call& /*call*/)
{
    JsonArray items;
    const auto consents = TRY(config::Consents(services.context().home).list());
    for (const auto& info : TRY(services.context().secrets.list()))
        items.push_back(secret_json(info, consents));
    return net::json_response(JsonObject{{"secrets", std::move(items)}});
}

Result<net::Response> put_secret(const Services& services, const Call& call)
{
    const auto body = TRY(body_of(call));
    if (!body["value"].is_string())
        return fail(ErrorKind::invalid_argument, "'value' must be a text");
    const auto info =
        TRY(services.context().secrets.set(call.variables.at(0), body["value"].as_string()));
    config::Consents consents(services.context().home);
    if (const auto project = body.text("project"); !project.empty())
        TRY(consents.add({ConsentKind::secret, project, info.name}));
    auto answer = secret_json(info, TRY(consents.list()));
    // Shorter ones would hide half of every log.
    answer.as_object().set("masked",
                           body["value"].as_string().size() >= secrets::shortest_redacted);
    return net::json_response(answer);
}

Result<net::Response> delete_secret(const Services& services, const Call& call)
{
    auto& secrets = services.context().secrets;
    const bool purge = call.request.parameter("purge").value_or("") == "1";
    TRY(purge ? secrets.purge(call.variables.at(0)) : secrets.remove(call.variables.at(0)));
    // Another secret of that name is another thing to be asked about.
    TRY(config::Consents(services.context().home)
            .forget(ConsentKind::secret, call.variables.at(0)));
    return net::json_response(JsonObject{{"deleted", call.variables.at(0)}});
}

}  // namespace ponk::api
