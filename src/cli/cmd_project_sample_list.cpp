// SPDX-License-Identifier: Apache-2.0
#include "cli/commands.hpp"
#include "cli/context.hpp"
#include "cli/samples.hpp"

namespace ponk::cli {
namespace {

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
    return context.print(Json(std::move(rows)));
}

}  // namespace

constinit const Command cmd_project_sample_list = {
    .path = "project sample list",
    .summary = "List the samples that a project can start from",
    .run = run,
};

}  // namespace ponk::cli
