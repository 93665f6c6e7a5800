// SPDX-License-Identifier: Apache-2.0
#include "cli/client/context.hpp"
#include "cli/commands/commands.hpp"
#include "cli/runs/run_view.hpp"
#include "config/project/project.hpp"
#include "net/target.hpp"

namespace ponk::cli {
namespace project_show_command {

Json names(const std::vector<std::string>& words)
{
    return JsonArray(words.begin(), words.end());
}

Outcome run(Context& context, const Invocation& /*words*/)
{
    const os::Path folder = TRY(context.project());
    const config::Project project = TRY(config::open_project(folder));
    JsonObject document{
        {"id", Json()}, {"name", folder.filename().string()}, {"path", folder.string()}};
    if (project.identity) {
        if (!project.identity->id.value.empty()) document.set("id", project.identity->id.value);
        if (!project.identity->name.empty()) document.set("name", project.identity->name);
    }
    document.set("targets", names(project.targets));
    document.set("run_configurations", names(project.run_configurations));
    auto known =
        TRY(context.daemon())->get("/projects/lookup?path=" + net::percent_encode(folder.string()));
    if (!known && known.error().kind() != ErrorKind::not_found) {
        return tl::unexpected(Failure(known.error()));
    }
    document.set("runs", known ? (*known)["runs"] : Json(0));
    if (known) document.set("id", (*known)["id"]);
    const Json shown(std::move(document));
    return context.print(shown, {.rows = in_words(shown)});
}

}  // namespace project_show_command

constinit const Command cmd_project_show = {
    .path = "project show",
    .summary = "Show the project of this folder",
    .run = project_show_command::run,
};

}  // namespace ponk::cli
