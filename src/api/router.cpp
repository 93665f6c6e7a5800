// SPDX-License-Identifier: Apache-2.0
#include "api/router.hpp"

#include "api/access/access.hpp"
#include "api/access/audited.hpp"
#include "api/http/error_shape.hpp"
#include "api/http/route_index.hpp"
#include "api/http/shown.hpp"
#include "api/mlflow/routes.hpp"
#include "api/native/handlers.hpp"
#include "base/text.hpp"
#include "base/version.hpp"

#include <optional>

namespace ponk::api {

const std::vector<Route>& routes()
{
    using enum Permission;
    using enum net::Reception::Pace;
    static const std::vector<Route> table{
        {"GET", "/openapi.json", open, show_openapi},
        {"GET", "/daemon", read, show_daemon},
        {"POST", "/daemon/stop", administer, stop_daemon},
        {"POST", "/daemon/pin", administer, pin_daemon},
        {"GET", "/doctor", administer, show_doctor, slow},
        {"POST", "/maintenance/gc", administer, collect_garbage, slow},
        {"POST", "/maintenance/backup", administer, back_up, slow},
        {"POST", "/runs", administer, submit_run},
        {"GET", "/runs", read, list_runs, compute},
        {"POST", "/runs/search", read, search_runs, compute},
        {"GET", "/runs/{run}", read, show_run},
        {"PATCH", "/runs/{run}", write, change_run},
        {"DELETE", "/runs/{run}", write, delete_run},
        {"GET", "/runs/{run}/wait", read, wait_for_run},
        {"GET", "/runs/{run}/log", read, show_log},
        {"GET", "/runs/{run}/log/tail", read, find_log_tail, compute},
        {"GET", "/runs/{run}/log/search", read, search_log, compute},
        {"GET", "/runs/{run}/log/check", read, check_log, compute},
        {"POST", "/runs/{run}/log/check", write, keep_log_damage, compute},
        {"GET", "/runs/{run}/events", read, show_events},
        {"POST", "/runs/{run}/cancel", write, cancel_run},
        {"POST", "/runs/{run}/rerun", administer, rerun_run},
        {"GET", "/runs/{run}/metrics", read, show_metrics},
        {"POST", "/curves", read, show_curves, compute},
        {"GET", "/runs/{run}/artifacts", read, list_artifacts},
        {"GET", "/runs/{run}/artifacts/{path}", read, download_artifact},
        {"GET", "/runs/{run}/artifact", read, download_named_artifact},
        {"GET", "/runs/{run}/snapshot", read, show_snapshot},
        {"GET", "/runs/{run}/snapshot/file", administer, show_snapshot_file},
        {"POST", "/runs/{run}/restore", administer, restore_run, slow},
        {"POST", "/runs/{run}/return", administer, return_run, slow},
        {"POST", "/runs/{run}/clean", write, clean_run, slow},
        {"POST", "/runs/{run}/diagnostics", administer, diagnose_run, slow},
        {"POST", "/runs/{run}/promote", administer, promote_artifact},
        {"GET", "/runs/{run}/lock", read, show_lock},
        {"POST", "/environments/prepare", administer, prepare_environment},
        {"POST", "/environments/check", administer, check_environment, slow},
        {"GET", "/environments", read, list_environments, slow},
        {"GET", "/environments/{environment}", read, show_environment, slow},
        {"DELETE", "/environments/{environment}", administer, remove_environment, slow},
        {"GET", "/export", read, export_history},
        {"POST", "/imports", administer, begin_import, slow},
        {"POST", "/imports/{import}/step", administer, step_import, slow},
        {"DELETE", "/imports/{import}", administer, end_import},
        {"POST", "/experiments/restore", write, restore_experiment},
        {"GET", "/disk", administer, show_disk, slow},
        {"POST", "/prune", administer, prune_disk, slow},
        {"GET", "/projects", read, list_projects},
        {"POST", "/projects", owner, add_project, slow},
        {"GET", "/samples", owner, list_samples, slow},
        {"GET", "/projects/lookup", administer, look_up_project},
        {"DELETE", "/projects/{project}", administer, delete_project},
        {"POST", "/projects/{project}/relink", administer, relink_project},
        {"GET", "/projects/{project}/assets", read, list_assets},
        {"GET", "/projects/{project}/targets", owner, list_project_targets},
        {"POST", "/projects/{project}/targets", owner, attach_target, slow},
        {"GET", "/projects/{project}/files", owner, list_project_files},
        {"GET", "/projects/{project}/file", owner, show_project_file},
        {"PUT", "/projects/{project}/file", owner, write_project_file},
        {"POST", "/projects/{project}/check", owner, check_project_text},
        {"GET", "/views", read, list_views},
        {"PUT", "/views/{view}", write, put_view},
        {"PATCH", "/views/{view}", write, rename_view},
        {"DELETE", "/views/{view}", write, delete_view},
        {"GET", "/schemas/{kind}", read, show_schema},
        {"POST", "/targets/check", administer, check_target, slow},
        {"POST", "/targets/host-key", owner, show_host_key, slow},
        {"POST", "/gpus", administer, list_gpus, slow},
        {"GET", "/secrets", administer, list_secrets},
        {"PUT", "/secrets/{name}", administer, put_secret},
        {"DELETE", "/secrets/{name}", administer, delete_secret},
        {"POST", "/tokens", administer, create_token},
        {"GET", "/tokens", administer, list_tokens},
        {"DELETE", "/tokens/{name}", administer, delete_token},
        {"POST", "/ui/codes", administer, make_login_code},
        {"POST", "/ui/login", login, log_in, quick, nullptr, 4096},
        {"POST", "/ui/addresses", read, sign_address},
        {"GET", "/ui/live", login, begin_live},
        {"GET", "/ui/prompt", login, begin_prompt},
        {"GET", "/ui/session", read, show_session},
        {"DELETE", "/ui/session", read, end_own_session},
        {"GET", "/ui/sessions", administer, list_sessions},
        {"DELETE", "/ui/sessions/{session}", administer, end_session},
    };
    return table;
}

const std::vector<RouteTable>& route_tables()
{
    static const std::vector<RouteTable> tables{
        {{""}, front_routes()},
        {{"/api/v1"}, routes()},
    };
    return tables;
}

namespace {

const RouteIndex& route_index()
{
    static const auto index = [] {
        auto made = std::make_unique<RouteIndex>();
        for (const auto& table : route_tables()) {
            for (const auto& prefix : table.prefixes) {
                for (const auto& route : table.routes)
                    made->add(prefix, route);
            }
        }
        return made;
    }();
    return *index;
}

std::string address_of(const net::Request& request)
{
    return "/" + join(request.path, "/");
}

net::Response no_route(const net::Request& request, bool known_path)
{
    const auto address = address_of(request);
    const auto text = printable(address);
    if (known_path) {
        return error_answer(address,
                            Error(ErrorKind::invalid_argument,
                                  "'" + text + "' does not answer " + printable(request.method)),
                            405);
    }
    if (is_mlflow_address(address))
        return mlflow_error("ENDPOINT_NOT_FOUND", "there is no '" + text + "' in this API", 404);
    return net::error_response(Error(ErrorKind::not_found,
                                     "there is no '" + text + "' in this API",
                                     fmt::format("This daemon is version {}.", own_version())));
}

// Unknown addresses need a token, too: strangers learn nothing.
Permission needed_for(const Route* route)
{
    return route != nullptr ? route->permission : Permission::read;
}

std::optional<net::Response>
refuse(const Services& services, const net::Request& request, Permission needed, Audited& audited)
{
    Caller caller;
    const auto refusal = find_refusal(services.known(), request, needed, &caller);
    audited.caller(std::move(caller));
    if (!refusal) return std::nullopt;
    auto response = error_answer(address_of(request), refusal->error, refusal->status);
    for (const auto& header : refusal->headers)
        response.headers.push_back(header);
    audited.refused(response);
    return response;
}

// What administers may copy trees and build environments; the owner waits as long as it likes.
constexpr std::chrono::hours long_limit{1};

bool is_long(const net::Request& head, Permission needed)
{
    return head.listener_kind == net::ListenerKind::unix_socket || needed >= Permission::administer;
}

void name_route(Audited& audited, const mlflow::Found& found)
{
    audited.route("",
                  found.route != nullptr ? found.route->pattern : "",
                  found.permission(),
                  found.variables);
}

void name_route(Audited& audited, const net::Request& request, const RouteIndex::Found& found)
{
    const bool is_native = !request.path.empty() && request.path.front() == "api";
    audited.route(is_native ? "/api/v1" : "",
                  found.route != nullptr ? found.route->pattern : "",
                  needed_for(found.route),
                  found.variables);
}

// Whether lists of runs may look different behind it.
bool changes_runs(const Route& route)
{
    const std::string_view pattern = route.pattern;
    return std::string_view(route.method) != "GET" && route.permission >= Permission::write &&
           (pattern.starts_with("/runs") || pattern.starts_with("/projects") ||
            pattern.starts_with("/imports") || pattern.starts_with("/experiments")) &&
           !pattern.ends_with("/check");
}

// A route that takes streams, called with the whole body at hand.
Result<net::Response> feed(const Services& services, const Route& route, const Call& call)
{
    const auto sink = TRY(route.sink(services, call));
    if (!call.request.body.empty()) {
        if (auto early = sink->write(call.request.body)) return std::move(*early);
    }
    return sink->finish();
}

net::Reception receive_native(const Services& services, const net::Request& head)
{
    net::Reception reception;
    Audited audited(services.audit, head);
    auto found = route_index().find(head.method, head.path);
    name_route(audited, head, found);
    reception.answer = refuse(services, head, needed_for(found.route), audited);
    if (reception.answer) return reception;
    reception.client = client_of(audited.caller());
    audited.counted();
    if (found.route == nullptr) {
        reception.answer = no_route(head, found.known_path);
        return reception;
    }
    // What anybody may ask is known already.
    if (found.route->permission == Permission::open) {
        reception.answer = dispatch(services, head);
        return reception;
    }
    if (is_long(head, found.route->permission)) reception.time_limit = long_limit;
    reception.body_limit = found.route->body_limit;
    reception.pace = found.route->pace;
    if (found.route->sink == nullptr) return reception;
    auto sink = found.route->sink(services, {head, found.variables});
    if (sink) {
        reception.sink = audited.watch(std::move(*sink));
    } else {
        reception.answer = error_answer(address_of(head), sink.error());
    }
    return reception;
}

}  // namespace

net::Reception receive(const Services& services, const net::Request& head)
{
    auto found = mlflow::find(head);
    if (!found) return receive_native(services, head);
    Audited audited(services.audit, head);
    name_route(audited, *found);
    const auto permission = found->permission();
    net::Reception reception;
    reception.answer = refuse(services, head, permission, audited);
    if (reception.answer) return reception;
    audited.counted();
    reception = mlflow::receive(services, head, *found);
    reception.client = client_of(audited.caller());
    if (reception.sink) reception.sink = audited.watch(std::move(reception.sink));
    if (is_long(head, permission)) reception.time_limit = long_limit;
    return reception;
}

net::Response dispatch(const Services& services, const net::Request& request)
{
    Audited audited(services.audit, request);
    if (auto found = mlflow::find(request)) {
        name_route(audited, *found);
        if (auto refusal = refuse(services, request, found->permission(), audited))
            return std::move(*refusal);
        auto answer = mlflow::dispatch(services, request, *found);
        audited.answered(answer);
        return answer;
    }
    auto found = route_index().find(request.method, request.path);
    name_route(audited, request, found);
    if (auto refusal = refuse(services, request, needed_for(found.route), audited))
        return std::move(*refusal);
    if (found.route == nullptr) return no_route(request, found.known_path);
    const Call call{request, found.variables};
    auto result = found.route->sink != nullptr ? feed(services, *found.route, call)
                                               : found.route->action(services, call);
    auto answer = result ? std::move(*result) : error_answer(address_of(request), result.error());
    if (const auto show = audited.caller().show) mark_shown(request, *show, answer);
    audited.answered(answer);
    if (answer.status < 400 && changes_runs(*found.route)) services.context().notifier.ring_all();
    return answer;
}

}  // namespace ponk::api
