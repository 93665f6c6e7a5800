// SPDX-License-Identifier: Apache-2.0
#include "engine/plan/container_plan.hpp"

#include "engine/plan/words_json.hpp"

#include <fmt/format.h>

namespace ponk::engine {

Result<std::optional<ContainerPlan>> container_plan(const config::ResolvedConfiguration& resolved,
                                                    std::vector<std::string>& notices)
{
    const auto& target = resolved.target;
    if (!config::uses_docker(*target.type)) return std::nullopt;
    ContainerPlan plan{.image = *target.base_docker_image,
                       .pinned = {},
                       .tree_mounted = *target.shared_volumes,
                       .build_network = *target.build_network,
                       .shm_size = *target.shm_size};
    if (plan.image.empty()) {
        plan.image = ContainerPlan::default_image;
        notices.push_back(fmt::format("target '{}' sets no image; '{}' is used\n  To choose "
                                      "another, write 'baseDockerImage: NAME' in '{}'.",
                                      target.name,
                                      plan.image,
                                      target.file));
    }
    // As in 2017: the shared folder is a mount, and mounts were refused.
    if (!plan.tree_mounted && target.native_shared_directory.given()) {
        return tl::unexpected(
            Error(ErrorKind::invalid_argument,
                  fmt::format("{}:{}:{}: 'nativeSharedDirectory' needs 'sharedVolumes: true'",
                              target.file,
                              target.native_shared_directory.place.line,
                              target.native_shared_directory.place.column),
                  "Write 'sharedVolumes: true', or remove 'nativeSharedDirectory'."));
    }
    if (const auto& docker = resolved.run.docker) {
        for (const auto& word : docker->arguments)
            plan.arguments.push_back(*word);
        plan.registry_username = *docker->registry_username;
        plan.registry_password = *docker->registry_password;
        if (!docker->registry_address->empty() &&
            !plan.image.starts_with(*docker->registry_address))
            plan.image = *docker->registry_address + "/" + plan.image;
    }
    return plan;
}

Json to_json(const ContainerPlan& plan)
{
    JsonObject out{{"image", plan.image},
                   {"tree_mounted", plan.tree_mounted},
                   {"build_network", plan.build_network},
                   {"shm_size", plan.shm_size},
                   {"arguments", words_to_json(plan.arguments)},
                   {"registry_username", plan.registry_username},
                   {"registry_password", plan.registry_password}};
    if (!plan.pinned.empty()) out.set("pinned", plan.pinned);
    return out;
}

Result<ContainerPlan> container_plan_from_json(const Json& value)
{
    auto arguments = TRY(words_from_json(value["arguments"], "arguments"));
    return ContainerPlan{.image = value.text("image"),
                         .pinned = value.text("pinned"),
                         .tree_mounted = value.boolean("tree_mounted", true),
                         .build_network = value.text("build_network"),
                         .shm_size = value.text("shm_size"),
                         .arguments = std::move(arguments),
                         .registry_username = value.text("registry_username"),
                         .registry_password = value.text("registry_password")};
}

}  // namespace ponk::engine
