// SPDX-License-Identifier: Apache-2.0
#include "engine/context/context.hpp"
#include "engine/plan/resolve_run.hpp"
#include "os/variables.hpp"

#include <fmt/format.h>

namespace ponk::engine {

namespace {

model::SlurmSpec slurm_of(const config::SlurmKeys& keys)
{
    model::SlurmSpec slurm{.partition = *keys.partition,
                           .account = *keys.account,
                           .qos = *keys.qos,
                           .gres = *keys.gres,
                           .options = {}};
    for (const auto& option : keys.options)
        slurm.options.push_back(*option);
    return slurm;
}

}  // namespace

Result<model::Location> location_of(const config::ComputeTarget& target,
                                    const std::vector<std::string>& environment)
{
    model::Location location;
    location.target = target.name;
    const auto& type = model::traits_of(*target.type);
    if (!config::is_served(type.type))
        return tl::unexpected(unsupported_target(config::to_string(type.type)));
    if (type.where == model::TargetTraits::Where::here) return location;
    if (type.type == model::TargetType::slurm) {
        location.slurm = slurm_of(target.slurm);
        if (!config::is_another_machine(target)) return location;
    }
    if (target.address->empty()) {
        return tl::unexpected(Error(ErrorKind::invalid_argument,
                                    fmt::format("target '{}' has no address", target.name),
                                    fmt::format("Write 'address: HOST' in '{}'.", target.file)));
    }
    location.kind = model::Location::Kind::host;
    location.host = {.address = *target.address,
                     .port = target.port.given() ? *target.port : 0,
                     .user = *target.username,
                     .scratch = *target.scratch,
                     .private_key = {}};
    // A key that was stored for the target is found by the target's own folder.
    const auto& key = *target.private_key;
    if (key.empty() || model::secret_reference(key)) return location;
    const auto home = os::variable(environment, "HOME");
    location.host.private_key = key.starts_with("~/") && !home.empty() ? home + key.substr(1) : key;
    return location;
}

}  // namespace ponk::engine
