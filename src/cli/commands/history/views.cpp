// SPDX-License-Identifier: Apache-2.0
#include "cli/client/context.hpp"
#include "cli/commands/commands.hpp"
#include "net/target.hpp"

namespace ponk::cli {
namespace history_views_command {

constexpr Option options[] = {
    {.name = "all-projects", .brief = "A", .help = "The views for all projects."},
};
constexpr Example examples[] = {
    {"ponk history views", "List the views of this project."},
    {"ponk runs --view best", "List the runs of one."},
};

Outcome run(Context& context, const Invocation& words)
{
    const bool several = words.has("all-projects") || context.spans_projects();
    const std::string project = several ? std::string() : TRY(context.project_id());
    // Without an id these would be the views for all projects.
    Json views = JsonArray{};
    if (several || !project.empty()) {
        const Json answer =
            TRY(TRY(context.daemon())->get("/views?project=" + net::percent_encode(project)));
        if (answer["views"].is_array()) views = answer["views"];
    }
    if (context.format() != output::Format::table || context.has_query())
        return context.print(views);
    if (views.as_array().empty())
        context.note("no views {} yet; the page saves them: 'ponk ui', Runs, Views",
                     several ? "for all projects" : "of this project");
    JsonArray rows;
    for (const Json& view : views.as_array())
        rows.emplace_back(JsonObject{{"name", view["name"]},
                                     {"filter", view["filter"]},
                                     {"order", view["order"]},
                                     {"group", view["group"]}});
    return context.print(Json(std::move(rows)));
}

}  // namespace history_views_command

constinit const Command cmd_history_views = {
    .path = "history views",
    .summary = "List the views of runs that were saved in the page",
    .description = "A view keeps filter, order, group and columns of the table of runs under a "
                   "name. 'ponk runs --view NAME' lists what it shows.",
    .options = history_views_command::options,
    .examples = history_views_command::examples,
    .run = history_views_command::run,
};

}  // namespace ponk::cli
