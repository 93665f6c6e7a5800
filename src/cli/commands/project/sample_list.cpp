// SPDX-License-Identifier: Apache-2.0
#include "cli/client/context.hpp"
#include "cli/commands/commands.hpp"
#include "cli/projects/samples.hpp"

namespace ponk::cli {
namespace project_sample_list_command {

Outcome run(Context& context, const Invocation& /*words*/)
{
    JsonArray rows;
    const Gallery gallery = TRY(Gallery::open(context.entry().samples));
    for (const Sample& sample : gallery.samples()) {
        rows.push_back(JsonObject{{"name", sample.name},
                                  {"folder", sample.folder},
                                  {"script", sample.script},
                                  {"summary", sample.summary}});
    }
    View view;
    if (context.format() == output::Format::table && !context.has_query()) {
        // The name is what one types: it is never cut, the others give way.
        view.columns = {{.key = "name", .min = 1000}, {.key = "summary"}, {.key = "script"}};
    }
    return context.print(Json(std::move(rows)), view);
}

}  // namespace project_sample_list_command

constinit const Command cmd_project_sample_list = {
    .path = "project sample list",
    .summary = "List the samples that a project can start from",
    .history = Command::History::none,
    .run = project_sample_list_command::run,
};

}  // namespace ponk::cli
