// SPDX-License-Identifier: Apache-2.0
#include "engine/tracked/run_tracking.hpp"

#include "base/time.hpp"
#include "store/tracking/tracking.hpp"

namespace ponk::engine {

Result<model::Tracking> track_run(const Context& context, const model::Run& run)
{
    const store::Tracking history(context.history);
    const auto seen = TRY(history.get_run(run.id.text()));
    const auto experiment = TRY(history.get_experiment(seen.experiment));
    return model::Tracking{.run = run.id.text(),
                           .token = {},
                           .experiment = fmt::format("{}", experiment.id),
                           .experiment_name = experiment.name,
                           .run_name = seen.name,
                           .is_named = !run.name.empty(),
                           .user = seen.user,
                           .started = seen.started != 0 ? seen.started : wall_milliseconds(),
                           .tags = seen.tags,
                           .outputs = {}};
}

}  // namespace ponk::engine
