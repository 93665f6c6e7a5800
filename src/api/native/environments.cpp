// SPDX-License-Identifier: Apache-2.0
#include "engine/maintenance/environments.hpp"

#include "api/native/handlers.hpp"
#include "api/native/run_json.hpp"
#include "api/native/submission.hpp"
#include "base/time.hpp"
#include "engine/run/examine_environment.hpp"
#include "engine/run/run_environment.hpp"

namespace ponk::api {

namespace {

Json time_or_null(std::int64_t wall_ms)
{
    return wall_ms == 0 ? Json() : Json(utc_text(wall_ms));
}

// Times as everywhere in the API; nothing that only machines among themselves need.
Json shown(const executor::EnvironmentEntry& entry)
{
    auto json = to_json(entry);
    auto& object = json.as_object();
    object.set("machine", entry.machine.empty() ? Json() : Json(entry.machine));
    object.erase("built");
    object.erase("last_used");
    object.set("built_utc", time_or_null(entry.built));
    object.set("last_used_utc", time_or_null(entry.last_used));
    return json;
}

Result<engine::FoundEnvironment> environment_of(const Services& services, const Call& call)
{
    return engine::find_environment(services.context(),
                                    call.variables.at(0),
                                    call.request.parameter("machine").value_or(""),
                                    {});
}

Result<model::RunRequest> preparation_of(const Json& body)
{
    auto request = TRY(model::parse_run_request(body));
    request.purpose = model::Policy::Purpose::prepare;
    return request;
}

JsonArray texts(const std::vector<std::string>& list)
{
    return {list.begin(), list.end()};
}

}  // namespace

Result<net::Response> prepare_environment(const Services& services, const Call& call)
{
    const auto body = TRY(body_of(call));
    const auto run =
        TRY(services.engine.submit(TRY(preparation_of(body)), TRY(submitter_of(body))));
    return net::json_response(TRY(run_json(services, run)), 201);
}

Result<net::Response> check_environment(const Services& services, const Call& call)
{
    const auto body = TRY(body_of(call));
    const auto outlook = TRY(engine::examine_environment(
        services.context(), TRY(preparation_of(body)), TRY(submitter_of(body)), {}));
    auto answer = to_json(outlook.found);
    auto& object = answer.as_object();
    object.set("target", outlook.run.spec.location.target);
    object.set("target_type", target_type(outlook.run.spec));
    object.set("conda_file", outlook.run.spec.environment.file);
    object.set("notices", texts(outlook.run.notices));
    return net::json_response(answer);
}

// The list of packages that a run had, whether or not the cache still has its environment.
Result<net::Response> show_lock(const Services& services, const Call& call)
{
    const auto run = TRY(services.history().get_run(TRY(run_of(services, call))));
    net::Response response;
    response.body =
        TRY(engine::read_kept_lock(services.context().run_directory(run.id).root(), run));
    return response;
}

Result<net::Response> list_environments(const Services& services, const Call& /*call*/)
{
    const auto list = engine::list_environments(services.context(), {});
    JsonArray entries;
    for (const auto& entry : list.entries)
        entries.push_back(shown(entry));
    return net::json_response(
        JsonObject{{"environments", std::move(entries)}, {"problems", texts(list.problems)}});
}

Result<net::Response> show_environment(const Services& services, const Call& call)
{
    const auto found = TRY(environment_of(services, call));
    const auto lock = TRY(found.environments->lock(found.entry.machine, found.entry.id, {}));
    auto json = shown(found.entry);
    json.as_object().set("lock", TRY(parse_json(lock)));
    return net::json_response(json);
}

Result<net::Response> remove_environment(const Services& services, const Call& call)
{
    const auto found = TRY(environment_of(services, call));
    const auto removal = TRY(found.environments->remove(found.entry.machine, found.entry.id, {}));
    return net::json_response(JsonObject{{"removed", found.entry.id},
                                         {"freed_bytes", removal.freed},
                                         {"held_by", texts(removal.held_by)}});
}

}  // namespace ponk::api
