// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "dockerapi/container.hpp"

// A described container as text, for who creates it later.
namespace ponk::executor::docker {

Json to_json(const dockerapi::ContainerSpec& spec);
Result<dockerapi::ContainerSpec> container_from(const Json& json);

}  // namespace ponk::executor::docker
