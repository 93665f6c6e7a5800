// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "base/error.hpp"
#include "base/json.hpp"
#include "config/project/project.hpp"

#include <optional>
#include <string>
#include <vector>

namespace ponk::engine {

// The container part of a plan; stored with the run, so that a rerun asks for the same one.
struct ContainerPlan {
    std::string image;
    std::string pinned;        // what an earlier run had for it; empty: as its name says now
    bool tree_mounted = true;  // `sharedVolumes`
    std::string build_network;
    std::string shm_size;
    std::vector<std::string> arguments;  // words of `docker run`
    std::string registry_username;
    std::string registry_password;  // "secret:NAME"

    // The image of a target that names none: small, kept up, with a Python that environments build
    // on. (The predecessor's own image is gone.)
    static constexpr const char* default_image = "python:3.11-slim";
};

// nullopt for targets without containers. `notices` gets what the user should know.
Result<std::optional<ContainerPlan>> container_plan(const config::ResolvedConfiguration& resolved,
                                                    std::vector<std::string>& notices);

Json to_json(const ContainerPlan& plan);
Result<ContainerPlan> container_plan_from_json(const Json& value);

}  // namespace ponk::engine
