// SPDX-License-Identifier: Apache-2.0
#include "cli/client/context.hpp"
#include "cli/commands/commands.hpp"
#include "config/project/project.hpp"

namespace ponk::cli {
namespace runconfiguration_list_command {

Outcome run(Context& context, const Invocation& /*words*/)
{
    const config::Project project = TRY(config::open_project(TRY(context.project())));
    JsonArray rows;
    for (const std::string& name : project.run_configurations) {
        const auto configuration = config::load_run_configuration(project, name);
        if (!configuration) {
            context.note("{}", configuration.error().message());
            rows.push_back(JsonObject{
                {"name", name}, {"target", Json()}, {"framework", Json()}, {"file", Json()}});
            continue;
        }
        rows.push_back(
            JsonObject{{"name", name},
                       {"target", configuration->target.value},
                       {"framework", config::to_string(configuration->framework.value)},
                       {"file", configuration->file.empty() ? Json() : Json(configuration->file)}});
    }
    return context.print(Json(std::move(rows)));
}

}  // namespace runconfiguration_list_command

constinit const Command cmd_runconfiguration_list = {
    .path = "runconfiguration list",
    .summary = "List the project's run configurations",
    .history = Command::History::none,
    .run = runconfiguration_list_command::run,
};

}  // namespace ponk::cli
