// SPDX-License-Identifier: Apache-2.0
#include "executor/run_directory/relay_file.hpp"

#include "executor/run_directory/control_directory.hpp"

#include <algorithm>

namespace ponk::executor {

bool has_relay(const Job& job)
{
    return !job.context.tracking.experiment.empty() &&
           std::ranges::none_of(job.spec.program.variables, [](const auto& variable) {
               return variable.first == "MLFLOW_TRACKING_URI";
           });
}

Result<> write_relay_file(const Job& job, std::string outputs)
{
    if (!has_relay(job)) return {};
    auto tracking = job.context.tracking;
    tracking.run = job.spec.id.text();
    tracking.token = job.context.token;
    tracking.outputs = std::move(outputs);
    return os::replace_file(
        job.context.directory.task() / control::relay, to_text(tracking), 0600, os::Durable::no);
}

}  // namespace ponk::executor
