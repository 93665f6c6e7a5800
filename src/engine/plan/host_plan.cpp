// SPDX-License-Identifier: Apache-2.0
#include "engine/plan/plan.hpp"
#include "os/variables.hpp"
#include "secrets/secrets.hpp"

#include <fmt/format.h>

namespace ponk::engine {

Result<std::optional<HostPlan>> host_plan(const config::ComputeTarget& target,
                                          const std::vector<std::string>& environment)
{
    const auto type = *target.type;
    if (type != config::TargetType::remote && type != config::TargetType::remotedocker)
        return std::nullopt;
    if (target.address->empty()) {
        return tl::unexpected(Error(ErrorKind::invalid_argument,
                                    fmt::format("target '{}' has no address", target.name),
                                    fmt::format("Write 'address: HOST' in '{}'.", target.file)));
    }
    HostPlan plan{.address = *target.address,
                  .port = target.port.given() ? *target.port : 0,
                  .user = *target.username,
                  .scratch = *target.scratch,
                  .private_key = {}};
    // A key that was stored for the target is found by the target's own folder.
    const auto& key = *target.private_key;
    if (key.empty() || secrets::reference_name(key)) return plan;
    const auto home = os::variable(environment, "HOME");
    plan.private_key = key.starts_with("~/") && !home.empty() ? home + key.substr(1) : key;
    return plan;
}

}  // namespace ponk::engine
