// SPDX-License-Identifier: Apache-2.0
#include "cli/client/context.hpp"
#include "cli/commands/commands.hpp"
#include "config/project/project.hpp"

namespace ponk::cli {
namespace computetarget_list_command {

Outcome run(Context& context, const Invocation& /*words*/)
{
    const config::Project project = TRY(config::open_project(TRY(context.project())));
    JsonArray rows;
    for (const std::string& name : project.targets) {
        const auto target = config::load_target(project, name);
        if (!target) {
            context.note("{}", target.error().message());
            rows.push_back(JsonObject{{"name", name}, {"type", Json()}, {"file", Json()}});
            continue;
        }
        rows.push_back(JsonObject{{"name", name},
                                  {"type", config::to_string(target->type.value)},
                                  {"file", target->file.empty() ? Json() : Json(target->file)}});
    }
    return context.print(Json(std::move(rows)));
}

}  // namespace computetarget_list_command

constinit const Command cmd_computetarget_list = {
    .path = "computetarget list",
    .summary = "List the project's compute targets",
    .history = Command::History::none,
    .run = computetarget_list_command::run,
};

}  // namespace ponk::cli
