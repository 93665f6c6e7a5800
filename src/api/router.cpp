// SPDX-License-Identifier: Apache-2.0
#include "api/router.hpp"

#include "api/handlers.hpp"
#include "api/mlflow/routes.hpp"
#include "base/text.hpp"
#include "base/version.hpp"

#include <optional>

namespace ponk::api {

const std::vector<Route>& routes()
{
    using enum Permission;
    static const std::vector<Route> table{
        {"GET", "/daemon", read, show_daemon},
        {"POST", "/daemon/stop", administer, stop_daemon},
        {"GET", "/doctor", read, show_doctor},
        {"POST", "/maintenance/gc", administer, collect_garbage},
        {"POST", "/runs", write, submit_run},
        {"GET", "/runs", read, list_runs},
        {"POST", "/runs/search", read, search_runs},
        {"GET", "/runs/{run}", read, show_run},
        {"PATCH", "/runs/{run}", write, change_run},
        {"DELETE", "/runs/{run}", write, delete_run},
        {"GET", "/runs/{run}/wait", read, wait_for_run},
        {"GET", "/runs/{run}/log", read, show_log},
        {"GET", "/runs/{run}/log/check", read, check_log},
        {"GET", "/runs/{run}/events", read, show_events},
        {"POST", "/runs/{run}/cancel", write, cancel_run},
        {"POST", "/runs/{run}/rerun", write, rerun_run},
        {"GET", "/runs/{run}/metrics", read, show_metrics},
        {"GET", "/runs/{run}/artifacts", read, list_artifacts},
        {"GET", "/runs/{run}/artifacts/{path}", read, download_artifact},
        {"GET", "/runs/{run}/artifact", read, download_named_artifact},
        {"GET", "/runs/{run}/snapshot", read, show_snapshot},
        {"POST", "/runs/{run}/restore", write, restore_run},
        {"POST", "/runs/{run}/return", write, return_run},
        {"POST", "/runs/{run}/clean", write, clean_run},
        {"POST", "/runs/{run}/diagnostics", write, diagnose_run},
        {"POST", "/runs/{run}/promote", write, promote_artifact},
        {"GET", "/runs/{run}/lock", read, show_lock},
        {"POST", "/environments/prepare", write, prepare_environment},
        {"POST", "/environments/check", read, check_environment},
        {"GET", "/environments", read, list_environments},
        {"GET", "/environments/{environment}", read, show_environment},
        {"DELETE", "/environments/{environment}", write, remove_environment},
        {"GET", "/export", read, export_history},
        {"GET", "/projects", read, list_projects},
        {"GET", "/projects/lookup", read, look_up_project},
        {"DELETE", "/projects/{project}", write, delete_project},
        {"GET", "/projects/{project}/assets", read, list_assets},
        {"POST", "/targets/check", write, check_target},
        {"POST", "/gpus", read, list_gpus},
        {"GET", "/secrets", read, list_secrets},
        {"PUT", "/secrets/{name}", write, put_secret},
        {"DELETE", "/secrets/{name}", write, delete_secret},
    };
    return table;
}

namespace {

std::optional<std::vector<std::string>> match(std::string_view pattern,
                                              const std::vector<std::string>& path)
{
    const auto expected = split(pattern.substr(1), '/');
    std::vector<std::string> variables;
    std::size_t at = 2;  // after "api/v1"
    for (const auto& part : expected) {
        if (at >= path.size()) return std::nullopt;
        if (part == "{path}") {
            variables.push_back(
                join({path.begin() + static_cast<std::ptrdiff_t>(at), path.end()}, "/"));
            return variables;
        }
        if (part.starts_with('{')) {
            variables.push_back(path[at]);
        } else if (part != path[at]) {
            return std::nullopt;
        }
        ++at;
    }
    if (at != path.size()) return std::nullopt;
    return variables;
}

}  // namespace

net::Response dispatch(const Services& services, const net::Request& request)
{
    if (auto answer = mlflow::dispatch(services, request)) return std::move(*answer);
    const bool ours =
        request.path.size() >= 2 && request.path[0] == "api" && request.path[1] == "v1";
    bool known_path = false;
    if (ours) {
        for (const auto& route : routes()) {
            auto variables = match(route.pattern, request.path);
            if (!variables) continue;
            known_path = true;
            if (request.method != route.method) continue;
            auto answer = route.action(services, {request, std::move(*variables)});
            return answer ? std::move(*answer) : net::error_response(answer.error());
        }
    }
    const auto text = "/" + join(request.path, "/");
    if (known_path) {
        auto response = net::error_response(
            Error(ErrorKind::invalid_argument,
                  "'" + text + "' does not answer " + printable(request.method)));
        response.status = 405;
        return response;
    }
    return net::error_response(Error(ErrorKind::not_found,
                                     "there is no '" + printable(text) + "' in this API",
                                     fmt::format("This daemon is version {}.", own_version())));
}

mode_t umask_of(const Json& body)
{
    return static_cast<mode_t>(body.integer("umask", 022)) & 0777U;
}

Result<Json> body_of(const Call& call)
{
    if (call.request.body.empty()) return Json(JsonObject());
    auto body = TRY(parse_json(call.request.body).map_error(while_doing("request body")));
    if (!body.is_object()) return fail(ErrorKind::invalid_argument, "request body: not an object");
    return body;
}

Result<RunId> run_of(const Services& services, const Call& call)
{
    return services.history().resolve_run(call.variables.at(0),
                                          call.request.parameter("project").value_or(""));
}

}  // namespace ponk::api
