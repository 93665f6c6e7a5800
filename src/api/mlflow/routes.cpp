// SPDX-License-Identifier: Apache-2.0
#include "api/mlflow/routes.hpp"

#include "base/keyed_hash.hpp"
#include "base/text.hpp"
#include "mlflow/lone_surrogates.hpp"

#include <deque>

namespace ponk::api::mlflow {

namespace {

constexpr std::string_view client_prefix = "/api/";
constexpr std::string_view browser_prefix = "/ajax-api/";

std::vector<Route> all_routes()
{
    static std::deque<std::string> twins;  // texts that the routes point to
    std::vector<Route> all;
    for (const auto part : {server_routes(),
                            experiment_routes(),
                            run_routes(),
                            metric_routes(),
                            dataset_routes(),
                            logged_model_routes(),
                            registry_routes(),
                            trace_routes(),
                            assessment_routes(),
                            span_routes(),
                            old_trace_routes(),
                            trace_correlation_routes(),
                            trace_metric_routes(),
                            artifact_routes()}) {
        for (const auto& route : part) {
            all.push_back(route);
            const std::string_view pattern = route.pattern;
            if (!pattern.starts_with(client_prefix)) continue;
            twins.push_back(std::string(browser_prefix) +
                            std::string(pattern.substr(client_prefix.size())));
            all.push_back(route);
            all.back().pattern = twins.back().c_str();
        }
    }
    return all;
}

struct Pattern {
    const Route* route;
    std::vector<std::string> parts;
};

// Routes by method and path; those with variables apart, because few calls need them.
struct Index {
    KeyedMap<const Route*> plain;
    std::vector<Pattern> with_variables;
};

const Index& index()
{
    static const Index built = [] {
        Index made;
        for (const auto& route : routes()) {
            const std::string_view pattern = route.pattern;
            if (pattern.find('{') == std::string_view::npos) {
                made.plain.emplace(std::string(route.method) + " " + route.pattern, &route);
            } else {
                made.with_variables.push_back({&route, split(pattern.substr(1), '/')});
            }
        }
        return made;
    }();
    return built;
}

std::optional<std::vector<std::string>> match(const std::vector<std::string>& parts,
                                              const std::vector<std::string>& path)
{
    std::vector<std::string> variables;
    for (std::size_t at = 0; at < parts.size(); ++at) {
        if (at >= path.size()) return std::nullopt;
        if (parts[at] == "{path}") {
            variables.push_back(
                join({path.begin() + static_cast<std::ptrdiff_t>(at), path.end()}, "/"));
            return variables;
        }
        if (parts[at].starts_with('{')) {
            variables.push_back(path[at]);
        } else if (parts[at] != path[at]) {
            return std::nullopt;
        }
    }
    if (parts.size() != path.size()) return std::nullopt;
    return variables;
}

std::optional<Found> find_route(const net::Request& request)
{
    const std::string method = request.method == "HEAD" ? "GET" : request.method;
    const auto plain = index().plain.find(method + " /" + join(request.path, "/"));
    if (plain != index().plain.end()) return Found{plain->second, {}};
    for (const auto& pattern : index().with_variables) {
        if (method != pattern.route->method) continue;
        if (auto variables = match(pattern.parts, request.path))
            return Found{pattern.route, std::move(*variables)};
    }
    return std::nullopt;
}

bool is_ours(const std::vector<std::string>& path)
{
    if (path.size() < 2 || (path[0] != "api" && path[0] != "ajax-api")) return false;
    return path[1] == "2.0" || path[1] == "3.0";
}

// A route that takes streams, with the whole body at hand.
Result<net::Response> feed(const Services& services, const Route& route, const Call& call)
{
    const auto sink = TRY(route.sink(services, call));
    if (!call.request.body.empty()) {
        if (auto early = sink->write(call.request.body)) return std::move(*early);
    }
    return sink->finish();
}

Result<net::Response> carry_out(const Services& services, const net::Request& request, Found found)
{
    auto fields =
        found.route->body == Route::Body::raw ? Fields(JsonObject()) : TRY(Fields::of(request));
    const Call call{request, std::move(found.variables), std::move(fields)};
    return found.route->sink ? feed(services, *found.route, call)
                             : found.route->action(services, call);
}

}  // namespace

const std::vector<Route>& routes()
{
    static const auto all = all_routes();
    return all;
}

std::optional<Found> find(const net::Request& head)
{
    if (auto found = find_route(head)) return found;
    return is_ours(head.path) ? std::optional(Found()) : std::nullopt;
}

net::Reception receive(const Services& services, const net::Request& head, Found found)
{
    net::Reception reception;
    if (found.route == nullptr) return reception;
    reception.pace = found.route->pace;
    reception.body_limit = found.route->body_limit;
    if (const auto begin = found.route->begin) {
        reception.begin = [&services, begin](const auto& request, const auto& respond) {
            return begin(services, request, respond);
        };
    }
    if (found.route->sink == nullptr) return reception;
    auto sink =
        found.route->sink(services, {head, std::move(found.variables), Fields(JsonObject())});
    if (sink) {
        reception.sink = std::move(*sink);
    } else {
        reception.answer = refuse(sink.error());
    }
    return reception;
}

namespace {

// Whether lists of runs may look different behind it. What logs to one run tells so itself.
bool changes_runs(std::string_view pattern, Permission permission)
{
    const auto names = [pattern](std::string_view part) {
        return pattern.find(part) != std::string_view::npos;
    };
    return permission >= Permission::write &&
           (names("/mlflow/runs/") || names("/mlflow/experiments/")) && !names("/runs/log-") &&
           !names("/runs/set-tag");
}

}  // namespace

net::Response dispatch(const Services& services, const net::Request& request, Found found)
{
    if (found.route == nullptr) {
        return refuse(404,
                      endpoint_not_found,
                      fmt::format("There is no {} {} in this API",
                                  printable(request.method),
                                  printable("/" + join(request.path, "/"))));
    }
    const auto permission = found.permission();
    const std::string_view pattern = found.route->pattern;
    auto answer = carry_out(services, request, std::move(found));
    if (answer && changes_runs(pattern, permission)) services.context().notifier.ring_all();
    return ponk::mlflow::without_lone_surrogates(answer ? std::move(*answer)
                                                        : refuse(answer.error()));
}

net::Response reply(JsonObject object)
{
    return net::json_response(std::move(object));
}

}  // namespace ponk::api::mlflow
