// SPDX-License-Identifier: Apache-2.0
#include "api/native/handlers.hpp"
#include "api/native/run_json.hpp"
#include "api/native/run_scope.hpp"
#include "query/search/filter.hpp"

namespace ponk::api {

namespace {

// What is ignored would widen the search.
Result<> require_types(const Json& body)
{
    for (const auto* name :
         {"filter", "page", "project", "state", "script", "target", "gpu", "experiment"}) {
        if (!body[name].is_null() && !body[name].is_string())
            return fail(ErrorKind::invalid_argument, "'{}' must be a text", name);
    }
    if (!body["limit"].is_null() && !body["limit"].is_integer())
        return fail(ErrorKind::invalid_argument, "'limit' must be a whole number");
    for (const auto* name : {"hidden", "deleted"}) {
        if (!body[name].is_null() && !body[name].is_bool())
            return fail(ErrorKind::invalid_argument, "'{}' must be true or false", name);
    }
    return {};
}

// As a parameter of a request would have it.
std::optional<std::string> field_text(const Json& body, std::string_view name)
{
    const auto& value = body[name];
    if (value.is_string()) return value.as_string();
    if (value.is_integer()) return std::to_string(value.as_integer());
    if (value.is_bool()) return std::string(value.as_bool() ? "1" : "0");
    return std::nullopt;
}

// Each is looked for in each run that has more metrics than a list shows.
constexpr std::size_t most_names = 100;

Result<std::vector<std::string>> entries_of(const Json& body, std::string_view name)
{
    std::vector<std::string> entries;
    const auto& list = body[name];
    if (list.is_null()) return entries;
    if (!list.is_array())
        return fail(ErrorKind::invalid_argument, "'{}' must be a list of texts", name);
    for (const auto& entry : list.as_array()) {
        if (!entry.is_string())
            return fail(ErrorKind::invalid_argument, "'{}' must be a list of texts", name);
        entries.push_back(entry.as_string());
    }
    return entries;
}

Result<std::vector<std::string>> metric_names(const Json& body)
{
    auto names = TRY(entries_of(body, "metrics"));
    if (names.size() > most_names)
        return fail(ErrorKind::invalid_argument, "'metrics' has more than {} names", most_names);
    return names;
}

Result<store::RunSearch> search_of(const Json& body)
{
    const auto& grammar = query::search::history_runs;
    TRY(require_types(body));
    store::RunSearch search;
    search.scope =
        TRY(run_scope([&body](std::string_view name) { return field_text(body, name); }));
    search.filter = TRY(query::search::parse_filter(grammar, body.text("filter")));
    if (const auto& experiment = body["experiment"]; experiment.is_string())
        search.filter.push_back({query::search::Entity::attribute,
                                 "experiment",
                                 query::search::Operator::equal,
                                 experiment.as_string()});
    search.order_by =
        TRY(query::search::parse_order_by(grammar, TRY(entries_of(body, "order_by"))));
    search.page = body.text("page");
    return search;
}

}  // namespace

Result<net::Response> search_runs(const Services& services, const Call& call)
{
    const auto body = TRY(body_of(call));
    const auto metrics = TRY(metric_names(body));
    const auto page = TRY(services.history().search_runs(TRY(search_of(body))));
    auto runs = TRY(runs_json(services, page.runs, metrics));
    return net::json_response(JsonObject{{"runs", std::move(runs)},
                                         {"next", page.next.empty() ? Json() : Json(page.next)}});
}

}  // namespace ponk::api
