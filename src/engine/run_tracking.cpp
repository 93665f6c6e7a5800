// SPDX-License-Identifier: Apache-2.0
#include "engine/run_tracking.hpp"

#include "base/time.hpp"
#include "model/run_words.hpp"

namespace ponk::engine {

Result<model::Tracking> track_run(const Context& context, const model::Run& run)
{
    const auto project = TRY(context.history.find_project(run.project));
    model::Tracking tracking{.run = run.id.text(),
                             .token = {},
                             .experiment = "0",
                             .experiment_name = project ? project->project.name : "Default",
                             .run_name = run.name.empty() ? run.script_name : run.name,
                             .user = run.user,
                             .started = wall_milliseconds(),
                             .tags = {},
                             .outputs = {},
                             .daemon = (context.home / "daemon.sock").string()};
    for (const auto& [key, value] : run.tags) {
        if (!key.starts_with(model::parameter_prefix)) tracking.tags.emplace_back(key, value);
    }
    return tracking;
}

}  // namespace ponk::engine
