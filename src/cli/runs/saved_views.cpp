// SPDX-License-Identifier: Apache-2.0
#include "cli/runs/saved_views.hpp"

#include "base/text.hpp"
#include "net/target.hpp"

#include <algorithm>
#include <optional>

namespace ponk::cli {
namespace {

struct Named {
    std::string_view page;
    std::string_view column;
};
// What the page calls the fields of a record; its first column is always the run.
constexpr Named fields[] = {{"state", "status"},
                            {"project", "project_path"},
                            {"script", "script"},
                            {"target", "target"},
                            {"started", "start"},
                            {"time", "duration"},
                            {"gpu", "gpu"},
                            {"user", "user"}};
constexpr Named kinds[] = {{"metric:", "metrics."}, {"param:", "params."}, {"tag:", "tags."}};

std::optional<std::string> column_of(const std::string& id)
{
    for (const Named& field : fields)
        if (id == field.page) return std::string(field.column);
    for (const Named& kind : kinds) {
        if (!id.starts_with(kind.page)) continue;
        const auto key = id.substr(kind.page.size());
        if (key.empty() || key.find('`') != std::string::npos) return std::nullopt;
        return fmt::format("{}`{}`", kind.column, key);
    }
    return std::nullopt;
}

}  // namespace

SavedView saved_view_from(const Json& view)
{
    SavedView saved{view.text("filter"), {}, {}, {}};
    if (const auto group = view.text("group"); !group.empty())
        saved.order_by.push_back(group + " ASC");
    if (const auto order = view.text("order"); !order.empty()) saved.order_by.push_back(order);
    if (!view["columns"].is_array()) return saved;
    for (const Json& column : view["columns"].as_array()) {
        const auto id = column.is_string() ? column.as_string() : std::string();
        const auto name = column_of(id);
        if (name) saved.columns += (saved.columns.empty() ? "run,name," : ",") + *name;
        if (!name)
            saved.notes.push_back(
                fmt::format("only the page shows the column '{}' of this view", printable(id)));
    }
    return saved;
}

Result<SavedView> get_view(Daemon& daemon, const std::string& project, const std::string& name)
{
    const auto answer = TRY(daemon.get("/views?project=" + net::percent_encode(project)));
    std::vector<std::string> names;
    const Json views = answer["views"].is_array() ? answer["views"] : Json(JsonArray{});
    for (const Json& view : views.as_array()) {
        if (view.text("name") == name) return saved_view_from(view);
        names.push_back("'" + printable(view.text("name")) + "'");
    }
    return tl::unexpected(
        Error(ErrorKind::not_found,
              fmt::format("there is no view '{}' {}",
                          printable(name),
                          project.empty() ? "of all projects" : "of this project"),
              names.empty() ? "The page saves views: 'ponk ui', Runs, Views."
                            : "There are: " + join(names, ", ") + "."));
}

}  // namespace ponk::cli
