// SPDX-License-Identifier: Apache-2.0
#include "executor/run_directory/relay_file.hpp"

#include "executor/run_directory/control_directory.hpp"

#include <algorithm>

namespace ponk::executor {

bool has_relay(const JobSpec& spec)
{
    return !spec.tracking.experiment.empty() &&
           std::ranges::none_of(spec.variables, [](const auto& variable) {
               return variable.first == "MLFLOW_TRACKING_URI";
           });
}

Result<> write_relay_file(const JobSpec& spec, std::string outputs)
{
    if (!has_relay(spec)) return {};
    auto tracking = spec.tracking;
    tracking.run = spec.id.text();
    tracking.token = spec.token;
    tracking.outputs = std::move(outputs);
    return os::replace_file(
        spec.directory / control::relay, to_text(tracking), 0600, os::Durable::no);
}

}  // namespace ponk::executor
