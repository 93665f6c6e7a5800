// SPDX-License-Identifier: Apache-2.0
#include "engine/plan/container_plan.hpp"

#include "config/files/docker_arguments.hpp"

#include <fmt/format.h>

namespace ponk::engine {

Result<std::optional<model::Container>> container_of(const config::ResolvedConfiguration& resolved,
                                                     std::vector<std::string>& notices)
{
    const auto& target = resolved.target;
    if (!config::uses_docker(*target.type)) return std::nullopt;
    using Tree = model::Container::Tree;
    model::Container container{.image = *target.base_docker_image,
                               .pinned = {},
                               .tree = *target.shared_volumes ? Tree::mounted : Tree::copied,
                               .build_network = *target.build_network,
                               .shm_size = *target.shm_size};
    if (container.image.empty()) {
        container.image = default_image;
        notices.push_back(fmt::format("target '{}' sets no image; '{}' is used\n  To choose "
                                      "another, write 'baseDockerImage: NAME' in '{}'.",
                                      target.name,
                                      container.image,
                                      target.file));
    }
    // As in 2017: the shared folder is a mount, and mounts were refused.
    if (container.tree == Tree::copied && target.native_shared_directory.given()) {
        return tl::unexpected(
            Error(ErrorKind::invalid_argument,
                  fmt::format("{}:{}:{}: 'nativeSharedDirectory' needs 'sharedVolumes: true'",
                              target.file,
                              target.native_shared_directory.place.line,
                              target.native_shared_directory.place.column),
                  "Write 'sharedVolumes: true', or remove 'nativeSharedDirectory'."));
    }
    for (const auto& mount : target.mounts)
        container.arguments.push_back(config::DockerArgument{"--volume", *mount}.text());
    if (resolved.mlproject) {
        for (const auto& volume : resolved.mlproject->docker_volumes)
            container.arguments.push_back(config::DockerArgument{"--volume", *volume}.text());
    }
    if (const auto& docker = resolved.run.docker) {
        for (const auto& word : docker->arguments)
            container.arguments.push_back(*word);
        container.registry_username = *docker->registry_username;
        container.registry_password = *docker->registry_password;
        if (!docker->registry_address->empty() &&
            !container.image.starts_with(*docker->registry_address))
            container.image = *docker->registry_address + "/" + container.image;
    }
    return container;
}

}  // namespace ponk::engine
