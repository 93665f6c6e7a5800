// SPDX-License-Identifier: Apache-2.0
#include "cli/client/context.hpp"
#include "cli/commands/commands.hpp"

namespace ponk::cli {
namespace project_list_command {

constexpr Option options[] = {
    {.name = "local",
     .brief = "l",
     .help = "Ignored: all projects are local.",
     .shown = Option::Shown::no},
};

Outcome run(Context& context, const Invocation& /*words*/)
{
    const Json answer = TRY(TRY(context.daemon())->get("/projects"));
    View view;
    view.columns = {{.key = "name"},
                    {.key = "path", .min = 20},
                    {.key = "runs", .min = 4},
                    {.key = "last_run", .title = "last run"}};
    return context.print(answer["projects"].is_array() ? answer["projects"] : Json(JsonArray{}),
                         view);
}

}  // namespace project_list_command

constinit const Command cmd_project_list = {
    .path = "project list",
    .summary = "List the projects that have runs",
    .options = project_list_command::options,
    .history = Command::History::any,
    .run = project_list_command::run,
};

}  // namespace ponk::cli
