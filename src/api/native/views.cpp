// SPDX-License-Identifier: Apache-2.0
// Named views of the runs' table: docs/design/views.md.
#include "api/native/handlers.hpp"
#include "base/text.hpp"
#include "base/time.hpp"
#include "query/search/filter.hpp"
#include "store/history/saved_views.hpp"

namespace ponk::api {

namespace {

constexpr std::int64_t format_version = 1;
constexpr std::size_t longest_name = 80;
constexpr std::size_t longest_text = std::size_t{64} << 10;
constexpr std::size_t most_columns = 200;

Result<> check_name(const std::string& name)
{
    const bool good = !name.empty() && name.size() <= longest_name && printable(name) == name &&
                      trim(name) == name && name.find('/') == std::string::npos && name != "." &&
                      name != "..";
    if (good) return {};
    return fail(ErrorKind::invalid_argument,
                "'{}' is not a name for a view: a name has 1 to {} bytes and no '/'",
                printable(name.substr(0, longest_name)),
                longest_name);
}

// Also without a view: an id that nobody has would keep views that nobody sees.
Result<std::string> project_of(const Services& services, const Call& call)
{
    auto project = call.request.parameter("project").value_or("");
    if (!project.empty() && !TRY(services.history().find_project(project)))
        return fail(ErrorKind::not_found, "there is no project '{}'", printable(project));
    return project;
}

Result<> check_texts(const Json& body)
{
    for (const char* field : {"filter", "order", "group"}) {
        if (!body[field].is_null() && !body[field].is_string())
            return fail(ErrorKind::invalid_argument, "'{}' must be a text", field);
    }
    const auto& columns = body["columns"];
    if (columns.is_null()) return {};
    if (!columns.is_array() || columns.as_array().size() > most_columns)
        return fail(
            ErrorKind::invalid_argument, "'columns' must be at most {} texts", most_columns);
    for (const auto& column : columns.as_array()) {
        if (!column.is_string())
            return fail(ErrorKind::invalid_argument, "'columns' must be texts");
    }
    return {};
}

// What is kept is what a search takes.
Result<JsonObject> view_of(const Json& body)
{
    const auto& grammar = query::search::history_runs;
    TRY(check_texts(body));
    TRY(query::search::parse_filter(grammar, body.text("filter")));
    for (const char* field : {"order", "group"}) {
        if (const auto text = body.text(field); !text.empty())
            TRY(query::search::parse_order_by(grammar, {text}));
    }
    return JsonObject{{"version", format_version},
                      {"filter", body.text("filter")},
                      {"order", body.text("order")},
                      {"group", body.text("group")},
                      {"columns", body["columns"].is_array() ? body["columns"] : Json(JsonArray{})},
                      {"only_differing", body["only_differing"] == Json(true)},
                      {"changed", utc_text(wall_milliseconds())}};
}

JsonObject shown(const store::SavedView& view, const Json& text)
{
    return {{"name", view.name},
            {"project", view.project},
            {"filter", text.text("filter")},
            {"order", text.text("order")},
            {"group", text.text("group")},
            {"columns", text["columns"].is_array() ? text["columns"] : Json(JsonArray{})},
            {"only_differing", text["only_differing"] == Json(true)},
            {"changed", text.text("changed")}};
}

}  // namespace

// Those of one project, or of all of them; `project=` alone means those for all projects.
Result<net::Response> list_views(const Services& services, const Call& call)
{
    const auto wanted = call.request.parameter("project");
    JsonArray list;
    for (const auto& view : TRY(store::SavedViews(services.history()).list())) {
        if (wanted && view.project != *wanted) continue;
        const auto text = parse_json(view.text);
        // One of a later version may mean something else.
        if (!text || text->integer("version") != format_version) continue;
        list.emplace_back(shown(view, *text));
    }
    return net::json_response(JsonObject{{"views", std::move(list)}});
}

Result<net::Response> put_view(const Services& services, const Call& call)
{
    store::SavedView view{TRY(project_of(services, call)), call.variables.at(0), {}};
    TRY(check_name(view.name));
    const Json text(TRY(view_of(TRY(body_of(call)))));
    view.text = to_json(text);
    if (view.text.size() > longest_text)
        return fail(
            ErrorKind::invalid_argument, "a view has at most {}", byte_size_text(longest_text));
    const bool fresh = TRY(store::SavedViews(services.history()).put(view));
    return net::json_response(shown(view, text), fresh ? 201 : 200);
}

Result<net::Response> rename_view(const Services& services, const Call& call)
{
    const auto project = TRY(project_of(services, call));
    const auto to = TRY(body_of(call)).text("name");
    TRY(check_name(to));
    TRY(store::SavedViews(services.history()).rename(project, call.variables.at(0), to));
    return net::json_response(JsonObject{{"name", to}, {"project", project}});
}

Result<net::Response> delete_view(const Services& services, const Call& call)
{
    const auto& name = call.variables.at(0);
    TRY(store::SavedViews(services.history()).remove(TRY(project_of(services, call)), name));
    return net::json_response(JsonObject{{"deleted", name}});
}

}  // namespace ponk::api
